"""What is kept in the state store and may hold words of documents, shelf by shelf, and how they leave it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from grounding.traces import KIND as TRACE
from grounding.traces import TraceStore
from runtime.errors import Conflict, NotFound
from runtime.tenancy import Tenant
from search.ports import Engine, StateEntry, StateStore
from worker.erased import without_name
from worker.jobs.erasing import spared
from worker.jobs.job import Job
from worker.jobs.outcome import ChunkOutcome, RejectedRow
from worker.jobs.store import Jobs
from worker.monitors.digest import digest_as_json, digest_from_json, spoken_of, without
from worker.monitors.digests import KIND as DIGEST
from worker.monitors.store import HELD_KIND

WITHHELD = "[withheld: its document was erased]"
_PER_CALL = 1_000


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: documents, as the engine knows them, and the accounts that a pass is about."""

    engine: Engine
    tenant: Tenant
    accounts: tuple[str, ...] = ()

    def among(self, doc_ids: Iterable[str]) -> frozenset[str]:
        """Those of these ids that are not there any more."""
        asked, gone = tuple(dict.fromkeys(doc_ids)), set[str]()
        for start in range(0, len(asked), _PER_CALL):
            part = asked[start : start + _PER_CALL]
            known = self.engine.stored(self.tenant, part)
            gone |= {doc_id for doc_id in part if doc_id not in known or known[doc_id].deleted}
        return frozenset(gone)

    def deleted(self, doc_ids: Iterable[str]) -> frozenset[str]:
        """Those of these ids that were there and were deleted."""
        asked = tuple(dict.fromkeys(doc_ids))
        known: dict[str, Any] = {}
        for start in range(0, len(asked), _PER_CALL):
            known |= self.engine.stored(self.tenant, asked[start : start + _PER_CALL])
        return frozenset(doc_id for doc_id, found in known.items() if found.deleted)

    def unnamed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """A body without the names of the accounts."""
        for account in self.accounts:
            body = without_name(body, account)
        return body


@dataclass(frozen=True, slots=True)
class Passed:
    """One page of a shelf: where to go on (None at its end), how many entries were looked at, and how much was taken out, by kind."""

    cursor: str | None
    looked: int
    removed: Mapping[str, int]


class Shelf(Protocol):
    """Entries of one kind. Going through a page twice changes nothing."""

    def scrub(self, erased: Erased, *, first: int, after: str | None) -> Passed:
        """Take what was erased out of the next ``first`` entries, newest first. What somebody else changes meanwhile is left to them."""
        ...


