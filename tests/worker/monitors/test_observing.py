"""Observations of real documents: the same that a question that counts counts, over the whole window."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grounding.answers import Proof
from grounding.budget import budget_of
from grounding.proofs import counted
from grounding.topics import Topics
from runtime.errors import InvalidRequest, Unavailable
from search import aggregation
from search.listing import page
from search.ports import Engine
from tests.grounding.desk import ACME, NOW, Desk, open_desk, record
from tests.worker.monitors.watch import given
from worker.monitors.monitor import Monitor
from worker.monitors.observing import Asking, CorpusObserver, NoObservation, Observation, observation_as_json, observation_from_json
from worker.monitors.reading import monitor_from
from worker.monitors.window import Window

WINDOW = Window(datetime(2026, 11, 29, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


def crashes(number: int, day: str, first: int = 0) -> list[dict[str, Any]]:
    return [record(f"c-{day}-{first + each}", f"The camera crashes on shot {each}.", day) for each in range(number)]


def others(number: int, day: str) -> list[dict[str, Any]]:
    return [record(f"o-{day}-{each}", f"Parcel {each} came quickly.", day, theme_id="delivery") for each in range(number)]


def observer(desk: Desk, engine: Engine | None = None) -> CorpusObserver:
    service = desk.service
    topics = Topics(engine or service.engine, service.embedder, desk.clock, service.settings)
    return CorpusObserver(engine or service.engine, topics, Asking(desk.answerer(engine=engine), budget_of(service.settings)))


def monitor(**members: Any) -> Monitor:
    return monitor_from(given(window_hours=24, **members), NOW)


def seen(desk: Desk, watched: Monitor, window: Window = WINDOW) -> Observation:
    found = observer(desk).observe(ACME, watched, window)
    assert isinstance(found, Observation)
    return found


def test_every_document_of_the_window_counts_and_none_beside_it(desk: Desk) -> None:
    desk.load([*crashes(130, "2026-11-29"), *others(70, "2026-11-29"), *crashes(50, "2026-11-28"), *crashes(50, "2026-11-30")])
    found = seen(desk, monitor())
    assert (found.breached, found.n, found.denominator, found.observed, found.threshold) == (True, 130, 200, 130.0, 10.0)
    assert found.because.startswith("130 of 200 documents contain “crashes” from 2026-11-29 00:00Z to 2026-11-30 00:00Z")


def test_the_ids_are_those_of_the_matching_documents_and_can_all_be_paged(desk: Desk) -> None:
    desk.load([*crashes(130, "2026-11-29"), *others(20, "2026-11-29")])
    found = seen(desk, monitor())
    assert len(found.doc_ids) == 100
    listed, cursor = [], found.proofs[0].cursor
    while cursor is not None:
        part = page(desk.service.engine, ACME, first=50, after=cursor)
        listed += [document.doc_id for document in part.documents]
        cursor = part.cursor
    assert len(listed) == 130
    assert listed[:100] == list(found.doc_ids)


def test_it_counts_what_themes_and_questions_that_count_do(desk: Desk) -> None:
    desk.load([*crashes(12, "2026-11-29"), *others(30, "2026-11-29")])
    found = seen(desk, monitor())
    assert found.n == aggregation.by_theme(desk.service.engine, ACME, "crashes").total
    answer = desk.ask("How many documents mention crashes?").answer
    assert answer is not None
    assert isinstance(answer.claims[0].proof, Proof)
    assert answer.claims[0].proof.value == found.n


def test_a_proof_gives_the_same_numbers_when_it_is_run_again(desk: Desk) -> None:
    desk.load([*crashes(12, "2026-11-29"), *others(30, "2026-11-29")])
    proof = seen(desk, monitor()).proofs[0]
    again = counted(desk.service.engine, ACME, proof.aggregation, proof.filters, proof.match, proof.time_zone).proof(proof.bucket)
    assert again == proof


@pytest.mark.parametrize(
    ("members", "n", "denominator", "described"),
    [
        ({"question": "How are deliveries?", "match": "parcel"}, 30, 42, "contain “parcel”"),
        ({"question": "What do customers say about delivery?"}, 30, 42, "have the theme “delivery”"),
        ({"question": "What do customers complain about?"}, 42, 42, "documents"),
        ({"filters": {"theme_ids": ["delivery"]}}, 0, 30, "contain “crashes”"),
        ({"question": "Is the number of crashes rising?"}, 12, 42, "contain “crashes”"),
    ],
)
def test_what_a_question_counts(desk: Desk, members: dict[str, Any], n: int, denominator: int, described: str) -> None:
    desk.load([*crashes(12, "2026-11-29"), *others(30, "2026-11-29")])
    watched = monitor(**members)
    found = seen(desk, watched)
    assert (found.n, found.denominator) == (n, denominator)
    assert described in observer(desk).describe(ACME, watched)


@pytest.mark.parametrize(
    "question",
    [
        "How many refunds are there, and how many chargebacks are there?",
        "Did more messages come in June than in July?",
        "Are there more messages about delivery or about refunds?",
    ],
)
def test_a_question_that_asks_several_things_is_refused(desk: Desk, question: str) -> None:
    desk.load(others(1, "2026-11-29"))
    with pytest.raises(InvalidRequest) as caught:
        observer(desk).describe(ACME, monitor(question=question))
    assert caught.value.field == "question"


def test_a_change_is_measured_against_the_windows_that_have_documents(desk: Desk) -> None:
    rows = [*others(30, "2026-11-26"), *crashes(10, "2026-11-27"), *crashes(10, "2026-11-28"), *crashes(60, "2026-11-29")]
    desk.load(rows)
    found = seen(desk, monitor(condition={"change_at_least": 0.5, "baseline_windows": 30}))
    assert found.breached
    assert found.baseline == pytest.approx(20 / 2), "two whole days lie before, not thirty"
    assert found.proofs[1].value == 20
    assert "against 10 before" in found.because
    assert seen(desk, monitor(condition={"change_at_least": 0.5})).baseline == 10


def test_silence_can_fire_and_is_told_of_again_in_another_window(desk: Desk) -> None:
    desk.load(others(5, "2026-11-20"))
    watched = monitor(condition={"count_at_most": 0})
    first = seen(desk, watched)
    day = timedelta(days=1)
    second = seen(desk, watched, Window(WINDOW.start - day, WINDOW.end - day))
    assert first.breached
    assert second.breached
    assert first.fingerprint != second.fingerprint


def test_the_fingerprint_is_of_the_documents_and_the_condition(desk: Desk) -> None:
    desk.load(crashes(12, "2026-11-29"))
    first = seen(desk, monitor()).fingerprint
    assert seen(desk, monitor()).fingerprint == first
    assert seen(desk, monitor(condition={"count_at_least": 5})).fingerprint != first
    desk.load(crashes(1, "2026-11-29", first=12))
    assert seen(desk, monitor()).fingerprint != first


def test_how_the_question_is_answered_can_fire(desk: Desk) -> None:
    desk.load([*crashes(12, "2026-11-29"), *others(30, "2026-11-29")])
    answered = seen(desk, monitor(condition={"refused": True}))
    refused = seen(desk, monitor(question="What do customers say about the loyalty programme?", condition={"refused": True}))
    assert (answered.breached, refused.breached) == (False, True)
    assert "is not answered by them" in refused.because
    grounded = seen(desk, monitor(condition={"groundedness_below": 0.5}))
    assert (grounded.breached, grounded.unit) == (False, "groundedness")


def test_an_engine_that_fails_is_no_observation(desk: Desk) -> None:
    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(desk.service.engine, name)

        def aggregate(self, *_: object) -> Any:
            raise Unavailable("the engine does not answer", dependency="engine")

    failing: Any = Failing()
    assert observer(desk, failing).observe(ACME, monitor(), WINDOW) == NoObservation("the engine does not answer")


def test_a_degraded_answer_is_no_observation(desk: Desk) -> None:
    class HalfBlind:
        def __getattr__(self, name: str) -> Any:
            return getattr(desk.service.engine, name)

        def legs(self, *arguments: Any, **options: Any) -> Any:
            legs = desk.service.engine.legs(*arguments, **options)
            return replace(legs, vector=(), lost={"vector": "it timed out"})

    desk.load([*crashes(12, "2026-11-29"), *others(30, "2026-11-29")])
    blind: Any = HalfBlind()
    assert isinstance(observer(desk, blind).observe(ACME, monitor(condition={"refused": True}), WINDOW), NoObservation)
    assert isinstance(observer(desk, blind).observe(ACME, monitor(), WINDOW), Observation), "counts do not search"


def test_an_observation_comes_back_from_its_json(desk: Desk) -> None:
    desk.load([*crashes(12, "2026-11-29"), *crashes(12, "2026-11-28")])
    found = seen(desk, monitor(condition={"change_at_least": 0.5}))
    assert observation_from_json(observation_as_json(found)) == found


def test_a_whole_firing_over_real_documents(desk: Desk) -> None:
    desk.load([*crashes(12, "2026-11-29"), *others(8, "2026-11-29")])
    service = desk.service
    saved = service.saving.save(ACME, given(window_hours=24, cadence_hours=24))
    done = service.evaluator.evaluate(ACME, saved.monitor_id, WINDOW.start)
    assert done.digest is not None
    asked = desk.ask(saved.question, filters=done.digest.proofs[0].filters)
    assert asked.answer is not None
    assert done.digest.claims == asked.answer.claims, "a digest says what anybody who asks is told"
    assert service.traces.get(ACME, done.digest.run_id or "").claims == asked.answer.claims
    service.engine.delete(ACME, [done.digest.claims[0].citations[0].doc_id])
    told = service.digests.get(ACME, done.digest.digest_id)
    assert told.withdrawn_doc_ids == (done.digest.claims[0].citations[0].doc_id,)
    assert "withheld" in told.claims[0].citations[0].quote
