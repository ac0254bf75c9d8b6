"""The duty of taking the words of deleted documents out of stored traces; until it has run they are withheld whenever a trace is read."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from grounding.traces import TraceStore
from runtime.clock import Clock
from runtime.errors import Conflict
from runtime.tenancy import Tenant
from search.ingest.erasure import ERASURE
from search.ports import StateStore
from worker.duties import Queue, Work

ROUND = "trace_scrub"
"""The kind of the one entry of a tenant that says how far its traces were gone through, and for which erasures."""

MOST_MARKS = 1_000
"""Erasures one pass settles; those beyond wait for the next."""


@dataclass(frozen=True, slots=True)
class ScrubTraces:
    """Implements :class:`worker.duties.Duty`. A round goes through all traces of a tenant, once for all erasures that are older than ``longest_run``:
    what was being answered while documents were deleted is stored by then. ``page`` is how many traces one piece looks at. A piece that is done twice
    changes nothing."""

    state: StateStore
    traces: TraceStore
    clock: Clock
    longest_run: timedelta
    page: int = 200
    name: str = "scrub_traces"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:
        """One piece for each tenant with erasures that are not settled: the next of its pass."""
        tenants = dict.fromkeys(tenant for tenant, mark in self.state.scan(ERASURE) if mark.created_at + self.longest_run <= now)
        return [self._piece(tenant, self._cursor(tenant)) for tenant in tenants]

    def do(self, work: Work) -> Iterable[Work]:
        """Scrub one page; at the end of the traces the erasures the pass began with are settled."""
        cursor, tenant = work.key[0], work.tenant
        if cursor != self._cursor(tenant):
            return ()
        marks = self._marks(tenant)
        if not marks:
            return ()
        following = self.traces.scrub(tenant, first=self.page, after=cursor or None)
        if following is None:
            self.state.remove(tenant, ERASURE, marks)
            self.state.remove(tenant, ROUND, [ROUND])
            return ()
        with suppress(Conflict):
            self._keep(tenant, following, marks)
        return (self._piece(tenant, following),)

    def _piece(self, tenant: Tenant, cursor: str) -> Work:
        return Work(self.name, tenant, (cursor,))

    def _cursor(self, tenant: Tenant) -> str:
        entry = self.state.get(tenant, ROUND, ROUND)
        return "" if entry is None else str(entry.body["cursor"])

    def _marks(self, tenant: Tenant) -> tuple[str, ...]:
        """The erasures of the pass that is under way, or of one that begins now."""
        entry = self.state.get(tenant, ROUND, ROUND)
        if entry is not None:
            return tuple(entry.body["marks"])
        return tuple(self._old_marks(tenant))

    def _old_marks(self, tenant: Tenant) -> Iterator[str]:
        before, after, left = self.clock.now() - self.longest_run, None, MOST_MARKS
        while left > 0:
            found, after = self.state.entries(tenant, ERASURE, first=min(left, 500), after=after)
            old = [entry.entry_id for entry in found if entry.created_at <= before]
            left -= len(old)
            yield from old
            if after is None:
                return

    def _keep(self, tenant: Tenant, cursor: str, marks: tuple[str, ...]) -> None:
        entry = self.state.get(tenant, ROUND, ROUND)
        expected = 0 if entry is None else entry.version
        self.state.put(tenant, ROUND, ROUND, {"cursor": cursor, "marks": list(marks)}, expected=expected)
