"""BM25 in numpy, against the formula written out in plain floats, one passage at a time."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.analysis import query_terms, tokens
from search.engines.lexical import LENGTHS, LexicalIndex, length_codes

Passages = list[list[int]]


def coarse(length: int) -> int:
    """Lucene's ``SmallFloat.byte4ToInt(intToByte4(length))``, by its own arithmetic."""
    if length < 24:
        return length
    rest = length - 24
    if rest < 8:
        return length
    shift = rest.bit_length() - 4
    return 24 + ((rest >> shift) << shift)


def reference(passages: Passages, live: list[bool], query: dict[int, int]) -> list[float]:
    """BM25 as textbooks and Lucene have it, k1 1.2, b 0.75."""
    counted = [passage for passage, alive in zip(passages, live, strict=True) if alive and passage]
    if not counted:
        return [0.0] * len(passages)
    average = sum(map(len, counted)) / len(counted)
    scores = []
    for passage in passages:
        counts, score = Counter(passage), 0.0
        for term, times in query.items():
            holding = sum(term in other for other in counted)
            idf = math.log(1 + (len(counted) - holding + 0.5) / (holding + 0.5))
            frequency = counts[term]
            score += times * idf * frequency / (frequency + 1.2 * (0.25 + 0.75 * coarse(len(passage)) / average))
        scores.append(score)
    return scores


def indexed(passages: Passages, batch: int = 3) -> LexicalIndex:
    index = LexicalIndex()
    for start in range(0, len(passages), batch):
        index.add([np.array(passage, dtype=np.int32) for passage in passages[start : start + batch]])
        index.settle()
    return index


def removed(index: LexicalIndex, live: list[bool]) -> None:
    index.remove(np.flatnonzero(~np.array(live, dtype=bool)))


@pytest.mark.parametrize(
    ("length", "expected"), [(0, 0), (1, 1), (23, 23), (39, 39), (40, 40), (41, 40), (42, 42), (57, 56), (100, 96), (1000, 984)]
)
def test_lengths_are_kept_as_lucene_keeps_them(length: int, expected: int) -> None:
    assert LENGTHS[length_codes(np.array([length], dtype=np.int32))[0]] == expected == coarse(length)


def test_every_length_up_to_a_hundred_thousand_is_rounded_as_lucene_rounds_it() -> None:
    lengths = np.arange(100_000, dtype=np.int32)
    assert LENGTHS[length_codes(lengths)].tolist() == [coarse(length) for length in range(100_000)]


passages_strategy = st.lists(st.lists(st.integers(0, 8), max_size=60), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(passages_strategy, st.dictionaries(st.integers(0, 9), st.integers(1, 3), max_size=6), st.randoms(use_true_random=False))
def test_scores_are_the_formulas_whatever_was_removed(passages: Passages, query: dict[int, int], chance: object) -> None:
    live = [chance.random() > 0.3 for _ in passages]  # type: ignore[attr-defined]
    index = indexed(passages)
    removed(index, live)
    scores = index.view(np.array(live, dtype=bool)).scores(query)
    expected = reference(passages, live, query)
    assert scores.dtype == np.float32
    for score, wanted, alive in zip(scores.tolist(), expected, live, strict=True):
        if alive:
            assert score == pytest.approx(wanted, rel=2e-6, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(passages_strategy, st.integers(1, 5), st.integers(6, 30))
def test_scores_do_not_depend_on_how_the_passages_arrived(passages: Passages, small: int, large: int) -> None:
    live = np.ones(len(passages), dtype=bool)
    query = {0: 1, 3: 2, 7: 1}
    one, other = indexed(passages, small).view(live), indexed(passages, large).view(live)
    assert one.scores(query).tobytes() == other.scores(query).tobytes()


def test_gaps_are_no_words() -> None:
    gapped, plain = LexicalIndex(), LexicalIndex()
    gapped.add([np.array([-1, 4, -1, 5], dtype=np.int32), np.array([-1, -1], dtype=np.int32)])
    plain.add([np.array([4, 5], dtype=np.int32), np.array([], dtype=np.int32)])
    live = np.ones(2, dtype=bool)
    assert gapped.view(live).scores({4: 1}).tobytes() == plain.view(live).scores({4: 1}).tobytes()
    assert gapped.view(live).passages == 1


def test_a_passage_without_words_counts_in_no_statistics() -> None:
    bare, padded = indexed([[1, 2], [2]]), indexed([[1, 2], [2], [], []])
    assert bare.view(np.ones(2, bool)).scores({1: 1})[:2].tobytes() == padded.view(np.ones(4, bool)).scores({1: 1})[:2].tobytes()


def test_an_empty_index_scores_nothing() -> None:
    view = LexicalIndex().view(np.empty(0, dtype=bool))
    assert view.scores({1: 1}).tolist() == []
    assert view.rows_with(1).tolist() == []


def test_a_view_stays_as_it_was_when_the_index_grows() -> None:
    index = indexed([[1, 1, 2], [2]])
    view = index.view(np.ones(2, dtype=bool))
    before = view.scores({1: 1, 2: 1}).tobytes()
    index.add([np.array([1, 2, 3], dtype=np.int32)] * 50)
    index.settle()
    assert view.scores({1: 1, 2: 1}).tobytes() == before
    assert len(index.view(np.ones(52, dtype=bool)).scores({1: 1})) == 52


def test_small_segments_are_merged_as_they_add_up() -> None:
    index = LexicalIndex()
    for number in range(300):
        index.add([np.array([number % 7, number % 11], dtype=np.int32)])
        index.settle()
    view = index.view(np.ones(300, dtype=bool))
    assert len(view.segments) < 12
    assert sorted(view.rows_with(0).tolist()) == [number for number in range(300) if number % 7 == 0 or number % 11 == 0]


def test_scores_are_lucenes_to_the_last_bit() -> None:
    """Against what Lucene 9.12 gave for 60 texts made of BANKING77 messages (CC BY 4.0), in one segment."""
    golden = json.loads((Path(__file__).parent / "lucene_scores.json").read_text("ascii"))
    numbers: dict[str, int] = {}
    index = LexicalIndex()
    for passage in golden["passages"]:
        index.add([np.array([numbers.setdefault(term, len(numbers)) for term in tokens(passage)], dtype=np.int32)])
        index.settle()
    view = index.view(np.ones(len(golden["passages"]), dtype=bool))
    for query in golden["queries"]:
        scores = view.scores({numbers[term]: count for term, count in query_terms(query["text"]).items() if term in numbers})
        assert {str(row): float(scores[row]) for row in np.flatnonzero(scores)} == query["scores"]
