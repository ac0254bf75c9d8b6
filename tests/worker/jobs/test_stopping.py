"""Cancelled, failed, tried again, broken off."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest, NotFound, Unavailable
from search.ingest.erasure import delete_documents
from search.ingest.rows import Row, RowSource, rows_of
from tests.search.ingest.conftest import ticket
from tests.worker.jobs.bench import Bench, counted
from tests.worker.jobs.dying import Ended, Life, Mortal
from tests.worker.jobs.test_crashes import die
from worker.duties import Work
from worker.jobs.duty import IngestJobs
from worker.jobs.handing_in import HandingIn
from worker.jobs.job import SILENCE, Job
from worker.jobs.store import Jobs
from worker.queues.dead_letters import DeadLetters


def tickets(count: int) -> list[dict[str, object]]:
    return [ticket(f"t-{n}", f"text {n}") for n in range(count)]


def no_rows_left(desk: Bench) -> bool:
    return all(desk.state.entries(desk.tenant, kind, first=10) == ((), None) for kind in ("ingest_chunk", "ingest_intent"))


def next_work(desk: Bench) -> Work:
    return next(work for work in desk.duty.due(desk.clock.now()) if work.tenant == desk.tenant)


def ended(desk: Bench) -> dict[str, float]:
    samples = (sample for metric in desk.metrics.registry.collect() for sample in metric.samples)
    return {sample.labels["outcome"]: sample.value for sample in samples if sample.name == "wa_jobs_total" and sample.value}


def test_a_waiting_job_is_cancelled_at_once_and_its_rows_are_removed(both: Bench) -> None:
    job = both.hand_in(tickets(25))
    cancelled = both.jobs.cancel(both.tenant, job.job_id)
    assert (cancelled.state, cancelled.received, cancelled.tidied) == ("cancelled", 0, True)
    assert no_rows_left(both)
    assert both.jobs.cancel(both.tenant, job.job_id) == cancelled
    both.finish()
    assert both.engine.corpus(both.tenant).documents == 0
    assert ended(both) == {"cancelled": 1}


def test_a_job_in_progress_finishes_its_chunk_and_then_stops(both: Bench) -> None:
    job = both.hand_in(tickets(25))
    both.duty.do(next_work(both))
    seen: list[Job] = []

    class Cancelling:
        def __init__(self, store: Any) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            if name == "write" and not seen:
                seen.append(both.jobs.cancel(both.tenant, job.job_id))
            return getattr(self._store, name)

    assert [*both.worker(store=Cancelling(both.engine)).do(next_work(both))] == []
    assert (seen[0].state, seen[0].cancelling) == ("running", True)
    assert both.job(job).state == "cancelled"
    assert counted(both.report(job)) == {"received": 20, "indexed": 20}
    assert both.engine.corpus(both.tenant).documents == 20
    assert no_rows_left(both)
    assert both.report(job).interrupted


def test_cancelling_behind_a_worker_that_died_finishes_its_chunk_with_a_true_report(desk: Bench) -> None:
    job = desk.hand_in(tickets(25))
    with pytest.raises(Ended):
        desk.worker(store=Mortal(desk.engine, Life(1, after=True, end=die))).do(next_work(desk))
    assert desk.jobs.cancel(desk.tenant, job.job_id).cancelling
    desk.finish()
    assert (desk.job(job).state, counted(desk.report(job))) == ("cancelled", {"received": 10, "indexed": 10})
    assert no_rows_left(desk)


def test_a_job_that_is_done_stays_done(desk: Bench) -> None:
    job = desk.hand_in(tickets(3))
    desk.finish()
    assert desk.jobs.cancel(desk.tenant, job.job_id).state == "done"
    with pytest.raises(InvalidRequest, match="only a failed job"):
        desk.jobs.retry(desk.tenant, job.job_id)


def test_a_job_cancelled_while_it_is_handed_in_reads_no_further(desk: Bench) -> None:
    read: list[int] = []

    def rows() -> Iterator[Row]:
        for number in range(1, 1_001):
            read.append(number)
            if number == 35:
                desk.jobs.cancel(desk.tenant, desk.jobs.list(desk.tenant).jobs[0].job_id)
            yield Row(number, ticket(f"t-{number}"))

    job = desk.handing_in.hand_in(desk.tenant, RowSource(rows()), source="test")
    assert (job.state, len(read)) == ("cancelled", 40)
    assert no_rows_left(desk)


def test_a_job_is_visible_and_may_begin_while_rows_are_still_handed_in(desk: Bench) -> None:
    seen: list[Job] = []

    def rows() -> Iterator[Row]:
        for number in range(1, 31):
            if number == 16:
                desk.finish()
                seen.append(desk.jobs.list(desk.tenant).jobs[0])
            yield Row(number, ticket(f"t-{number}"))

    job = desk.handing_in.hand_in(desk.tenant, RowSource(rows()), source="test")
    assert (seen[0].state, seen[0].complete, seen[0].handed_in, seen[0].received) == ("running", False, 10, 10)
    desk.finish()
    assert (desk.job(job).state, desk.job(job).received) == ("done", 30)


def test_an_interrupted_handing_in_is_a_failed_job_that_says_so(desk: Bench) -> None:
    def rows() -> Iterator[Row]:
        yield from (Row(number, ticket(f"t-{number}")) for number in range(1, 16))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.handing_in.hand_in(desk.tenant, RowSource(rows()), source="test")
    job = desk.jobs.list(desk.tenant).jobs[0]
    assert job.state == "failed"
    assert "broke off behind row 10" in (job.error or "")
    assert no_rows_left(desk)
    with pytest.raises(InvalidRequest, match="hand the input in again"):
        desk.jobs.retry(desk.tenant, job.job_id)


def test_whoever_hands_in_and_vanishes_leaves_a_job_that_ends_after_a_while(desk: Bench, clock: SettableClock) -> None:
    def rows() -> Iterator[Row]:
        yield from (Row(number, ticket(f"t-{number}")) for number in range(1, 16))
        raise Ended

    vanished = HandingIn(Jobs(Mortal(desk.state, Life(3, after=False, end=die)), clock, desk.metrics), clock, desk.settings)
    with pytest.raises(Ended):
        vanished.hand_in(desk.tenant, RowSource(rows()), source="test")
    desk.finish()
    job = desk.jobs.list(desk.tenant).jobs[0]
    assert (job.state, job.received) == ("running", 10)
    clock.instant += SILENCE + timedelta(seconds=1)
    desk.finish()
    assert desk.job(job).state == "failed"
    assert "broke off behind row 10" in (desk.job(job).error or "")
    assert counted(desk.report(job)) == {"received": 10, "indexed": 10}


def test_a_dependency_that_is_down_is_named_and_the_job_goes_on_later(desk: Bench) -> None:
    job = desk.hand_in(tickets(5))

    class Down:
        def __init__(self, store: Any) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            if name == "write":
                raise Unavailable("the engine does not answer", dependency="engine")
            return getattr(self._store, name)

    with pytest.raises(Unavailable):
        desk.worker(store=Down(desk.engine)).do(next_work(desk))
    assert desk.job(job).state == "running"
    assert "the engine does not answer" in (desk.job(job).error or "")
    desk.finish()
    assert (desk.job(job).state, desk.job(job).error) == ("done", None)
    assert counted(desk.report(job)) == {"received": 5, "indexed": 5}


def test_a_job_whose_chunk_became_a_dead_letter_has_failed_and_can_be_tried_again(desk: Bench) -> None:
    job, other = desk.hand_in(tickets(25)), desk.hand_in([ticket("other")])
    desk.duty.do(next_work(desk))
    letters = DeadLetters(desk.state, desk.clock)
    letters.write(Work("ingest_job", desk.tenant, (job.job_id, "1")), "KeyError at somewhere.py:1", 3)
    desk.finish()
    assert desk.job(other).state == "done"
    failed = desk.job(job)
    assert (failed.state, failed.received) == ("failed", 10)
    assert failed.error == "given up after 3 attempts: KeyError at somewhere.py:1"
    assert letters.list(desk.tenant) == ((), None)
    assert desk.jobs.retry(desk.tenant, job.job_id).state == "queued"
    desk.finish()
    assert counted(desk.report(job)) == {"received": 25, "indexed": 25}
    assert ended(desk) == {"failed": 1, "done": 2}


def test_a_failed_job_that_is_cancelled_leaves_no_rows(desk: Bench) -> None:
    job = desk.hand_in(tickets(25))
    desk.jobs.fail(desk.tenant, job.job_id, "broken")
    assert not no_rows_left(desk)
    assert desk.jobs.cancel(desk.tenant, job.job_id).state == "cancelled"
    assert no_rows_left(desk)


def test_a_job_whose_rows_are_lost_fails_and_says_so(desk: Bench) -> None:
    job = desk.hand_in(tickets(25))
    desk.jobs.chunks.remove(desk.tenant, job.job_id, [1], 1)
    desk.finish()
    assert desk.job(job).state == "failed"
    assert "chunk 2" in (desk.job(job).error or "")


def test_a_tenant_erased_meanwhile_takes_its_jobs_along(desk: Bench) -> None:
    desk.hand_in(tickets(25))
    work = next_work(desk)
    desk.state.erase(desk.tenant)
    assert [*desk.duty.do(work)] == []
    assert desk.engine.corpus(desk.tenant).documents == 0


class Erasing:
    """A store in which the tenant is erased right after one of its methods was called for the ``time``-th time."""

    def __init__(self, inner: Any, desk: Bench, method: str, time: int = 1) -> None:
        self._inner, self._desk, self._method, self._left = inner, desk, method, time

    def __getattr__(self, name: str) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            done = getattr(self._inner, name)(*given, **named)
            if name == self._method:
                self._left -= 1
                if self._left == 0:
                    delete_documents(self._desk.engine, self._desk.state, self._desk.tenant, everything=True)
            return done

        return called


def left_of(desk: Bench) -> list[str]:
    """The kinds of what is there of the tenant."""
    kinds = ("ingest_job", "ingest_chunk", "ingest_intent", "ingest_outcome", "dead_letter", "counts_baseline")
    documents = ["documents"] if desk.engine.corpus(desk.tenant).documents else []
    return [kind for kind in kinds if desk.state.entries(desk.tenant, kind, first=1)[0]] + documents


@pytest.mark.parametrize(
    ("rows", "where", "method", "time"),
    [
        ("good", "store", "stored", 1),
        *[(rows, "state", *when) for rows in ("good", "bad") for when in (("put", 1), ("put", 2), ("get", 2))],
    ],
)
def test_a_chunk_in_progress_brings_nothing_of_an_erased_tenant_back(desk: Bench, rows: str, where: str, method: str, time: int) -> None:
    desk.hand_in(tickets(25) if rows == "good" else [{"doc_id": "x"}] * 25)
    work = next_work(desk)
    inner = desk.engine if where == "store" else desk.state
    worker = desk.worker(**{where: Erasing(inner, desk, method, time)})
    assert [*worker.do(work)] == []
    assert left_of(desk) == []


def test_what_is_handed_in_while_its_tenant_is_erased_is_not_kept(desk: Bench) -> None:
    handing = HandingIn(Jobs(Erasing(desk.state, desk, "put", 3), desk.clock, desk.metrics), desk.clock, desk.settings)
    with pytest.raises(NotFound):
        handing.hand_in(desk.tenant, rows_of(tickets(35)), source="test")
    assert left_of(desk) == []


def test_the_duty_has_its_name_and_queue(desk: Bench) -> None:
    assert (desk.duty.name, desk.duty.queue) == ("ingest_job", "ingest")
    assert isinstance(desk.duty, IngestJobs)
