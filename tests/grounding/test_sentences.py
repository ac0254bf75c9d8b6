import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.clauses import clauses
from grounding.sentences import LONGEST_SENTENCE, sentences


def parts(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It broke. I called twice! Why?", ["It broke.", "I called twice!", "Why?"]),
        ("Dr. Smith came at 3 p.m. on Friday. He left.", ["Dr. Smith came at 3 p.m. on Friday.", "He left."]),
        ("It cost 4.90 EUR. Too much.", ["It cost 4.90 EUR.", "Too much."]),
        ("Some apps, e.g. this one, crash. Mr. Lee agrees.", ["Some apps, e.g. this one, crash.", "Mr. Lee agrees."]),
        ("it crashed. then it died.", ["it crashed.", "then it died."]),
        ("settings are gone.Then it froze", ["settings are gone.", "Then it froze"]),
        ("We use Node.js and v2.3.1 here", ["We use Node.js and v2.3.1 here"]),
        ("It broke... and again. Bad", ["It broke... and again.", "Bad"]),
        ("no punctuation at all here", ["no punctuation at all here"]),
        ("返金がまだ届いていません。二週間待っています。", ["返金がまだ届いていません。", "二週間待っています。"]),
        ("退款一直没有到账！客服也没有回复？真的。", ["退款一直没有到账！", "客服也没有回复？", "真的。"]),
        ("هل وصل الطلب؟ لم يصل.", ["هل وصل الطلب؟", "لم يصل."]),
        ("Great app 👍 Crashes a lot", ["Great app 👍", "Crashes a lot"]),
        ("👩‍👧 Family plan: fine. Otherwise ok.", ["👩‍👧 Family plan: fine.", "Otherwise ok."]),
        ("- first thing\n- second thing\n3. third", ["first thing", "second thing", "third"]),
        ("Hello\nThe app is slow", ["Hello", "The app is slow"]),
        ("a wrapped line that\ngoes on here. Next", ["a wrapped line that\ngoes on here.", "Next"]),
        ('She said "never again." Then left.', ['She said "never again."', "Then left."]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("", []),
        (" \n\t ", []),
        ("???", ["???"]),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_offsets_count_code_points_after_emoji() -> None:
    text = "👩‍👩‍👧 Family plan 🇮🇹: declined twice. Otherwise fine."
    second = sentences(text)[1]
    assert text[second.start : second.end] == "Otherwise fine."


def test_a_text_without_any_stop_is_cut_at_spaces() -> None:
    spans = sentences("word " * 1000)
    assert all(span.end - span.start <= LONGEST_SENTENCE for span in spans)
    assert all(span.of("word " * 1000).strip() == span.of("word " * 1000) for span in spans)


def test_five_million_letters_are_cut_without_a_space() -> None:
    assert len(sentences("a" * 5_000_000)) == 5_000_000 // LONGEST_SENTENCE + 1


@given(st.text(max_size=300))
def test_sentences_are_in_order_never_overlap_and_keep_every_letter(text: str) -> None:
    spans = sentences(text)
    assert all(first.end <= second.start for first, second in itertools.pairwise(spans))
    kept = "".join(span.of(text) for span in spans)
    assert [c for c in kept if c.isalpha()] == [c for c in text if c.isalpha()]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The room was clean and the lift was repaired.", ["The room was clean", "the lift was repaired."]),
        ("The app crashes but support answered", ["The app crashes", "support answered"]),
        ("Photos and videos load slowly", ["Photos and videos load slowly"]),
        ("I left because the queue was long", ["I left", "the queue was long"]),
        ("It is fast and cheap", ["It is fast and cheap"]),
        ("Login fails; export works", ["Login fails", "export works"]),
    ],
)
def test_clauses_are_split_only_where_both_sides_have_a_predicate(sentence: str, expected: list[str]) -> None:
    assert [span.of(sentence) for span in clauses(sentence)] == expected
