"""The state store of the embedded engine: small versioned JSON documents in the same file, and the outbox beside them."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runtime.clock import Clock
from runtime.errors import Conflict
from runtime.events import Event
from runtime.tenancy import Tenant
from search.engines.intervals import instant, milliseconds
from search.engines.limits import MAX_PAGE, within
from search.engines.ordering import decoded, encoded
from search.engines.sqlite_outbox import keep, pending, settle
from search.engines.sqlite_store import SqliteStore
from search.engines.state_json import as_json, event_json
from search.ports import StateEntry
from search.state_facts import Fact, facts_as_json, facts_from_json

Row = tuple[str, str, int, int, str, str, str]


class EmbeddedState:
    """Implements :class:`search.ports.StateStore`; safe to use from many threads."""

    def __init__(self, store: SqliteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def put(
        self,
        tenant: Tenant,
        kind: str,
        entry_id: str,
        body: Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
        expected: int | None = None,
        event: Event | None = None,
    ) -> StateEntry:
        """See :class:`search.ports.StateStore`."""
        written = (as_json(dict(labels or {}), "labels"), as_json(dict(body), "body"), as_json(facts_as_json(facts), "facts"))
        told = None if event is None else event_json(tenant, event)
        with self._store.writing(durable=False) as connection:
            version, created_ms = self._stored(connection, tenant, kind, entry_id)
            if expected is not None and expected != version:
                raise Conflict(f"{kind} {entry_id} is at version {version}, not {expected}; read it again, then repeat")
            row: Row = (kind, entry_id, version + 1, created_ms, *written)
            connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (tenant, *row))
            if event is not None and told is not None:
                keep(connection, event, told)
        return _entry(row)

    def adopt(self, tenant: Tenant, entries: Sequence[StateEntry]) -> int:
        """See :class:`search.moving.archive.StateReceiver`."""
        with self._store.writing() as connection:
            later = [each for each in entries if self._stored(connection, tenant, each.kind, each.entry_id)[0] < each.version]
            rows = [(tenant, *_row(each)) for each in later]
            connection.executemany("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return len(later)

    def _stored(self, connection: sqlite3.Connection, tenant: Tenant, kind: str, entry_id: str) -> tuple[int, int]:
        found = connection.execute(_VERSION, (tenant, kind, entry_id)).fetchone()
        return (found[0], found[1]) if found else (0, milliseconds(self._clock.now()))

    def get(self, tenant: Tenant, kind: str, entry_id: str) -> StateEntry | None:
        """See :class:`search.ports.StateStore`."""
        with self._store.reading() as connection:
            found = connection.execute(_GET, (tenant, kind, entry_id)).fetchone()
        return _entry(found) if found else None

    def entries(
        self,
        tenant: Tenant,
        kind: str,
        *,
        labels: Mapping[str, str] | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> tuple[tuple[StateEntry, ...], str | None]:
        """See :class:`search.ports.StateStore`."""
        within(first, 1, MAX_PAGE, "first")
        ms, entry_id = decoded(after) if after is not None else (None, "")
        wanted = {"tenant": tenant, "kind": kind, "labels": json.dumps(dict(labels or {})), "ms": ms, "id": entry_id, "count": first + 1}
        with self._store.reading() as connection:
            rows = connection.execute(_LIST, wanted).fetchall()
        page = rows[:first]
        cursor = encoded((page[-1][3], page[-1][1])) if len(rows) > first else None
        return tuple(_entry(row) for row in page), cursor

    def remove(self, tenant: Tenant, kind: str, entry_ids: Iterable[str]) -> int:
        """See :class:`search.ports.StateStore`."""
        with self._store.writing() as connection:
            rows = [(tenant, kind, entry_id) for entry_id in dict.fromkeys(entry_ids)]
            removed = (
                connection.executemany("DELETE FROM state WHERE tenant = ? AND kind = ? AND entry_id = ?", rows).rowcount if rows else 0
            )
        self._store.forget_log()
        return removed

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.StateStore`."""
        with self._store.writing() as connection:
            removed = connection.execute("DELETE FROM state WHERE tenant = ?", (tenant,)).rowcount
            connection.execute("DELETE FROM outbox WHERE tenant = ?", (tenant,))
        self._store.forget_log()
        return removed

    def scan(self, kind: str, *, labels: Mapping[str, str] | None = None) -> Iterator[tuple[Tenant, StateEntry]]:
        """See :class:`search.ports.StateStore`."""
        place = ("", "")
        while True:
            wanted = {"kind": kind, "labels": json.dumps(dict(labels or {})), "tenant": place[0], "id": place[1], "count": MAX_PAGE}
            with self._store.reading() as connection:
                rows = connection.execute(_SCAN, wanted).fetchall()
            for tenant, *row in rows:
                yield tenant, _entry(tuple(row))
            if len(rows) < MAX_PAGE:
                return
            place = (rows[-1][0], rows[-1][2])

    def outbox(self, *, first: int = 100) -> tuple[Event, ...]:
        """See :class:`search.ports.StateStore`."""
        within(first, 1, MAX_PAGE, "first")
        with self._store.reading() as connection:
            return pending(connection, first)

    def settle(self, events: Iterable[Event]) -> None:
        """See :class:`search.ports.StateStore`."""
        with self._store.writing(durable=False) as connection:
            settle(connection, events)


def _row(entry: StateEntry) -> Row:
    texts = as_json(dict(entry.labels), "labels"), as_json(dict(entry.body), "body"), as_json(facts_as_json(entry.facts), "facts")
    return (entry.kind, entry.entry_id, entry.version, milliseconds(entry.created_at), *texts)


def _entry(row: Row) -> StateEntry:
    kind, entry_id, version, created_ms, labels, body, facts = row
    known = facts_from_json(json.loads(facts))
    return StateEntry(kind, entry_id, version, instant(created_ms), json.loads(body), json.loads(labels), known)


_VERSION = "SELECT version, created_ms FROM state WHERE tenant = ? AND kind = ? AND entry_id = ?"
_GET = "SELECT kind, entry_id, version, created_ms, labels, body, facts FROM state WHERE tenant = ? AND kind = ? AND entry_id = ?"
_LABELLED = """NOT EXISTS (
        SELECT 1 FROM json_each(:labels) wanted
        WHERE NOT EXISTS (SELECT 1 FROM json_each(s.labels) held WHERE held.key = wanted.key AND held.value = wanted.value)
    )"""
_LIST = (
    """
SELECT kind, entry_id, version, created_ms, labels, body, facts FROM state s
WHERE tenant = :tenant AND kind = :kind
    AND (:ms IS NULL OR created_ms < :ms OR (created_ms = :ms AND entry_id > :id))
    AND """
    + _LABELLED
    + """
ORDER BY created_ms DESC, entry_id LIMIT :count
"""
)
_SCAN = (
    """
SELECT tenant, kind, entry_id, version, created_ms, labels, body, facts FROM state s
WHERE kind = :kind AND (tenant, entry_id) > (:tenant, :id) AND """
    + _LABELLED
    + """
ORDER BY tenant, entry_id LIMIT :count
"""
)
