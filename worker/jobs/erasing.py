"""Rows that wait for the worker while their document or account is erased: they are not stored.

Erasures of a tenant are numbered (:mod:`search.ingest.epochs`), and a chunk knows how many there had been when it was handed in. So what was handed in
before an erasure and what came after it are told apart without asking any clock.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from runtime.errors import Conflict, NotFound
from runtime.tenancy import Tenant
from search.identity import content_hash
from search.ingest.epochs import Epochs
from search.ingest.erasure import ERASURE
from search.ingest.parsing import parse_document
from search.ingest.receipts import Receipt, Receipts
from search.ports import DocumentStore, StateEntry, StateStore
from worker.jobs.chunks import Chunks, GoneRow, WaitingChunk, WaitingRow
from worker.jobs.intents import Versions
from worker.jobs.resuming import AS_READ

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure of an account or of documents."""

    receipt_id: str
    field: str
    concerns: Callable[[WaitingRow], bool]


def erasures_after(state: StateStore, tenant: Tenant, epoch: int) -> tuple[Erasure, ...]:
    """The erasures that began after this epoch. Those of documents are known until everything that waited at that time was gone through."""
    if Epochs(state).now(tenant).some <= epoch:
        return ()
    accounts = Receipts(state).accounts_after(tenant, epoch)
    marks = [mark for mark in _marks(state, tenant) if mark.body.get("epoch", 0) > epoch]
    return (*map(_of_account, accounts), *(_of_documents(mark) for mark in marks if mark.body.get("doc_ids")))


def _of_account(receipt: Receipt) -> Erasure:
    return Erasure(receipt.receipt_id, "account_id", lambda row: receipt.of_account(str(row.values.get("account_id", ""))))


def _of_documents(mark: StateEntry) -> Erasure:
    doc_ids = frozenset(mark.body["doc_ids"])
    return Erasure(mark.body["receipt"], "doc_id", lambda row: row.values["doc_id"] in doc_ids)


def _marks(state: StateStore, tenant: Tenant) -> Iterator[StateEntry]:
    after: str | None = None
    while True:
        found, after = state.entries(tenant, ERASURE, first=_PAGE, after=after)
        yield from found
        if after is None:
            return


def spared(chunks: Chunks, tenant: Tenant, job_id: str, number: int, parts: int) -> WaitingChunk | None:
    """The chunk as it is to be stored: rows that were erased leave it, also where it is kept, and are counted in the receipts of their erasures. None
    when it is not there (any more)."""
    chunk = chunks.read(tenant, job_id, number)
    if chunk is None:
        return None
    after, gone = without_erased(chunk, erasures_after(chunks.state, tenant, chunk.epoch))
    if gone:
        chunks.replace(tenant, job_id, number, after, parts)
        for receipt_id, rows in gone.items():
            with suppress(NotFound, Conflict):
                Receipts(chunks.state).add(tenant, receipt_id, {"parked_rows": rows})
    return after


def without_erased(chunk: WaitingChunk, erasures: Sequence[Erasure]) -> tuple[WaitingChunk, Counter[str]]:
    """The chunk with erased rows named instead, so that its counts still add up, and how many they were by receipt."""
    found = [(row, next((each for each in erasures if each.concerns(row)), None)) for row in chunk.rows]
    kept = tuple(row for row, erasure in found if erasure is None)
    gone = tuple(_gone(row, erasure.field) for row, erasure in found if erasure is not None)
    counted = Counter(erasure.receipt_id for _, erasure in found if erasure is not None)
    return replace(chunk, rows=kept, gone=(*chunk.gone, *gone)), counted


def _gone(row: WaitingRow, field: str) -> GoneRow:
    return GoneRow(row.number, field, row.values["doc_id"], content_hash(parse_document(row.values, AS_READ).document))


def left_behind(gone: Sequence[GoneRow], before: Versions, store: DocumentStore, tenant: Tenant) -> list[str]:
    """Documents that the store holds as one of these rows had it, and did not hold ``before`` the chunk was taken up."""
    doc_ids = sorted({row.doc_id for row in gone})
    held = store.stored(tenant, doc_ids) if doc_ids else {}
    said = {(row.doc_id, row.content_hash) for row in gone}
    return [
        doc_id
        for doc_id, found in held.items()
        if not found.deleted and found != before.get(doc_id) and (doc_id, found.content_hash) in said
    ]
