"""What every engine's two rankings must be. See :meth:`search.ports.Engine.legs`."""

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

from runtime.clock import Deadline, SettableClock
from runtime.errors import InvalidRequest, Unavailable
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Filters, Source, Vector
from search.ports import Engine
from search.ranking import LegHit, LegQuery
from tests.contracts.writes import DIMENSION, document, unit_vector, write_of, written

Put = Callable[..., object]


def lexical(engine: Engine, tenant: Tenant, text: str, depth: int = 100, filters: Filters = EVERYTHING) -> list[str]:
    legs = engine.legs(tenant, LegQuery(text, None, filters, depth))
    assert legs.vector == ()
    return [hit.candidate.passage.passage_id for hit in legs.lexical]


def nearest(engine: Engine, tenant: Tenant, vector: Vector, depth: int = 100, filters: Filters = EVERYTHING) -> list[str]:
    return [hit.candidate.passage.doc_id for hit in engine.legs(tenant, LegQuery("", vector, filters, depth)).vector]


def in_order(hits: tuple[LegHit, ...]) -> bool:
    keys = [(-hit.score, hit.candidate.passage.passage_id) for hit in hits]
    return keys == sorted(keys) and [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


def towards(first: Vector, second: Vector, cosine: float) -> Vector:
    """A unit vector at that cosine to ``first``."""
    across = second - (second @ first) * first
    across /= np.linalg.norm(across)
    return (cosine * first + np.sqrt(1 - cosine**2) * across).astype(np.float32)


class TestBothLegs:
    def test_both_rankings_come_with_everything_a_reader_needs(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        made = document(
            "a",
            "Cards get lost. Parcels arrive late.",
            title="Complaints",
            theme_id="mixed",
            account_id="x",
            rating=2.0,
            language="en",
            url="https://example.test/a",
            attributes={"plan": "pro"},
            version=6,
        )
        write = write_of(made, version=6, passages=[(0, 15), (16, 36)])
        put(write)
        legs = engine.legs(tenant, LegQuery("late parcels", write.vectors[1], EVERYTHING))
        for hit in (legs.lexical[0], legs.vector[0]):
            candidate = hit.candidate
            assert candidate.passage == write.passages[1]
            assert (candidate.source, candidate.occurred_at) == (Source("ticket"), made.occurred_at)
            assert (candidate.group_key, candidate.version) == (write.group_key, 6)
            assert (candidate.title, candidate.theme_id, candidate.account_id) == ("Complaints", "mixed", "x")
            assert (candidate.rating, candidate.language, candidate.url) == (2.0, "en", "https://example.test/a")
            assert candidate.attributes == {"plan": "pro"}
        assert legs.vector[0].score == pytest.approx(1.0, abs=1e-3)
        assert (legs.scope, dict(legs.lost)) == (1, {})

    def test_scope_counts_documents_not_passages_and_not_only_hits(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(write_of(document("a", "One here. Two here."), passages=[(0, 9), (10, 19)]), written("b", "nothing shared", day=60))
        legs = engine.legs(tenant, LegQuery("two", unit_vector("q"), EVERYTHING, depth=1))
        assert legs.scope == 2
        assert (len(legs.lexical), len(legs.vector)) == (1, 1)

    def test_scores_descend_and_ranks_count_from_one(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(*[written(f"d{number}", f"card {'card ' * (number % 3)}number {number}", day=number * 9) for number in range(20)])
        legs = engine.legs(tenant, LegQuery("card number 7", unit_vector("q"), EVERYTHING))
        assert in_order(legs.lexical)
        assert in_order(legs.vector)
        assert (len(legs.lexical), len(legs.vector)) == (20, 20)

    def test_without_a_vector_there_is_only_the_lexical_leg(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "card"))
        legs = engine.legs(tenant, LegQuery("card", None, EVERYTHING))
        assert (len(legs.lexical), legs.vector) == (1, ())

    def test_a_tenant_never_seen_has_empty_legs(self, engine: Engine, tenant: Tenant) -> None:
        legs = engine.legs(tenant, LegQuery("card", unit_vector("q"), EVERYTHING))
        assert (legs.lexical, legs.vector, legs.scope, dict(legs.lost)) == ((), (), 0, {})

    @pytest.mark.parametrize("depth", [0, -1, 10_001])
    def test_a_depth_out_of_range_is_refused(self, engine: Engine, tenant: Tenant, depth: int) -> None:
        with pytest.raises(InvalidRequest):
            engine.legs(tenant, LegQuery("card", None, EVERYTHING, depth))

    @pytest.mark.parametrize(
        "vector", [np.zeros(DIMENSION, np.float32), np.full(DIMENSION, np.nan, np.float32), np.ones(DIMENSION + 1, np.float32)]
    )
    def test_a_vector_that_is_no_unit_vector_of_the_model_is_refused(self, engine: Engine, tenant: Tenant, vector: Vector) -> None:
        with pytest.raises(InvalidRequest):
            engine.legs(tenant, LegQuery("card", vector, EVERYTHING))

    def test_with_no_time_left_the_search_is_unavailable(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "card"))
        spent = Deadline(SettableClock(datetime(2026, 1, 1, tzinfo=UTC)), 0.0)
        with pytest.raises(Unavailable):
            engine.legs(tenant, LegQuery("card", unit_vector("q"), EVERYTHING), deadline=spent)


class TestLexicalLeg:
    def test_any_shared_word_is_a_hit_and_none_is_not(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "the card was declined"), written("b", "a parcel"), written("c", "declining parcels"))
        assert set(lexical(engine, tenant, "declined parcels")) == {"a#000000", "b#000000", "c#000000"}
        assert lexical(engine, tenant, "declined parcels")[0] == "c#000000"
        assert lexical(engine, tenant, "refund") == []

    def test_equal_scores_are_ordered_by_passage_id(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        names = ["b", "a!", "a", "B", "a1", "ä", "a.", "Z"]
        put(*[written(name, "the same words", vector=unit_vector("same")) for name in names])
        expected = sorted(f"{name}#000000" for name in names)
        assert lexical(engine, tenant, "same words") == expected
        assert lexical(engine, tenant, "same words", depth=3) == expected[:3]
        assert [f"{name}#000000" for name in nearest(engine, tenant, unit_vector("same"))] == expected

    def test_rarer_words_weigh_more(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "card zebra"), *[written(f"b{number}", "card plain") for number in range(5)], written("c", "card plain"))
        assert lexical(engine, tenant, "plain zebra")[0] == "a#000000"

    def test_shorter_passages_come_first_at_equal_words(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "refund please after many long weeks of waiting patiently"), written("b", "refund please"))
        assert lexical(engine, tenant, "refund") == ["b#000000", "a#000000"]

    def test_a_title_counts_in_every_passage_of_its_document(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(write_of(document("a", "One here. Two here.", title="Refunds"), passages=[(0, 9), (10, 19)]), written("b", "refund"))
        assert set(lexical(engine, tenant, "refunding")) == {"a#000000", "a#000001", "b#000000"}

    @pytest.mark.parametrize("text", ["", "   ", "the of and to", "???", "\x00", "\ud83d"])
    def test_a_question_without_words_has_no_lexical_hits(self, engine: Engine, tenant: Tenant, put: Put, text: str) -> None:
        put(written("a", "the card and the parcel"))
        assert lexical(engine, tenant, text) == []
        assert nearest(engine, tenant, unit_vector("q")) == ["a"]

    def test_only_the_first_64_distinct_terms_are_searched_for(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "early"), written("b", "late"))
        filler = " ".join(f"filler{number}" for number in range(63))
        assert lexical(engine, tenant, f"early {filler} late") == ["a#000000"]
        assert lexical(engine, tenant, f"{filler} {filler} late early") == ["b#000000"]

    def test_a_question_of_ten_thousand_words_is_searched(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(written("a", "card"))
        assert lexical(engine, tenant, "card " + " ".join(f"word{number}" for number in range(10_000))) == ["a#000000"]

    @pytest.mark.parametrize(
        ("text", "question"),
        [
            ("Checkout rejects SAVE20", "save20"),
            ("It shows ERR_4012 again", "err_4012"),
            ("Since v2.3.1 it crashes", "v2.3.1"),
            ("It shows ERR-4012 again", "ERR 4012"),
            ("Great 👍🏽 service", "👍🏽"),
            ("水泳が好き", "水"),
            ("カタカナです", "カタカナ"),
            ("한국어 사용자", "한국어"),
            ("שלום לכם", "שלום"),
            ("مرحبا بكم", "مرحبا"),
            ("O’Brien’s refund", "o’brien"),
            ("weren't able", "weren't"),
        ],
    )
    def test_codes_scripts_and_signs_are_found(self, engine: Engine, tenant: Tenant, put: Put, text: str, question: str) -> None:
        put(written("a", text), written("b", "something else entirely"))
        assert lexical(engine, tenant, question) == ["a#000000"]


class TestVectorLeg:
    def test_the_nearest_come_first_with_their_cosine(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        question = unit_vector("q")
        cosines = {"a": 0.9, "b": 0.2, "c": -0.5, "d": 0.6}
        put(*[written(name, name, vector=towards(question, unit_vector(name), cosine)) for name, cosine in cosines.items()])
        hits = engine.legs(tenant, LegQuery("", question, EVERYTHING)).vector
        assert [hit.candidate.passage.doc_id for hit in hits] == ["a", "d", "b", "c"]
        assert [hit.score for hit in hits] == pytest.approx([0.9, 0.6, 0.2, -0.5], abs=2e-3)

    def test_a_filter_narrows_before_the_depth_is_counted(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        question = unit_vector("q")
        near = [written(f"near{n}", f"near {n}", vector=towards(question, unit_vector(f"n{n}"), 0.9)) for n in range(15)]
        far = [written(f"far{n}", f"far {n}", vector=towards(question, unit_vector(f"f{n}"), 0.1), theme_id="far") for n in range(5)]
        put(*near, *far)
        assert len(nearest(engine, tenant, question, depth=5, filters=Filters(theme_ids=("far",)))) == 5
        assert lexical(engine, tenant, "far near", depth=5, filters=Filters(theme_ids=("far",)))[0].startswith("far")

    def test_a_document_with_several_passages_may_appear_several_times(self, engine: Engine, tenant: Tenant, put: Put) -> None:
        put(write_of(document("a", "One here. Two here."), passages=[(0, 9), (10, 19)]))
        legs = engine.legs(tenant, LegQuery("here", unit_vector("One here."), EVERYTHING))
        assert [hit.candidate.passage.text for hit in legs.vector] == ["One here.", "Two here."]
        assert [hit.candidate.passage.number for hit in legs.lexical] == [0, 1]
