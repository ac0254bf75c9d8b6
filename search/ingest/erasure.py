"""Documents out: by id, by account, or everything of a tenant."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from runtime.errors import InvalidRequest, Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from search.ingest.epochs import Epochs
from search.ingest.receipts import Receipt, Receipts, Scope
from search.passages import split
from search.ports import Engine, StateStore

_PER_CALL = 1_000

ERASURE = "erasure"
"""The kind of a mark in the state store: documents were deleted since, or are about to be, and what was kept of them is to be gone through. Its id is
that of the receipt, or begins with it. While it is there, it names the account or the documents that were erased, for rows of them that wait to be
stored; it goes when everything was gone through."""


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """How many live documents were deleted, and their ids; of a whole tenant only the number."""

    deleted: int
    doc_ids: tuple[str, ...] = ()
    receipt: Receipt | None = field(default=None, compare=False)


def delete_documents(
    engine: Engine,
    state: StateStore,
    tenant: Tenant,
    *,
    doc_ids: Sequence[str] | None = None,
    account_id: str | None = None,
    everything: bool = False,
    by: str = "",
) -> DeleteReport:
    """Delete the named documents, those of an account, or all the tenant has; gone from the next call on, on every engine. ``by`` is who asked for it.

    Single documents keep a tombstone, so that a late replay does not bring them back. ``everything`` also removes tombstones, traces and
    all other state of the tenant: afterwards it is as if it had never been there, but for the receipts of its erasures. State goes first, so that work
    in progress for the tenant sees that it is not wanted any more and stops writing documents, and once more at the end, for what was noted meanwhile.

    Raises:
        InvalidRequest: not exactly one of the three is given, or it is empty.
    """
    if [doc_ids is not None, account_id is not None, everything].count(True) != 1:
        raise InvalidRequest("give ids, or an account, or everything: exactly one of them", field="doc_ids")
    if (doc_ids is not None and not (doc_ids and all(doc_ids))) or (account_id is not None and not account_id.strip()):
        raise _empty("account_id" if account_id is not None else "doc_ids")
    scope: Scope = "tenant" if everything else "account" if account_id is not None else "ids"
    epoch = Epochs(state).end(tenant, whole=everything).some
    receipt = Receipts(state).open(tenant, scope, by, account_id, epoch=epoch)
    removed: Counter[str] = Counter()
    if everything:
        deleted: tuple[str, ...] = ()
        removed["passages"] = engine.corpus(tenant).passages
        removed["state_entries"] = state.erase(tenant)
        removed["documents"] = engine.erase(tenant)
        removed["state_entries"] += state.erase(tenant)
    else:
        _mark(state, tenant, receipt, account_id, doc_ids or ())
        deleted = _of_account(engine, tenant, account_id, removed) if account_id is not None else _by_id(engine, tenant, doc_ids or ())
        removed["documents"] = len(deleted)
    if everything:
        _mark(state, tenant, receipt, None, ())
    receipt = Receipts(state).add(tenant, receipt.receipt_id, removed, state="deleted")
    return DeleteReport(removed["documents"], deleted, receipt)


def _mark(state: StateStore, tenant: Tenant, receipt: Receipt, account_id: str | None, doc_ids: Sequence[str]) -> None:
    """One mark, or several where there are many documents."""
    for start in range(0, max(1, len(doc_ids)), _PER_CALL):
        mark_id = f"{receipt.receipt_id}-{start}" if start else receipt.receipt_id
        body = {
            "account": account_id,
            "doc_ids": [*doc_ids[start : start + _PER_CALL]],
            "epoch": receipt.epoch,
            "receipt": receipt.receipt_id,
        }
        state.put(tenant, ERASURE, mark_id, body, expected=0)


def _empty(field_name: str) -> InvalidRequest:
    return InvalidRequest("is empty" if field_name == "account_id" else "name at least one document, none of them empty", field=field_name)


def _by_id(engine: Engine, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(doc_ids))
    deleted: list[str] = []
    for start in range(0, len(distinct), _PER_CALL):
        deleted += engine.delete(tenant, distinct[start : start + _PER_CALL])
    return tuple(deleted)


def _of_account(engine: Engine, tenant: Tenant, account_id: str, removed: Counter[str]) -> tuple[str, ...]:
    """Deletes the first page until there is none: what another process adds meanwhile goes too."""
    filters = Filters(account_ids=(account_id,))
    gone: list[str] = []
    engine.refresh(tenant)
    while documents := engine.documents(tenant, filters, first=_PER_CALL).documents:
        deleted = engine.delete(tenant, [document.doc_id for document in documents])
        if not deleted:
            raise Unavailable("the store still shows documents that it says are deleted; delete the account again", dependency="engine")
        removed["passages"] += sum(len(split(document)) for document in documents if document.doc_id in deleted)
        gone += deleted
    return tuple(gone)
