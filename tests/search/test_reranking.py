"""Reordering by named features: sums, directions, and what decides what."""

from datetime import timedelta

import pytest

from search.fusion import weighted
from search.query_shape import shape_of
from search.ranking import Candidate, LegHit
from search.reranking import WEIGHTS, Ranked, rerank
from tests.search.candidates import DAY, candidate


def ranked(query: str, *candidates: Candidate) -> tuple[Ranked, ...]:
    """Rerank candidates that both legs found equally good."""
    hits = tuple(LegHit(one, 0.5, rank) for rank, one in enumerate(candidates, start=1))
    return rerank(query, shape_of(query), weighted(hits, hits))


def order(found: tuple[Ranked, ...]) -> list[str]:
    return [one.fused.candidate.passage.doc_id for one in found]


def values(found: tuple[Ranked, ...], name: str) -> dict[str, float]:
    return {one.fused.candidate.passage.doc_id: feature.value for one in found for feature in one.features if feature.name == name}


def test_every_feature_is_named_and_contributions_add_up_to_the_score() -> None:
    for one in ranked("refund for order 10423", candidate("a", "my refund is late"), candidate("b", "order 10423 has no refund")):
        assert [feature.name for feature in one.features] == [
            "relevance",
            "strength",
            "agreement",
            "coverage",
            "keywords",
            "proximity",
            "code",
            "phrase",
            "source",
            "recency",
        ]
        assert set(WEIGHTS) == {feature.name for feature in one.features}
        assert all(feature.contribution == feature.value * feature.weight for feature in one.features)
        assert one.score == pytest.approx(sum(feature.contribution for feature in one.features), abs=1e-9)


def test_nothing_in_nothing_out() -> None:
    assert rerank("anything", shape_of("anything"), ()) == ()


def test_the_document_with_the_exact_code_comes_first_and_others_are_pushed_down() -> None:
    found = ranked(
        "does SAVE20 work",
        candidate("a", "does the code work? it does not work"),
        candidate("b", "save 20 percent, does it work"),
        candidate("c", "save20 was refused"),
    )
    assert order(found)[0] == "c"
    assert values(found, "code") == {"a": -1.0, "b": 0.0, "c": 1.0}


def test_a_code_that_nobody_holds_tells_nothing() -> None:
    assert set(values(ranked("does SAVE99 work", candidate("a", "it works"), candidate("b", "it fails")), "code").values()) == {0.0}


def test_a_code_in_the_title_counts() -> None:
    assert order(ranked("ERR_4012", candidate("a", "an error appears"), candidate("b", "it appears daily", title="ERR-4012")))[0] == "b"


def test_a_quoted_phrase_must_stand_word_by_word() -> None:
    found = ranked(
        '"battery drains fast"',
        candidate("a", "the battery is fast and never drains"),
        candidate("b", "The battery drains fast on Android."),
    )
    assert order(found)[0] == "b"
    assert values(found, "phrase") == {"a": -1.0, "b": 1.0}


def test_passages_that_say_what_the_others_say_rise() -> None:
    alike = [
        candidate(name, f"the parcel arrived {late} and the box was wet")
        for name, late in (("b", "late"), ("c", "too late"), ("d", "very late"))
    ]
    found = ranked("what happened", candidate("a", "I like the colours of the shop"), *alike)
    agreement = values(found, "agreement")
    assert order(found)[-1] == "a"
    assert agreement["a"] < 0.2 < min(agreement["b"], agreement["c"], agreement["d"])


def test_words_of_the_question_near_each_other_count() -> None:
    found = ranked(
        "late delivery", candidate("a", "delivery was fine but the reply came many days too late"), candidate("b", "a late delivery again")
    )
    assert values(found, "proximity")["b"] > values(found, "proximity")["a"] == 0.0
    assert values(found, "coverage")["a"] == values(found, "coverage")["b"] > 0


def test_source_weight_and_recency_settle_what_is_even_and_no_more() -> None:
    trusted, doubted = candidate("b", "it is late", weight=0.9), candidate("a", "it is late", weight=0.1)
    assert order(ranked("late", doubted, trusted)) == ["b", "a"]
    older, newer = candidate("a", "it is late", occurred_at=DAY - timedelta(days=400)), candidate("b", "it is late")
    assert order(ranked("late", older, newer)) == ["b", "a"]
    assert (
        order(
            ranked(
                "SAVE20",
                candidate("a", "SAVE20 fails", occurred_at=DAY - timedelta(days=4000), weight=0.0),
                candidate("b", "it fails", weight=1.0),
            )
        )[0]
        == "a"
    )


def test_recency_reads_no_clock_unless_it_is_given_one() -> None:
    newest = candidate("a", "it is late")
    assert values(ranked("late", newest), "recency") == {"a": 1.0}
    hits = (LegHit(newest, 0.5, 1),)
    (later,) = rerank("late", shape_of("late"), weighted(hits, hits), now=DAY + timedelta(days=180))
    assert {feature.name: feature.value for feature in later.features}["recency"] == pytest.approx(0.5)


def test_equal_candidates_are_ordered_by_passage_id() -> None:
    assert order(ranked("late", candidate("b", "it is late"), candidate("a", "it is late"))) == ["a", "b"]


@pytest.mark.parametrize("query", ["the of and", "😀", "你好", "مرحبا", "?!", "x" * 10_000, "word " * 2_000])
def test_questions_without_usable_words_are_ranked_all_the_same(query: str) -> None:
    assert order(ranked(query, candidate("a", "one"), candidate("b", "two", occurred_at=DAY - timedelta(days=9)))) == ["a", "b"]


def test_who_types_a_few_words_means_all_of_them() -> None:
    near = candidate("near", "the export hangs")
    holds = candidate("holds", "latency was promised, but the export never finishes for large files")
    assert order(ranked("export never finishes", near, holds))[0] == "holds"
    assert set(values(ranked("one two three four five", near, holds), "keywords").values()) == {0.0}
