"""Whatever was done with documents, after their erasure and one look of the worker no byte of them is kept anywhere."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api import operations
from grounding.answers import Outcome
from grounding.evaluation.cases import Case, EvalSet, Expected
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import Filters
from search.ingest.rows import rows_of
from tests.servers import remove_prefix
from tests.worker.canaries import ACCOUNT, CANARY, found_in_cluster, found_in_file, until_quiet
from worker.opening import Service, open_service

ACME: Tenant = tenant_named("acme")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
QUESTION = "Did a loyalty card fail to arrive?"


def ticket(number: int, *, ours: bool = True, **fields: Any) -> dict[str, Any]:
    word = CANARY if ours else "plain"
    return {
        "doc_id": f"t-{number}",
        "text": f"The loyalty card number {number} never arrived although I ordered a {word} one.",
        "title": f"Loyalty {word}",
        "source": "support_ticket",
        "occurred_at": "2026-11-30T09:30:00Z",
        "account_id": ACCOUNT if ours else "other",
        "url": f"https://desk.example/{word}/{number}",
        "attributes": {"plan": word},
    } | fields


@dataclass(frozen=True, slots=True)
class Place:
    service: Service
    clock: SettableClock
    where: Any

    def found(self) -> list[str]:
        """Where a canary is left."""
        return found_in_file(self.where) if isinstance(self.where, Path) else found_in_cluster(*self.where)

    def ask(self, question: str, **options: Any) -> Outcome:
        return operations.ask(self.service, ACME, question, top_k=8, **options)


LIVE = pytest.mark.live("opensearch")


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=LIVE), pytest.param("opensearch-pool", marks=LIVE)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    clock, path = SettableClock(NOW), tmp_path / "store.db"
    settings: dict[str, Any] = {"engine_url": f"sqlite:///{path}", "job_chunk_rows": 2, "embedder_threads": 1}
    where: Any = path
    if request.param != "embedded":
        url, prefix = request.getfixturevalue("opensearch_url"), "t" + uuid.uuid4().hex[:12]
        settings |= {"engine_url": url, "index_prefix": prefix, "placement": "pool" if request.param == "opensearch-pool" else "own"}
        where = (url, prefix)
    try:
        with open_service(read_settings({}, **settings), clock) as service:
            yield Place(service, clock, where)
    finally:
        if request.param != "embedded":
            remove_prefix(*where)


def fill(place: Place) -> None:
    """Use every feature that keeps something."""
    service = place.service
    service.ingester.ingest(ACME, rows_of([ticket(n, ours=n % 2 == 0) for n in range(8)]))
    assert place.ask(QUESTION).answer is not None
    assert place.ask(QUESTION, filters=Filters(account_ids=(ACCOUNT,))).answer is not None
    for question in ("How many tickets for each account?", f"How many tickets of {ACCOUNT}?", "Who invented the telephone?"):
        place.ask(question)
    operations.by_theme(service, ACME, None, Filters(account_ids=(ACCOUNT,)), 10)
    condition = {
        "name": "Cards",
        "question": "How many loyalty cards never arrived?",
        "condition": {"countAtLeast": 1},
        "windowMinutes": 1440,
    }
    service.saving.save(ACME, condition)
    done = service.handing_in.hand_in(ACME, rows_of([ticket(20), ticket(21, occurred_at=f"no {CANARY} date")]), source="first")
    until_quiet(service, place.clock)
    assert service.jobs.get(ACME, done.job_id).state == "done"
    assert service.digests.list(ACME).digests[0].claims
    cases = (Case("c1", QUESTION, Expected(answered=True, documents=("t-0",))),)
    service.evaluations.run(ACME, EvalSet("set", cases, "d1"))
    rows = [ticket(30), ticket(31, ours=False), ticket(32, occurred_at=f"no {CANARY} date"), ticket(33), ticket(34, ours=False)]
    service.handing_in.hand_in(ACME, rows_of(rows), source="second")
    assert place.found()


def settle(place: Place) -> None:
    place.clock.instant += timedelta(minutes=11)
    until_quiet(place.service, place.clock)


def test_of_an_erased_account_nothing_is_left_anywhere(place: Place) -> None:
    fill(place)
    report = operations.delete(place.service, ACME, account_id=ACCOUNT, confirm=True, by="someone")
    assert report.receipt is not None
    removed = report.receipt.removed
    assert removed["documents"] == report.deleted == 5
    assert removed["passages"] == 5
    assert {"traces", "digests", "parked_rows", "rejects", "cache_entries"} <= removed.keys()
    assert (report.receipt.scope, report.receipt.by, report.receipt.state) == ("account", "someone", "deleted")
    settle(place)
    assert place.found() == []
    receipt = place.service.receipts.get(ACME, report.receipt.receipt_id)
    assert (receipt.state, receipt.of_account(ACCOUNT), receipt.of_account("other")) == ("complete", True, False)
    (second,) = [job for job in place.service.jobs.list(ACME).jobs if job.source == "second"]
    assert (second.state, second.received, second.indexed, second.rejected) == ("done", 5, 2, 3)
    assert place.service.engine.corpus(ACME).documents == 6


def test_of_documents_erased_by_id_no_word_is_left(place: Place) -> None:
    fill(place)
    until_quiet(place.service, place.clock)
    ours = place.service.engine.documents(ACME, Filters(account_ids=(ACCOUNT,)), first=100).documents
    report = operations.delete(place.service, ACME, doc_ids=[*(document.doc_id for document in ours), "t-21", "t-32"])
    assert report.deleted == len(ours) == 7
    settle(place)
    assert [where for where in place.found() if CANARY in where and "ingest_" not in where] == []


def test_of_an_erased_tenant_nothing_is_left_but_the_receipt(place: Place) -> None:
    fill(place)
    report = operations.delete(place.service, ACME, confirm=True)
    assert report.receipt is not None
    assert place.found() == []
    settle(place)
    assert place.found() == []
    (receipt,) = place.service.receipts.list(ACME).receipts
    assert (receipt.receipt_id, receipt.scope, receipt.state) == (report.receipt.receipt_id, "tenant", "complete")
    assert place.service.receipts.list(tenant_named("birch")).receipts == ()
