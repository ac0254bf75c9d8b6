"""A store file, read only: nothing in it changes, not even its schema."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np

from runtime.errors import Misconfigured, NotFound
from runtime.events import Event, event_from_json
from runtime.tenancy import Tenant
from search.documents import DocumentWrite, Passage, StoredVersion, passage_id
from search.engines import document_rows
from search.engines.intervals import instant
from search.engines.sqlite_errors import foreign, translated
from search.engines.sqlite_schema import APPLICATION_ID, PASSAGE_BITS, SCHEMA_VERSION
from search.moving.archive import PAGE
from search.ports import StateEntry
from search.state_facts import facts_from_json

BUSY_TIMEOUT_S = 15.0


class SqliteArchive:
    """Implements :class:`search.moving.archive.Archive` over one connection; for one thread."""

    def __init__(self, path: Path) -> None:
        self._path = path = path.absolute()
        self._connection = opened_for_reading(path)
        with translated(path):
            stored = dict(self._connection.execute("SELECT name, value FROM meta"))
        self.location = f"sqlite:///{path}"
        self.model, self.dimension = str(stored["model"]), int(stored["dimension"])

    def tenants(self) -> tuple[Tenant, ...]:
        """See :class:`search.moving.archive.Archive`."""
        with self._reading() as connection:
            return tuple(Tenant(name) for (name,) in connection.execute(_TENANTS))

    def total(self, tenant: Tenant) -> int:
        """See :class:`search.moving.archive.Archive`."""
        with self._reading() as connection:
            return int(connection.execute(_TOTAL, (tenant,)).fetchone()[0])

    def documents(self, tenant: Tenant) -> Iterator[tuple[DocumentWrite, ...]]:
        """See :class:`search.moving.archive.Archive`."""
        after = ""
        while True:
            with self._reading() as connection:
                rows = connection.execute(_DOCUMENTS, (tenant, after, PAGE)).fetchall()
                writes = _writes(connection, rows, self.dimension)
            if not writes:
                return
            yield writes
            after = writes[-1].document.doc_id

    def tombstones(self, tenant: Tenant) -> Iterator[Mapping[str, StoredVersion]]:
        """See :class:`search.moving.archive.Archive`."""
        after = ""
        while True:
            with self._reading() as connection:
                rows = connection.execute(_TOMBSTONES, (tenant, after, PAGE)).fetchall()
            if not rows:
                return
            yield {doc_id: StoredVersion(version, content_hash, deleted=True) for doc_id, version, content_hash in rows}
            after = rows[-1][0]

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.moving.archive.Archive`."""
        with self._reading() as connection:
            tenant_no = document_rows.tenant_number(connection, tenant)
            return {} if tenant_no is None else document_rows.versions(connection, tenant_no, doc_ids)

    def entries(self, tenant: Tenant) -> Iterator[tuple[StateEntry, ...]]:
        """See :class:`search.moving.archive.Archive`."""
        place = ("", "")
        while True:
            with self._reading() as connection:
                rows = connection.execute(_ENTRIES, (tenant, *place, PAGE)).fetchall()
            if not rows:
                return
            yield tuple(_entry(*row) for row in rows)
            place = (rows[-1][0], rows[-1][1])

    def events(self, tenant: Tenant) -> tuple[Event, ...]:
        """See :class:`search.moving.archive.Archive`."""
        with self._reading() as connection:
            rows = connection.execute("SELECT event FROM outbox WHERE tenant = ? ORDER BY place", (tenant,))
            return tuple(event_from_json(json.loads(text)) for (text,) in rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A short read transaction, so that writers of the file can empty their log."""
        with translated(self._path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")


def opened_for_reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, to a store file of this release.

    Raises:
        NotFound: there is no such file.
        Misconfigured: it is no store, damaged, or of another release.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    with translated(path):
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            _check(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise foreign(path)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version < SCHEMA_VERSION:
        raise Misconfigured(
            f"{path} was made by an earlier release; wisdom stats --engine sqlite:///{path} brings it up to date, then repeat this"
        )
    if version > SCHEMA_VERSION:
        raise Misconfigured(
            f"{path} was made by a later release (its schema is {version}, this one reads {SCHEMA_VERSION}); use that release"
        )


def _writes(connection: sqlite3.Connection, rows: Sequence[tuple[int, str, str]], dimension: int) -> tuple[DocumentWrite, ...]:
    documents = document_rows.documents_of(connection, [doc_no for doc_no, _, _ in rows])
    found = []
    for doc_no, content_hash, group_key in rows:
        document = documents[doc_no]
        spans = connection.execute(_PASSAGES, (doc_no << PASSAGE_BITS, ((doc_no + 1) << PASSAGE_BITS) - 1)).fetchall()
        passages = tuple(
            Passage(passage_id(document.doc_id, number), document.doc_id, number, first, last, document.text[first:last])
            for number, (first, last, _) in enumerate(spans)
        )
        vectors = np.frombuffer(b"".join(vector for _, _, vector in spans), dtype=np.float32).reshape(-1, dimension)
        found.append(DocumentWrite(document, document.version, content_hash, group_key, passages, vectors))
    return tuple(found)


def _entry(kind: str, entry_id: str, version: int, created_ms: int, labels: str, body: str, facts: str) -> StateEntry:
    return StateEntry(
        kind, entry_id, version, instant(created_ms), json.loads(body), json.loads(labels), facts_from_json(json.loads(facts))
    )


_TENANTS = "SELECT name FROM tenants UNION SELECT tenant FROM state UNION SELECT tenant FROM outbox ORDER BY 1"
_TOTAL = "SELECT count(*) FROM tenants t JOIN documents d ON d.tenant_no = t.tenant_no WHERE t.name = ?"
_DOCUMENTS = """
SELECT d.doc_no, d.content_hash, d.group_key FROM tenants t JOIN documents d ON d.tenant_no = t.tenant_no
WHERE t.name = ? AND d.doc_id > ? ORDER BY d.doc_id LIMIT ?
"""
_PASSAGES = "SELECT first, last, vector FROM passages WHERE passage_no BETWEEN ? AND ? ORDER BY passage_no"
_TOMBSTONES = """
SELECT s.doc_id, s.version, s.content_hash FROM tenants t JOIN tombstones s ON s.tenant_no = t.tenant_no
WHERE t.name = ? AND s.doc_id > ? ORDER BY s.doc_id LIMIT ?
"""
_ENTRIES = """
SELECT kind, entry_id, version, created_ms, labels, body, facts FROM state
WHERE tenant = ? AND (kind, entry_id) > (?, ?) ORDER BY kind, entry_id LIMIT ?
"""
