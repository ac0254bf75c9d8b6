"""Exact nearest neighbours, against a sort of all cosines."""

import numpy as np
import pytest

from search.documents import Vectors
from search.engines.dense import BLOCK_ROWS, DenseIndex
from search.engines.selection import best

DIMENSION = 24


def unit(rows: int, seed: int = 1) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(rows, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def name(row: int) -> str:
    return f"{row:06d}"


@pytest.mark.parametrize("batches", [[1], [3, 70, 500], [BLOCK_ROWS, BLOCK_ROWS + 1, 5], [20_000]])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.01])
def test_the_nearest_are_those_of_a_full_sort(batches: list[int], share: float) -> None:
    vectors, index = unit(sum(batches)), DenseIndex(DIMENSION)
    done = 0
    for batch in batches:
        index.add(vectors[done : done + batch])
        done += batch
    wanted = np.random.default_rng(2).random(len(vectors)) < share
    question = unit(1, seed=3)[0]
    rows, scores = index.view().nearest(question, wanted, 50)
    found = best(rows, scores, 50, name)
    exact = (vectors.astype(np.float64) @ question.astype(np.float64)).astype(np.float32)
    expected = sorted(np.flatnonzero(wanted).tolist(), key=lambda row: (-exact[row], row))[:50]
    assert [row for row, _ in found] == expected
    assert [score for _, score in found] == pytest.approx([float(exact[row]) for row in expected], abs=1e-6)


def test_equal_vectors_have_equal_scores_wherever_they_lie() -> None:
    index = DenseIndex(DIMENSION)
    vectors = unit(10_000)
    twins = [0, 63, 64, 4_095, 8_191, 8_193, 9_999]
    vectors[twins] = vectors[0]
    index.add(vectors)
    question = unit(1, seed=5)[0]
    rows, scores = index.view().nearest(question, np.isin(np.arange(10_000), twins), 100)
    assert rows.tolist() == twins
    assert len(set(scores.tolist())) == 1


def test_ties_beyond_the_count_are_settled_by_name() -> None:
    index = DenseIndex(DIMENSION)
    index.add(np.repeat(unit(1), 500, axis=0))
    rows, scores = index.view().nearest(unit(1)[0], np.ones(500, dtype=bool), 7)
    assert [row for row, _ in best(rows, scores, 7, lambda row: f"{-row:06d}")] == sorted(range(500), key=lambda row: f"{-row:06d}")[:7]


def test_nothing_wanted_finds_nothing() -> None:
    index = DenseIndex(DIMENSION)
    assert index.view().nearest(unit(1)[0], np.empty(0, dtype=bool), 5)[0].tolist() == []
    index.add(unit(3))
    assert index.view().nearest(unit(1)[0], np.zeros(3, dtype=bool), 5)[0].tolist() == []


def test_a_view_stays_as_it_was_when_the_index_grows() -> None:
    index = DenseIndex(DIMENSION)
    index.add(unit(10))
    view = index.view()
    before = view.nearest(unit(1, seed=9)[0], np.ones(10, dtype=bool), 10)[1].tobytes()
    index.add(unit(5_000, seed=4))
    assert view.nearest(unit(1, seed=9)[0], np.ones(10, dtype=bool), 10)[1].tobytes() == before
