"""What people read of the counts: equal to what the engine counts, right without a worker, and gone with the tenant."""

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api import operations
from search.documents import EVERYTHING
from search.engines.write_intents import OPEN_FOR, WriteIntents
from search.ingest.erasure import delete_documents
from search.ingest.rows import rows_of
from search.ranking import BucketQuery
from tests.grounding.desk import ACME, Desk, open_desk, record
from worker.events.insights import Insights
from worker.opening import Service


def counts(found: Insights, name: str) -> dict[str, int]:
    return {each.key: each.count for each in getattr(found, name)}


def buckets(service: Service, by: Any) -> dict[str, int]:
    service.engine.refresh(ACME)
    return {bucket.key: bucket.count for bucket in service.engine.aggregate(ACME, BucketQuery(by, EVERYTHING)).buckets if bucket.count}


def assert_equal_to_the_engine(service: Service) -> None:
    found = operations.insights(service, ACME)
    assert found.documents == service.engine.corpus(ACME).documents
    assert (counts(found, "days"), counts(found, "themes"), counts(found, "sources")) == (
        buckets(service, "day"),
        buckets(service, "theme"),
        buckets(service, "source"),
    )
    assert (found.waiting, found.failed) == (0, 0)
    assert operations.insights(service, ACME, rebuild=True) == found


def changed(number: int, chosen: random.Random) -> dict[str, Any]:
    theme = chosen.choice(["billing", "cards", None])
    text = f"The card {number} was declined {chosen.randrange(1000)} times."
    source = chosen.choice(["support_ticket", "review", "chat"])
    return record(
        f"t{number}",
        text,
        f"2026-{chosen.randint(1, 9):02}-1{chosen.randrange(9)}",
        source=source,
        **({"theme_id": theme} if theme else {}),
    )


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.live("opensearch"))])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A desk over each engine."""
    over: dict[str, str] = {}
    if request.param == "opensearch":
        over = {"engine_url": request.getfixturevalue("opensearch_url"), "index_prefix": request.getfixturevalue("opensearch_prefix")}
    with open_desk(tmp_path, **over) as opened:
        yield opened


def test_counts_equal_the_engines_after_indexing_updating_moving_and_deleting(either: Desk) -> None:
    desk = either
    chosen = random.Random(3)
    service = desk.service
    desk.load([changed(number, chosen) for number in range(40)])
    assert_equal_to_the_engine(service)
    operations.index(service, ACME, [changed(number, chosen) for number in range(20, 60)], batch_id=None)
    assert_equal_to_the_engine(service)
    operations.delete(service, ACME, doc_ids=[f"t{number}" for number in range(0, 60, 3)])
    assert_equal_to_the_engine(service)
    operations.index(service, ACME, [changed(number, chosen) for number in range(60)], batch_id=None)
    assert_equal_to_the_engine(service)


def test_documents_from_before_events_are_counted_too(desk: Desk) -> None:
    service = desk.service
    inner = service.engine._engine  # type: ignore[attr-defined]  # (as an earlier release wrote)
    service.ingester.over(inner).ingest(ACME, rows_of([record("old", "The refund arrived after nine days.", theme_id="refunds")]))
    desk.load([record("new", "The card was declined.", theme_id="cards")])
    assert_equal_to_the_engine(service)


def test_questions_are_counted_and_the_unanswered_named_with_their_words(desk: Desk) -> None:
    desk.load([record("t1", "The refund arrived after nine days."), record("t2", "The card was declined in Lisbon.")])
    desk.ask("Where was the card declined?")
    refused = desk.ask("Who won the football match on Mars?")
    assert refused.refusal is not None
    found = operations.insights(desk.service, ACME)
    assert (found.answered, found.refused, found.refusal_rate) == (1, 1, 0.5)
    assert counts(found, "refusals") == {refused.refusal.reason.value: 1}
    (question,) = found.unanswered
    assert (question.run_id, question.text, question.reason) == (refused.run_id, refused.question, refused.refusal.reason.value)
    assert found.groundedness == 1.0
    assert "football" not in str(desk.service.events.projections.get(ACME).as_json())


def test_a_writer_that_was_killed_is_counted_once_its_time_is_up(desk: Desk) -> None:
    service = desk.service
    desk.load([record("t1", "The refund arrived after nine days.")])
    intents = WriteIntents(service.state, desk.clock)
    intents.open(ACME, "documents.deleted", [{"id": "t1", "version": 1, "day": "2026-11-12", "source": "support_ticket"}])
    service.engine._engine.delete(ACME, ["t1"])  # type: ignore[attr-defined]
    assert operations.insights(service, ACME).documents == 1
    desk.clock.instant += OPEN_FOR + timedelta(seconds=1)
    assert_equal_to_the_engine(service)


def test_with_redis_the_reader_leaves_relaying_to_the_workers_and_says_what_waits(tmp_path: Path) -> None:
    with open_desk(tmp_path, redis_url="redis://127.0.0.1:1/0") as desk:
        desk.load([record("t1", "The refund arrived after nine days.")])
        found = operations.insights(desk.service, ACME)
        assert (found.documents, found.waiting) == (0, 1)


def test_erasing_a_tenant_leaves_no_event_no_log_and_no_count(either: Desk) -> None:
    desk = either
    service = desk.service
    desk.load([record("t1", "The refund arrived after nine days.")])
    operations.insights(service, ACME)
    desk.load([record("t2", "The card was declined in Lisbon.")])
    desk.ask("Where was the card declined?")
    operations.delete(service, ACME, confirm=True)
    assert service.state.outbox() == ()
    for kind in ("projection", "event_page", "event_head", "write_intent", "counts_baseline"):
        assert list(service.state.scan(kind)) == []
    assert service.events.bus.forget(ACME) == 0
    found = operations.insights(service, ACME)
    assert (found.documents, found.answered, found.events, found.days) == (0, 0, 0, ())
    desk.load([record("t3", "The parcel was late.")])
    assert_equal_to_the_engine(service)


def test_deletes_of_an_account_are_counted(desk: Desk) -> None:
    desk.load([record("t1", "The refund arrived after nine days.", account_id="a"), record("t2", "The card was declined in Lisbon.")])
    delete_documents(desk.service.engine, desk.service.state, ACME, account_id="a")
    assert_equal_to_the_engine(desk.service)


@pytest.mark.parametrize("questions", [-1, 101])
def test_how_many_questions_are_named_is_bounded(desk: Desk, questions: int) -> None:
    with pytest.raises(Exception, match="must be 0 to 100"):
        operations.insights(desk.service, ACME, questions=questions)
