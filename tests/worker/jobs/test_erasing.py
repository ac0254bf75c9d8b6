"""Rows of an account that is erased while they wait, or while they are being stored, are not stored afterwards."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentWrite, Filters, WriteOutcome
from search.ingest.erasure import delete_documents
from search.ingest.masking import Masking
from search.ingest.parsing import Defaults
from tests.search.ingest.conftest import ticket
from tests.worker.jobs.bench import Bench
from worker.jobs.erasing import ACCOUNT_ERASED


def rows() -> list[dict[str, object]]:
    return [ticket(f"t-{n}", f"text {n}", account_id="a" if n % 2 else "b") for n in range(6)]


def erase(bench: Bench) -> None:
    delete_documents(bench.engine, bench.state, bench.tenant, account_id="a")


def accounts(bench: Bench) -> set[str | None]:
    bench.engine.refresh(bench.tenant)
    return {document.account_id for document in bench.engine.documents(bench.tenant, EVERYTHING).documents}


def test_rows_that_wait_are_rejected_and_the_counts_add_up(both: Bench) -> None:
    bench = both
    job = bench.hand_in(rows())
    erase(bench)
    bench.finish()
    ended = bench.jobs.get(bench.tenant, job.job_id)
    assert (ended.state, ended.received, ended.indexed, ended.rejected) == ("done", 6, 3, 3)
    assert {row.rejection.reason for row in bench.jobs.rejected(bench.tenant, job.job_id)} == {ACCOUNT_ERASED}
    assert accounts(bench) == {"b"}


def test_rows_handed_in_after_the_erasure_are_stored(desk: Bench) -> None:
    bench = desk
    erase(bench)
    bench.clock.instant = datetime.now(UTC) + timedelta(seconds=1)  # the store has a clock of its own here
    bench.hand_in(rows())
    bench.finish()
    assert accounts(bench) == {"a", "b"}


def test_what_is_being_stored_while_its_account_is_erased_goes_again(both: Bench) -> None:
    bench = both

    class Erasing:
        """An engine whose documents are written just after somebody erased an account and looked for them."""

        def __getattr__(self, name: str) -> Any:
            return getattr(bench.engine, name)

        def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
            erase(bench)
            return bench.engine.write(tenant, writes)

    bench.hand_in(rows())
    worker = bench.worker(store=Erasing())
    for work in list(worker.due(bench.clock.now())):
        list(worker.do(work))
    bench.finish()
    assert bench.engine.documents(bench.tenant, Filters(account_ids=("a",))).total == 0
    assert accounts(bench) == {"b"}


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
