"""Two rankings made one: order, ties, and contributions that add up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.fusion import EVEN, LegWeights, leg_weights, rrf, weighted
from search.query_shape import QueryShape, shape_of
from search.ranking import LegHit
from tests.search.candidates import leg


def ids(fused: tuple[object, ...]) -> list[str]:
    return [one.candidate.passage.doc_id for one in fused]  # type: ignore[attr-defined]


def test_plain_rrf_is_the_sum_of_reciprocal_ranks() -> None:
    fused = rrf(leg(("a", 9.0), ("b", 4.0)), leg(("b", 0.8), ("c", 0.7)))
    assert ids(fused) == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert (fused[0].lexical_rank, fused[0].vector_rank, fused[0].lexical_score, fused[0].vector_score) == (2, 1, 4.0, 0.8)
    assert (fused[1].vector_rank, fused[1].vector_score, fused[1].vector_contribution) == (None, None, 0.0)


def test_a_smaller_k_trusts_the_first_places_more() -> None:
    lexical, vector = leg(("a", 9.0), ("b", 8.0), ("c", 7.0)), leg(("c", 0.9), ("b", 0.8), ("a", 0.1))
    assert ids(rrf(lexical, vector, k=60))[0] == "a"
    assert rrf(lexical, vector, k=1)[0].score == pytest.approx(1 / 2 + 1 / 4)


def test_weighted_fusion_stretches_each_leg_between_its_worst_and_best() -> None:
    fused = weighted(leg(("a", 10.0), ("b", 6.0), ("c", 2.0)), leg(("b", 0.9), ("c", 0.5)), LegWeights(0.25, 0.75))
    scores = {one.candidate.passage.doc_id: one.score for one in fused}
    assert scores == pytest.approx({"b": 0.25 * 0.5 + 0.75, "a": 0.25, "c": 0.0})


def test_weighted_fusion_does_not_depend_on_the_scale_of_bm25() -> None:
    lexical, vector = leg(("a", 10.0), ("b", 6.0)), leg(("b", 0.9), ("a", 0.8))
    scaled = tuple(LegHit(hit.candidate, hit.score * 2.2, hit.rank) for hit in lexical)
    assert [one.score for one in weighted(lexical, vector)] == pytest.approx([one.score for one in weighted(scaled, vector)])


def test_equal_scores_are_ordered_by_passage_id() -> None:
    assert ids(weighted(leg(("b", 1.0), ("a", 1.0)), leg(("a", 0.5), ("b", 0.5)))) == ["a", "b"]
    assert ids(rrf(leg(("z", 3.0)), leg(("y", 0.5)))) == ["y", "z"]


def test_an_empty_leg_leaves_the_other() -> None:
    assert ids(rrf((), leg(("a", 0.9), ("b", 0.8)))) == ["a", "b"]
    assert ids(weighted(leg(("a", 3.0), ("b", 2.0)), ())) == ["a", "b"]
    assert rrf((), ()) == weighted((), ()) == ()


scored = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.floats(-1, 30, allow_nan=False)), unique_by=lambda pair: pair[0], max_size=10)


@given(scored, scored, st.integers(1, 100), st.floats(0, 1))
def test_contributions_add_up_and_nothing_is_lost_or_doubled(
    words: list[tuple[str, float]], sense: list[tuple[str, float]], k: int, share: float
) -> None:
    lexical, vector = (leg(*sorted(pairs, key=lambda pair: -pair[1])) for pairs in (words, sense))
    weights = LegWeights(share, 1 - share)
    for fused in (rrf(lexical, vector, k, weights), weighted(lexical, vector, weights)):
        assert sorted(ids(fused)) == sorted({doc_id for doc_id, _ in words + sense})
        assert all(one.score == one.lexical_contribution + one.vector_contribution and math.isfinite(one.score) for one in fused)
        assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)


def test_codes_and_quoted_phrases_weigh_the_lexical_leg() -> None:
    hits = leg(("a", 1.0))
    assert leg_weights(shape_of("does SAVE20 work"), hits, hits).lexical == 0.75
    assert leg_weights(shape_of('who says "not working"'), hits, hits).lexical == 0.75
    assert leg_weights(QueryShape(), (), ()) == EVEN


def test_the_shorter_the_passages_the_more_the_vector_leg_weighs() -> None:
    shares = [leg_weights(QueryShape(), leg(("a", 1.0), text="x" * length), ()).lexical for length in (20, 100, 250, 400, 5_000)]
    assert shares == pytest.approx([0.2, 0.2, 0.35, 0.5, 0.5])
