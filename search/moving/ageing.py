"""Entries of the state store that are older than a moment: counted, and removed."""

from collections.abc import Iterator
from datetime import datetime

from runtime.tenancy import Tenant
from search.ports import StateStore

_PAGE = 500


def older(state: StateStore, tenant: Tenant, kind: str, before: datetime) -> Iterator[tuple[str, ...]]:
    """The ids of a kind that were created before then, page by page. What was found may be removed before the next page is asked for."""
    after: str | None = None
    while True:
        entries, after = state.entries(tenant, kind, first=_PAGE, after=after)
        if old := tuple(entry.entry_id for entry in entries if entry.created_at < before):
            yield old
        if after is None:
            return


def count_older(state: StateStore, tenant: Tenant, kind: str, before: datetime) -> int:
    """How many there are; nothing is changed."""
    return sum(map(len, older(state, tenant, kind, before)))


def remove_older(state: StateStore, tenant: Tenant, kind: str, before: datetime) -> int:
    """Remove them; how many there were. Interrupted, it is run again."""
    return sum(state.remove(tenant, kind, ids) for ids in older(state, tenant, kind, before))
