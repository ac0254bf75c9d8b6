"""The duty of taking what was erased out of everything that was kept of it; until it has run, words of deleted documents are withheld in reading."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from runtime.clock import Clock
from runtime.errors import Conflict, NotFound
from runtime.tenancy import Tenant
from search.ingest.erasure import ERASURE
from search.ingest.receipts import Receipt, Receipts
from search.ports import Engine, StateEntry, StateStore
from worker.duties import Queue, Work
from worker.monitors.store import KIND as MONITOR
from worker.shelves import Erased, Shelf

ROUND = "trace_scrub"
"""The kind of the one entry of a tenant that says how far what it keeps was gone through, and for which erasures."""

MOST_MARKS = 1_000
"""Erasures one pass settles; those beyond wait for the next."""


@dataclass(frozen=True, slots=True)
class ScrubTraces:
    """Implements :class:`worker.duties.Duty`. A round goes through all shelves of a tenant, once for all erasures that are older than ``longest_run``:
    what was being answered while documents were deleted is stored by then. ``page`` is how many entries one piece looks at. A piece that is done twice
    changes nothing."""

    state: StateStore
    engine: Engine
    shelves: Mapping[str, Shelf]
    clock: Clock
    longest_run: timedelta
    page: int = 200
    name: str = "scrub_traces"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:
        """One piece for each tenant with erasures that are not settled: the next of its pass."""
        tenants = dict.fromkeys(tenant for tenant, mark in self.state.scan(ERASURE) if mark.created_at + self.longest_run <= now)
        return [self._piece(tenant, *self._place(tenant)) for tenant in tenants]

    def do(self, work: Work) -> Iterable[Work]:
        """Scrub one page; at the end of the last shelf the erasures the pass began with are settled."""
        tenant, place = work.tenant, work.key
        marks = self._marks(tenant)
        if place != self._place(tenant) or not marks:
            return ()
        following, removed = self._page(self._erased(tenant, marks), *self._place(tenant))
        for mark in marks:
            self._note(tenant, mark, removed, complete=following is None)
        if following is None:
            self.state.remove(tenant, ERASURE, [mark.entry_id for mark in marks])
            self.state.remove(tenant, ROUND, [ROUND])
            return ()
        with suppress(Conflict):
            self._keep(tenant, following, marks)
        return (self._piece(tenant, *following),)

    def at_once(self, tenant: Tenant, receipt: Receipt, account: str | None) -> Receipt:
        """Go through every shelf now, for one erasure, so that whoever asked for it sees what was removed. What is being answered at this moment is
        left to the pass that comes later, and completes the receipt."""
        erased = Erased(self.engine, tenant, (account,) if account is not None else ())
        removed: Counter[str] = Counter()
        for shelf in self.shelves.values():
            passed = shelf.scrub(erased, first=self.page, after=None)
            removed.update(passed.removed)
            while passed.cursor is not None:
                passed = shelf.scrub(erased, first=self.page, after=passed.cursor)
                removed.update(passed.removed)
        left = {} if account is None else self._left(tenant, account)
        return Receipts(self.state).add(tenant, receipt.receipt_id, removed, left=left)

    def _page(self, erased: Erased, shelf: str, cursor: str) -> tuple[tuple[str, str] | None, Counter[str]]:
        """What one piece removed, and where the next begins."""
        names = list(self.shelves)
        removed: Counter[str] = Counter()
        looked = 0
        for at in range(names.index(shelf), len(names)):
            if looked >= self.page:
                return (names[at], ""), removed
            passed = self.shelves[names[at]].scrub(erased, first=self.page - looked, after=cursor or None)
            removed.update(passed.removed)
            if passed.cursor is not None:
                return (names[at], passed.cursor), removed
            looked, cursor = looked + passed.looked, ""
        return None, removed

    def _erased(self, tenant: Tenant, marks: Iterable[StateEntry]) -> Erased:
        return Erased(self.engine, tenant, tuple(dict.fromkeys(mark.body["account"] for mark in marks if mark.body.get("account"))))

    def _note(self, tenant: Tenant, mark: StateEntry, removed: Mapping[str, int], *, complete: bool) -> None:
        """What one pass removed for several erasures is in the receipt of each: nobody can tell for which of them it was."""
        receipts = Receipts(self.state)
        with suppress(NotFound, Conflict):
            receipt_id = mark.body.get("receipt", mark.entry_id)
            receipt = receipts.get(tenant, receipt_id)
            if receipt.state == "deleted" and complete:
                if receipt.scope == "tenant":
                    self.engine.expunge(tenant)
                receipts.add(tenant, receipt_id, removed, state="complete", at=self.clock.now())
            elif any(removed.values()):
                receipts.add(tenant, receipt_id, removed)

    def _left(self, tenant: Tenant, account: str) -> dict[str, int]:
        """What its owner wrote and names the account still: monitors."""
        named, after = 0, None
        while True:
            entries, after = self.state.entries(tenant, MONITOR, first=self.page, after=after)
            named += sum(Erased(self.engine, tenant, (account,)).unnamed(entry.body) != entry.body for entry in entries)
            if after is None:
                return {"monitors": named} if named else {}

    def _piece(self, tenant: Tenant, shelf: str, cursor: str) -> Work:
        return Work(self.name, tenant, (shelf, cursor))

    def _place(self, tenant: Tenant) -> tuple[str, str]:
        entry = self.state.get(tenant, ROUND, ROUND)
        first = next(iter(self.shelves))
        return (first, "") if entry is None else (entry.body.get("shelf", first), entry.body["cursor"])

    def _marks(self, tenant: Tenant) -> tuple[StateEntry, ...]:
        """The erasures of the pass that is under way, or of one that begins now."""
        entry = self.state.get(tenant, ROUND, ROUND)
        if entry is None:
            return tuple(self._old_marks(tenant))
        found = (self.state.get(tenant, ERASURE, mark) for mark in entry.body["marks"])
        marks = tuple(mark for mark in found if mark is not None)
        if not marks:  # settled by somebody who died before saying so
            self.state.remove(tenant, ROUND, [ROUND])
        return marks

    def _old_marks(self, tenant: Tenant) -> Iterator[StateEntry]:
        before, after, left = self.clock.now() - self.longest_run, None, MOST_MARKS
        while left > 0:
            found, after = self.state.entries(tenant, ERASURE, first=min(left, 500), after=after)
            old = [entry for entry in found if entry.created_at <= before]
            left -= len(old)
            yield from old
            if after is None:
                return

    def _keep(self, tenant: Tenant, place: tuple[str, str], marks: Iterable[StateEntry]) -> None:
        entry = self.state.get(tenant, ROUND, ROUND)
        expected = 0 if entry is None else entry.version
        body = {"shelf": place[0], "cursor": place[1], "marks": [mark.entry_id for mark in marks]}
        self.state.put(tenant, ROUND, ROUND, body, expected=expected)
