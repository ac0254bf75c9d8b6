"""Words and terms, against what Lucene's ``EnglishAnalyzer`` 9.12 gave for hand-picked and random texts."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.analysis import (
    LONGEST_TOKEN,
    MatchTerms,
    Phrase,
    content_terms,
    match_terms,
    query_terms,
    term_stream,
    tokens,
    words,
)

CASES = json.loads((Path(__file__).parent / "lucene_tokens.json").read_text("ascii"))


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_terms_are_lucenes(case: dict[str, object]) -> None:
    assert tokens(str(case["text"])) == case["tokens"]


@given(st.text())
def test_a_stream_is_the_terms_with_gaps(text: str) -> None:
    assert [term for term in term_stream(text) if term is not None] == tokens(text)
    assert len(term_stream(text)) == len(words(text))


@given(st.text(alphabet=st.sampled_from("aZ1_.,'’:;-\" é水カ👍\u200d\ufe0f\u0301א")))
def test_offsets_index_the_text_in_code_points(text: str) -> None:
    found = words(text)
    assert all(0 <= start < end <= len(text) for _, start, end in found)
    assert all(len(word) == end - start <= LONGEST_TOKEN for word, start, end in found)
    assert all(earlier[2] <= later[1] for earlier, later in pairwise(found))


def test_words_keep_stop_words_and_endings_in_lower_case() -> None:
    assert words("The Cards' 👍 were") == [("the", 0, 3), ("cards", 4, 9), ("👍", 11, 12), ("were", 13, 17)]


@pytest.mark.parametrize("piece", ["a", "_", "a_", "א'", "1.", "カ_", "\u200d", "👍", "_\u0301", '"', "é.", "_\ufe0f_"])
def test_long_runs_take_linear_time(piece: str) -> None:
    """Quadratic time would need minutes here; the suite's time limit is what fails."""
    text = piece * 30_000
    assert all(len(word) <= LONGEST_TOKEN for word, _, _ in words(text))
    match_terms(text)


def test_a_query_has_at_most_64_distinct_terms_with_their_counts() -> None:
    counts = query_terms("card Cards the " + " ".join(f"w{number}" for number in range(100)) + " card w99")
    assert len(counts) == 64
    assert counts["card"] == 3
    assert "w62" in counts
    assert "w63" not in counts


def test_content_terms_leave_out_what_only_shapes_a_question() -> None:
    assert content_terms("How many customers have been asking me about their refunds?") == ["custom", "ask", "refund"]
    assert content_terms("what is it and why") == []


@pytest.mark.parametrize(
    ("match", "terms", "phrases"),
    [
        ("", [], []),
        ("Why was my card declined, card?", ["card", "declin"], []),
        ('refunds "bank of America" “lost cards”', ["refund"], [[("bank", 0), ("america", 2)], [("lost", 0), ("card", 1)]]),
        ('"the card"', [], [[("card", 0)]]),
        ('"of the" x', ["x"], []),
        ('an unpaired " mark', ["unpair", "mark"], []),
        ('"a b" "a b"', [], [[("b", 0)]]),
    ],
)
def test_a_match_is_content_words_and_quoted_phrases(match: str, terms: list[str], phrases: list[list[tuple[str, int]]]) -> None:
    assert match_terms(match) == MatchTerms(tuple(terms), tuple(Phrase(tuple(places)) for places in phrases))
