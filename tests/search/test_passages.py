"""Passages: exact offsets, nothing lost, cut where a reader would pause, in linear time."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from search.documents import Document, Passage, Source
from search.passages import MAX_CHARS, split

SENTENCE = "The export stops at ninety-nine percent and never ends. "


def document(text: str) -> Document:
    return Document("d", Source("review"), text, datetime(2026, 1, 1, tzinfo=UTC))


def assert_exact(text: str, passages: tuple[Passage, ...]) -> None:
    at = 0
    for number, passage in enumerate(passages):
        assert passage.passage_id == f"d#{number:06d}"
        assert text[passage.start : passage.end] == passage.text
        assert passage.text
        assert not text[at : passage.start].strip()
        at = passage.end
    assert not text[at:].strip()


def test_short_text_is_one_passage_as_it_stands() -> None:
    assert split(document("Checkout froze.")) == (Passage("d#000000", "d", 0, 0, 15, "Checkout froze."),)


def test_text_of_exactly_the_limit_is_one_passage() -> None:
    assert len(split(document("x" * MAX_CHARS))) == 1


def test_long_text_is_cut_at_sentence_ends() -> None:
    text = (SENTENCE * 60).strip()
    passages = split(document(text))
    assert_exact(text, passages)
    assert all(passage.text.endswith("ends.") and len(passage.text) <= MAX_CHARS for passage in passages)


def test_a_paragraph_end_within_reach_wins_over_a_later_sentence_end() -> None:
    text = "A" + "a" * 500 + ".\n\n" + SENTENCE * 20
    assert split(document(text))[0].text == "A" + "a" * 500 + "."


def test_the_last_passage_is_never_a_crumb() -> None:
    text = ("word " * 182).strip() + " end"
    assert len(text) > MAX_CHARS
    assert min(len(passage.text) for passage in split(document(text))) > 200


def test_chinese_text_is_cut_behind_its_own_full_stops() -> None:
    text = "应用程序打不开，更新以后就坏了。" * 120
    passages = split(document(text))
    assert_exact(text, passages)
    assert all(passage.text.endswith("。") for passage in passages)


def test_offsets_behind_emoji_count_code_points() -> None:
    text = ("🗺️ The map is gone. " * 80).strip()
    passages = split(document(text))
    assert_exact(text, passages)
    assert not any(passage.text.startswith("\ufe0f") for passage in passages)


def test_a_family_emoji_and_an_accent_are_not_torn_apart() -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    text = "x" * (MAX_CHARS - 3) + family + "e\u0301" * MAX_CHARS
    passages = split(document(text))
    assert_exact(text, passages)
    assert any(family in passage.text for passage in passages)
    assert not any(passage.text.startswith("\u0301") for passage in passages)


def test_two_million_letters_without_a_space_are_cut_evenly() -> None:
    text = "z" * 2_000_000
    passages = split(document(text))
    assert sum(len(passage.text) for passage in passages) == len(text)
    assert all(len(passage.text) <= MAX_CHARS for passage in passages)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab. !?\n\t。é\u0301\u200d🗺\ufe0f1,"), max_size=4000))
def test_every_text_is_covered_but_for_blank_gaps(text: str) -> None:
    text = text.strip() or "x"
    passages = split(document(text))
    assert_exact(text, passages)
    assert all(len(passage.text) <= MAX_CHARS for passage in passages)
