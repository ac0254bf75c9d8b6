"""The embedded engine: one SQLite file as the durable truth, words and vectors in memory beside it.

Every read opens a read transaction and brings the tenant's memory to that moment, so a commit of any process is seen by the next call of every
other, and the rows fetched for a ranking are those that were ranked.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from runtime.clock import Clock, Deadline
from runtime.errors import DeadlineExceeded
from runtime.tenancy import Tenant
from search.analysis import query_terms
from search.documents import (
    Corpus,
    Document,
    DocumentPage,
    DocumentWrite,
    Filters,
    StoredVersion,
    WriteOutcome,
)
from search.engines import document_rows
from search.engines.buckets import counted
from search.engines.columns import Mask, group_number
from search.engines.embedded_months import EmbeddedMonths
from search.engines.embedded_state import EmbeddedState
from search.engines.filtering import passing
from search.engines.limits import MAX_BUCKET_IDS, MAX_IDS, MAX_PAGE, check_query, check_writes, flaw, within
from search.engines.matching import matching
from search.engines.ordering import after as later
from search.engines.ordering import decoded, encoded, newest
from search.engines.overview import overview
from search.engines.recent_candidates import RecentCandidates
from search.engines.selection import Ranked, best
from search.engines.shelf import Shelf, ShelfView
from search.engines.sqlite_store import SqliteStore
from search.engines.vocabulary import term_numbers
from search.filters import zone_named
from search.ranking import BucketQuery, Buckets, Candidate, GroupMembers, LegHit, LegName, LegQuery, Legs
from search.versions import Decision, decide, is_behind

_GROUP_ENDINGS = 1 << 16
_SHELVES = 64
"""Tenants kept in memory; the one longest unused makes room."""


@contextmanager
def open_embedded(path: Path, *, model: str, dimension: int, clock: Clock) -> Iterator["EmbeddedEngine"]:
    """The engine over a store file, made when missing, closed at the end.

    Raises:
        Misconfigured: the file is damaged, of another program or release, or was made with another model; says the way out.
        Unavailable: the disk is full, or another process holds the file.
    """
    engine = EmbeddedEngine(SqliteStore(path, model=model, dimension=dimension), clock)
    try:
        yield engine
    finally:
        engine.close()


class EmbeddedEngine:
    """Implements :class:`search.ports.Engine`; safe to use from many threads."""

    def __init__(self, store: SqliteStore, clock: Clock) -> None:
        self._store = store
        self._shelves: OrderedDict[Tenant, Shelf] = OrderedDict()
        self._corpora: dict[Tenant, Corpus] = {}
        self._recent = RecentCandidates()
        self._lock = Lock()
        self.state = EmbeddedState(store, clock)
        self.months = EmbeddedMonths(store)

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.ports.Engine`."""
        within(len(doc_ids), 0, MAX_IDS, "doc_ids")
        with self._store.reading() as connection:
            tenant_no = document_rows.tenant_number(connection, tenant)
            return {} if tenant_no is None else document_rows.versions(connection, tenant_no, doc_ids)

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :class:`search.ports.Engine`."""
        check_writes(writes)
        flaws = {write.document.doc_id: found for write in writes if (found := flaw(write, self._store.dimension))}
        sound = [write for write in writes if write.document.doc_id not in flaws]
        decisions = self._written(tenant, sound) if sound else {}
        outcomes = {doc_id: _outcome(doc_id, decision) for doc_id, decision in decisions.items()}
        outcomes |= {doc_id: WriteOutcome(doc_id, "rejected", 0, reason, field) for doc_id, (field, reason) in flaws.items()}
        return tuple(outcomes[write.document.doc_id] for write in writes)

    def _written(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> dict[str, Decision]:
        with self._store.writing() as connection:
            tenant_no = document_rows.entered_tenant(connection, tenant)
            known = document_rows.versions(connection, tenant_no, [write.document.doc_id for write in writes])
            decisions = {
                write.document.doc_id: decide(known.get(write.document.doc_id), write.asked_version, write.content_hash) for write in writes
            }
            changing = [write for write in writes if decisions[write.document.doc_id].writes]
            if changing:
                doc_ids = [write.document.doc_id for write in changing]
                document_rows.remove(connection, tenant_no, doc_ids, document_rows.next_generation(connection, tenant_no))
                document_rows.unbury(connection, tenant_no, doc_ids)
                analysed = [document_rows.analysed(write, decisions[write.document.doc_id].version) for write in changing]
                document_rows.insert(connection, tenant_no, analysed)
        return decisions

    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`; here every commit is visible at once."""

    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """See :class:`search.ports.Engine`."""
        wanted = list(dict.fromkeys(doc_ids))
        removed: dict[str, StoredVersion] = {}
        with self._store.writing() as connection:
            tenant_no = document_rows.tenant_number(connection, tenant)
            if tenant_no is None or not document_rows.any_live(connection, tenant_no, wanted):
                return ()
            generation = document_rows.next_generation(connection, tenant_no)
            for start in range(0, len(wanted), MAX_IDS):
                removed |= document_rows.remove(connection, tenant_no, wanted[start : start + MAX_IDS], generation)
            document_rows.bury(connection, tenant_no, removed)
        self._store.forget_log()
        return tuple(doc_id for doc_id in wanted if doc_id in removed)

    def bury(self, tenant: Tenant, deleted: Mapping[str, StoredVersion]) -> None:
        """See :class:`search.moving.archive.Receiver`."""
        within(len(deleted), 0, MAX_IDS, "deleted")
        with self._store.writing() as connection:
            tenant_no = document_rows.entered_tenant(connection, tenant)
            known = document_rows.versions(connection, tenant_no, list(deleted))
            older = {doc_id: each for doc_id, each in deleted.items() if is_behind(known.get(doc_id), each)}
            live = [doc_id for doc_id in older if doc_id in known and not known[doc_id].deleted]
            if older:
                document_rows.remove(connection, tenant_no, live, document_rows.next_generation(connection, tenant_no))
                document_rows.bury(connection, tenant_no, older)
        self._store.forget_log()

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`."""
        with self._store.writing() as connection:
            tenant_no = document_rows.tenant_number(connection, tenant)
            live = 0 if tenant_no is None else document_rows.erase(connection, tenant_no)
        self._store.forget_log()
        with self._lock:
            self._shelves.pop(tenant, None)
            self._corpora.pop(tenant, None)
        return live

    def expunge(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`. What is freed in the file is overwritten at once."""

    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """See :class:`search.ports.Engine`."""
        with self._store.reading() as connection:
            tenant_no = document_rows.tenant_number(connection, tenant)
            return None if tenant_no is None else document_rows.document_of(connection, tenant_no, doc_id)

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :class:`search.ports.Engine`."""
        within(first, 1, MAX_PAGE, "first")
        place = decoded(after) if after is not None else None
        with self._moment(tenant) as (connection, view):
            rows = np.flatnonzero(matching(connection, view, passing(connection, view, filters), match))
            rest = later(view.columns, rows, place) if place else rows
            page = newest(view.columns, rest, first)
            doc_nos = [int(view.columns.doc_nos[row]) for row in page]
            found = document_rows.documents_of(connection, doc_nos)
        more = len(rest) > len(page)
        cursor = encoded((int(view.columns.occurred_ms[page[-1]]), view.columns.doc_ids[page[-1]])) if more else None
        return DocumentPage(tuple(found[doc_no] for doc_no in doc_nos), len(rows), cursor)

    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        """See :class:`search.ports.Engine`."""
        check_query(query, self._store.dimension)
        with self._moment(tenant) as (connection, view):
            documents = passing(connection, view, query.filters)
            passages = view.passages_of(documents)
            lost: dict[LegName, str] = {}
            lexical = _leg("lexical", lambda: _lexical(connection, view, passages, query), deadline, lost)
            vector = _leg("vector", lambda: _vector(view, passages, query), deadline, lost)
            if len(lost) > 1:
                raise DeadlineExceeded("no time left for the search; ask for less, or again with a larger time budget")
            lexical_hits, vector_hits = self._hits(connection, view, lexical, vector)
        return Legs(lexical_hits, vector_hits, int(np.count_nonzero(documents)), lost)

    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, *, first: int = 100) -> Mapping[str, GroupMembers]:
        """See :class:`search.ports.Engine`."""
        within(first, 0, MAX_PAGE, "first")
        with self._moment(tenant) as (connection, view):
            rows = np.flatnonzero(passing(connection, view, filters))
        members = _in_groups(view.columns.groups, rows, group_keys)
        return {key: _members(view, held, first) for key, held in members.items() if len(held)}

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :class:`search.ports.Engine`."""
        within(query.ids_per_bucket, 0, MAX_BUCKET_IDS, "ids_per_bucket")
        zone_named(query.time_zone)
        with self._moment(tenant) as (connection, view):
            scope = passing(connection, view, query.filters)
            rows = np.flatnonzero(matching(connection, view, scope, query.match))
        buckets, without = counted(view.columns, rows, query)
        return Buckets(buckets, len(rows), int(np.count_nonzero(scope)), without, view.generation)

    def corpus(self, tenant: Tenant) -> Corpus:
        """See :class:`search.ports.Engine`."""
        with self._moment(tenant) as (_, view):
            known = self._corpora.get(tenant)
            if known is None or known.generation != view.generation:
                known = self._corpora[tenant] = overview(view, self._store.model, self._store.dimension)
            return known

    def generation(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`."""
        with self._store.reading() as connection:
            found = connection.execute("SELECT generation FROM tenants WHERE name = ?", (tenant,)).fetchone()
            return found[0] if found else 0

    def describe(self) -> Mapping[str, str]:
        """See :class:`search.ports.Engine`."""
        with self._store.reading() as connection:
            connection.execute("SELECT count(*) FROM meta").fetchone()
        return {
            "engine": "embedded",
            "version": f"SQLite {sqlite3.sqlite_version}",
            "location": str(self._store.path),
            "model": self._store.model,
            "dimension": str(self._store.dimension),
        }

    def close(self) -> None:
        """See :class:`search.ports.Engine`."""
        self._store.close()
        self._shelves.clear()

    def _hits(self, connection: sqlite3.Connection, view: ShelfView, *legs: Ranked) -> list[tuple[LegHit, ...]]:
        found = self._candidates(connection, view, list({row: None for leg in legs for row, _ in leg}))
        return [tuple(LegHit(found[row], score, rank) for rank, (row, score) in enumerate(leg, start=1)) for leg in legs]

    def _candidates(self, connection: sqlite3.Connection, view: ShelfView, rows: Sequence[int]) -> dict[int, Candidate]:
        numbers = dict(zip(rows, view.passage_nos(rows), strict=True))
        known = self._recent.known(numbers.values())
        made = document_rows.candidates_of(connection, view.passage_places([row for row in rows if numbers[row] not in known]))
        self._recent.keep({numbers[row]: candidate for row, candidate in made.items()})
        return made | {row: known[number] for row, number in numbers.items() if number in known}

    @contextmanager
    def _moment(self, tenant: Tenant) -> Iterator[tuple[sqlite3.Connection, ShelfView]]:
        """A read transaction, and the tenant as it is in it."""
        with self._store.reading() as connection:
            yield connection, self._shelf(tenant).at(connection)

    def _shelf(self, tenant: Tenant) -> Shelf:
        with self._lock:
            shelf = self._shelves.get(tenant)
            if shelf is None:
                shelf = self._shelves[tenant] = Shelf(tenant, self._store.dimension)
            self._shelves.move_to_end(tenant)
            if len(self._shelves) > _SHELVES:
                oldest, _ = self._shelves.popitem(last=False)
                self._corpora.pop(oldest, None)
            return shelf


