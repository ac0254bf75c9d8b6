"""Documents out: by id, by account, or everything of a tenant."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime.errors import InvalidRequest, Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from search.ports import Engine, StateStore

_PER_CALL = 1_000

ERASURE = "erasure"
"""The kind of a mark in the state store: documents were deleted since, or are about to be."""

TRACES = "trace"
"""The kind of stored entries that may quote documents."""


@dataclass(frozen=True, slots=True)
class DeleteReport:
    """How many live documents were deleted, and their ids; of a whole tenant only the number."""

    deleted: int
    doc_ids: tuple[str, ...] = ()


def delete_documents(
    engine: Engine,
    state: StateStore,
    tenant: Tenant,
    *,
    doc_ids: Sequence[str] | None = None,
    account_id: str | None = None,
    everything: bool = False,
) -> DeleteReport:
    """Delete the named documents, those of an account, or all the tenant has; gone from the next call on, on every engine.

    Single documents keep a tombstone, so that a late replay does not bring them back. ``everything`` also removes tombstones, traces and
    all other state of the tenant: afterwards it is as if it had never been there. State goes first, so that work in progress for the tenant
    sees that it is not wanted any more and stops writing documents, and once more at the end, for what was noted meanwhile.

    Raises:
        InvalidRequest: not exactly one of the three is given, or it is empty.
    """
    if [doc_ids is not None, account_id is not None, everything].count(True) != 1:
        raise InvalidRequest("give ids, or an account, or everything: exactly one of them", field="doc_ids")
    if everything:
        state.erase(tenant)
        deleted = engine.erase(tenant)
        state.erase(tenant)
        return DeleteReport(deleted)
    _remember(state, tenant)
    if account_id is not None:
        return _report(_of_account(engine, tenant, account_id))
    return _report(_by_id(engine, tenant, tuple(doc_ids or ())))


def _remember(state: StateStore, tenant: Tenant) -> None:
    """Before anything is deleted: a mark that what was answered from it is to be gone through (``scrub_traces`` of the worker)."""
    traces, _ = state.entries(tenant, TRACES, first=1)
    if traces:
        state.put(tenant, ERASURE, uuid.uuid4().hex, {}, expected=0)


def _by_id(engine: Engine, tenant: Tenant, doc_ids: tuple[str, ...]) -> Iterator[str]:
    if not doc_ids or not all(doc_ids):
        raise InvalidRequest("name at least one document, none of them empty", field="doc_ids")
    distinct = tuple(dict.fromkeys(doc_ids))
    for start in range(0, len(distinct), _PER_CALL):
        yield from engine.delete(tenant, distinct[start : start + _PER_CALL])


def _of_account(engine: Engine, tenant: Tenant, account_id: str) -> Iterator[str]:
    """Deletes the first page until there is none: what another process adds meanwhile goes too."""
    if not account_id.strip():
        raise InvalidRequest("is empty", field="account_id")
    filters = Filters(account_ids=(account_id,))
    engine.refresh(tenant)
    while documents := engine.documents(tenant, filters, first=_PER_CALL).documents:
        deleted = engine.delete(tenant, [document.doc_id for document in documents])
        if not deleted:
            raise Unavailable("the store still shows documents that it says are deleted; delete the account again", dependency="engine")
        yield from deleted


def _report(deleted: Iterator[str]) -> DeleteReport:
    doc_ids = tuple(deleted)
    return DeleteReport(len(doc_ids), doc_ids)