Scrubbed = Callable[[Erased, Sequence[StateEntry]], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class EntryShelf:
    """Entries that are changed each for itself. ``bodies`` gives what each is to hold; ``called`` is what they are counted as."""

    state: StateStore
    kind: str
    called: str
    bodies: Scrubbed

    def scrub(self, erased: Erased, *, first: int, after: str | None) -> Passed:
        """See :class:`Shelf`."""
        entries, cursor = self.state.entries(erased.tenant, self.kind, first=first, after=after)
        changed = 0
        for entry, body in zip(entries, self.bodies(erased, entries), strict=True):
            if body != entry.body:
                with suppress(Conflict):
                    self.state.put(
                        erased.tenant, self.kind, entry.entry_id, body, labels=entry.labels, facts=entry.facts, expected=entry.version
                    )
                    changed += 1
        return Passed(cursor, len(entries), {self.called: changed})


@dataclass(frozen=True, slots=True)
class TraceShelf:
    """The traces of runs."""

    traces: TraceStore

    def scrub(self, erased: Erased, *, first: int, after: str | None) -> Passed:
        """See :class:`Shelf`. Words first, then names, each by compare-and-set."""
        cursor, looked, changed = self.traces.scrub(erased.tenant, first=first, after=after)
        if erased.accounts:
            named = EntryShelf(self.traces.state, TRACE, "traces", unnamed_bodies).scrub(erased, first=first, after=after)
            changed = max(changed, named.removed["traces"])
        return Passed(cursor, looked, {"traces": changed})


def unnamed_bodies(erased: Erased, entries: Sequence[StateEntry]) -> list[Mapping[str, Any]]:
    """The bodies without the names of the accounts."""
    return [erased.unnamed(entry.body) for entry in entries]


def digest_bodies(erased: Erased, entries: Sequence[StateEntry]) -> list[Mapping[str, Any]]:
    """The digests with the words of deleted documents withheld; they keep their version, since what they tell of has not changed."""
    digests = [digest_from_json(entry.entry_id, entry.body) for entry in entries]
    gone = erased.among(doc_id for digest in digests for doc_id in spoken_of(digest))
    return [
        erased.unnamed(digest_as_json(without(digest, gone)) if gone & {*spoken_of(digest)} else entry.body)
        for entry, digest in zip(entries, digests, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class JobShelf:
    """Rows that wait in ingest jobs, and rejected rows as they were read."""

    jobs: Jobs

    def scrub(self, erased: Erased, *, first: int, after: str | None) -> Passed:
        """See :class:`Shelf`. One job is one entry."""
        page = self.jobs.list(erased.tenant, first=first, after=after)
        parked = rejects = 0
        for job in page.jobs:
            with suppress(NotFound, Conflict):
                parked += sum(self._parked(erased, job, number) for number in _waiting(job))
                rejects += sum(self._rejects(erased, job, number) for number in range(job.next_chunk if job.rejected else 0))
        return Passed(page.cursor, len(page.jobs), {"parked_rows": parked, "rejects": rejects})

    def _parked(self, erased: Erased, job: Job, number: int) -> int:
        """Rows that were erased are counted where they leave; here those that were rejected when they were read."""
        chunk = spared(self.jobs.chunks, erased.tenant, job.job_id, number, job.parts)
        if chunk is None:
            return 0
        rejected, taken = _withheld(chunk.rejected, erased)
        if taken:
            self.jobs.chunks.replace(erased.tenant, job.job_id, number, replace(chunk, rejected=rejected), job.parts)
        return taken

    def _rejects(self, erased: Erased, job: Job, number: int) -> int:
        outcome = self.jobs.outcome(erased.tenant, job.job_id, number)
        if outcome is None:
            return 0
        rejected, taken = _withheld(outcome.rejected, erased)
        if taken:
            self.jobs.replace_outcome(erased.tenant, job.job_id, number, _with(outcome, rejected))
        return taken


def _withheld(rows: Sequence[RejectedRow], erased: Erased) -> tuple[tuple[RejectedRow, ...], int]:
    """Rejected rows of erased accounts and of deleted documents, without what they said."""
    deleted = erased.deleted(row.rejection.doc_id for row in rows if row.rejection.doc_id is not None)
    kept = [_without_words(row) if _concerns(row, deleted, erased.accounts) else row for row in rows]
    return tuple(kept), sum(one != other for one, other in zip(kept, rows, strict=True))


def _concerns(row: RejectedRow, deleted: frozenset[str], accounts: Sequence[str]) -> bool:
    original = row.original or {}
    named = {str(original.get(name)) for name in ("account_id", "accountId")}
    return row.rejection.doc_id in deleted or bool(named & {*accounts})


def _without_words(row: RejectedRow) -> RejectedRow:
    return RejectedRow(replace(row.rejection, reason=WITHHELD, doc_id=None), None)


def _with(outcome: ChunkOutcome, rejected: tuple[RejectedRow, ...]) -> ChunkOutcome:
    return replace(outcome, rejected=rejected)


def _waiting(job: Job) -> range:
    """Chunks of which rows may still be there."""
    return range(0) if job.state in ("done", "cancelled") and job.tidied else range(job.next_chunk, job.chunks)


def shelves(state: StateStore, traces: TraceStore, jobs: Jobs) -> Mapping[str, Shelf]:
    """Every shelf by name, in the order they are gone through."""
    return {
        "traces": TraceShelf(traces),
        "digests": EntryShelf(state, DIGEST, "digests", digest_bodies),
        "monitor_states": EntryShelf(state, HELD_KIND, "monitor_states", unnamed_bodies),
        "jobs": JobShelf(jobs),
    }