def _outcome(doc_id: str, decision: Decision) -> WriteOutcome:
    return WriteOutcome(doc_id, decision.kind, decision.version, decision.reason, decision.field)


def _leg(name: LegName, ranked: Callable[[], Ranked], deadline: Deadline | None, lost: dict[LegName, str]) -> Ranked:
    if deadline is not None and deadline.remaining_s() <= 0.0:
        lost[name] = "no time was left for it"
        return []
    return ranked()


def _lexical(connection: sqlite3.Connection, view: ShelfView, passages: Mask, query: LegQuery) -> Ranked:
    counts = query_terms(query.text)
    numbers = term_numbers(connection, view.tenant_no, counts)
    scores = view.lexical.scores({numbers[term]: count for term, count in counts.items() if term in numbers})
    rows = np.flatnonzero((scores > 0) & passages)
    return best(rows, scores[rows], query.depth, view.passage_name)


def _vector(view: ShelfView, passages: Mask, query: LegQuery) -> Ranked:
    if query.vector is None:
        return []
    rows, scores = view.dense.nearest(np.ascontiguousarray(query.vector, dtype=np.float32), passages, query.depth)
    return best(rows, scores, query.depth, view.passage_name)


def _in_groups(groups: NDArray[np.int64], rows: NDArray[np.int64], keys: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """The rows of each group. Most rows are told apart by the last bits of their group's number alone."""
    numbers = {key: group_number(key) for key in keys}
    sought = np.zeros(_GROUP_ENDINGS, dtype=bool)
    sought[[number % _GROUP_ENDINGS for number in numbers.values()]] = True
    likely = rows[sought[groups[rows] & (_GROUP_ENDINGS - 1)]]
    found = groups[likely]
    return {key: likely[found == number] for key, number in numbers.items()}


def _members(view: ShelfView, rows: NDArray[np.int64], first: int) -> GroupMembers:
    doc_ids = sorted(view.columns.doc_ids[row] for row in rows)
    return GroupMembers(len(rows), tuple(doc_ids[:first]))
