"""Rows of an account that is erased while they wait, or while they are being stored, are not stored afterwards."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentWrite, Filters, WriteOutcome
from search.ingest.erasure import ERASURE, delete_documents
from search.ingest.masking import Masking
from search.ingest.parsing import Defaults
from search.ingest.receipts import Receipts
from tests.search.ingest.conftest import ticket
from tests.worker.jobs.bench import Bench
from tests.worker.jobs.dying import Ended
from worker.jobs.chunks import ERASED
from worker.scrubbing import ScrubTraces
from worker.shelves import JobShelf


def rows() -> list[dict[str, object]]:
    return [ticket(f"t-{n}", f"text {n}", account_id="a" if n % 2 else "b") for n in range(6)]


BY: dict[str, dict[str, Any]] = {"account_id": {"account_id": "a"}, "doc_id": {"doc_ids": ["t-1", "t-3", "t-5", "never seen"]}}
"""The same rows, erased by their account or by their ids."""

by_both = pytest.mark.parametrize("by", BY)


def erase(bench: Bench, by: str) -> str:
    receipt = delete_documents(bench.engine, bench.state, bench.tenant, **BY[by]).receipt
    assert receipt is not None
    return receipt.receipt_id


def parked(bench: Bench, receipt_id: str) -> int:
    """Waiting rows that the receipt says were dropped."""
    return Receipts(bench.state).get(bench.tenant, receipt_id).removed.get("parked_rows", 0)


def gone_through(bench: Bench) -> None:
    """The worker's pass over everything that is kept."""
    duty = ScrubTraces(bench.state, bench.engine, {"jobs": JobShelf(bench.jobs)}, SystemClock(), -timedelta(seconds=5))
    waiting = [work for work in duty.due(SystemClock().now()) if work.tenant == bench.tenant]
    while waiting:
        waiting += duty.do(waiting.pop(0))


def accounts(bench: Bench) -> set[str | None]:
    bench.engine.refresh(bench.tenant)
    return {document.account_id for document in bench.engine.documents(bench.tenant, EVERYTHING).documents}


@by_both
@pytest.mark.parametrize("scrubbed", [False, True])
def test_rows_that_wait_are_rejected_and_the_counts_add_up(both: Bench, by: str, scrubbed: bool) -> None:
    bench = both
    job = bench.hand_in(rows())
    receipt_id = erase(bench, by)
    if scrubbed:
        gone_through(bench)
        assert bench.state.entries(bench.tenant, ERASURE) == ((), None)
    bench.finish()
    ended = bench.jobs.get(bench.tenant, job.job_id)
    assert (ended.state, ended.received, ended.indexed, ended.rejected) == ("done", 6, 3, 3)
    assert {row.rejection.reason for row in bench.jobs.rejected(bench.tenant, job.job_id)} == {ERASED[by]}
    assert accounts(bench) == {"b"}
    assert parked(bench, receipt_id) == 3
    gone_through(bench)
    assert parked(bench, receipt_id) == 3


@by_both
def test_rows_handed_in_after_the_erasure_are_stored(both: Bench, by: str) -> None:
    bench = both
    first = bench.hand_in(rows())
    erase(bench, by)
    later = bench.hand_in([{**row, "text": f"{row['text']} again"} for row in rows()])
    gone_through(bench)
    bench.finish()
    assert bench.job(first).rejected == 3
    assert bench.job(later).rejected == 0
    assert accounts(bench) == {"a", "b"}


@by_both
def test_of_a_job_that_is_being_handed_in_the_later_chunks_are_stored(desk: Bench, by: str) -> None:
    """Also where they repeat what an earlier chunk said."""
    bench = desk

    def given() -> Iterator[dict[str, object]]:
        yield from rows() + [ticket(f"f-{n}", f"filling {n}", account_id="b") for n in range(5)]
        erase(bench, by)
        yield from rows()

    job = bench.hand_in(given())
    bench.finish()
    ended = bench.job(job)
    assert (ended.state, ended.received, ended.rejected) == ("done", 17, 3)
    assert accounts(bench) == {"a", "b"}


class Erasing:
    """A store whose documents are written just after somebody erased some and looked for them; with ``killed`` the process ends then."""

    def __init__(self, bench: Bench, by: str, *, killed: bool = False) -> None:
        self._bench, self._by, self._killed = bench, by, killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bench.engine, name)

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        erase(self._bench, self._by)
        outcomes = self._bench.engine.write(tenant, writes)
        if self._killed:
            raise Ended
        return outcomes


def begin(bench: Bench, store: Any) -> None:
    for work in list(bench.worker(store=store).due(bench.clock.now())):
        if work.tenant == bench.tenant:
            list(bench.worker(store=store).do(work))


@by_both
def test_what_is_being_stored_while_it_is_erased_goes_again(both: Bench, by: str) -> None:
    bench = both
    bench.hand_in(rows())
    begin(bench, Erasing(bench, by))
    bench.finish()
    assert bench.engine.documents(bench.tenant, Filters(account_ids=("a",))).total == 0
    assert accounts(bench) == {"b"}


@by_both
@pytest.mark.parametrize("scrubbed", [False, True])
def test_what_a_killed_worker_stored_while_it_was_erased_goes_when_the_chunk_is_done_again(both: Bench, by: str, scrubbed: bool) -> None:
    bench = both
    job = bench.hand_in(rows())
    with pytest.raises(Ended):
        begin(bench, Erasing(bench, by, killed=True))
    assert accounts(bench) == {"a", "b"}
    if scrubbed:
        gone_through(bench)
    bench.finish()
    assert accounts(bench) == {"b"}
    ended = bench.job(job)
    assert (ended.state, ended.received, ended.indexed, ended.rejected) == ("done", 6, 3, 3)


def test_rows_are_masked_before_they_wait(desk: Bench) -> None:
    bench = desk
    given = [ticket("t-1", "mail ana@example.org"), ticket("t-2", "ring bob@example.org", occurred_at="by ana@example.org")]
    job = bench.hand_in(given, defaults=Defaults(masking=Masking(frozenset({"email"}))))
    assert dict(job.masked) == {"email": 3}
    chunk = bench.jobs.chunks.read(bench.tenant, job.job_id, 0)
    assert "example.org" not in repr(chunk)
    bench.finish()
    assert "example.org" not in repr([*bench.jobs.rejected(bench.tenant, job.job_id)])
    assert dict(bench.jobs.report(bench.tenant, bench.jobs.get(bench.tenant, job.job_id)).masked) == {"email": 3}
