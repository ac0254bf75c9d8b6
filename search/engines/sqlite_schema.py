"""The tables of a store file, and what makes a file one of ours."""

import sqlite3
from pathlib import Path

from runtime.errors import Misconfigured
from search.engines.sqlite_errors import broken, foreign

APPLICATION_ID = 0x57495344
"""``WISD`` in the file's header: tells our files from other SQLite databases."""

SCHEMA_VERSION = 3
"""Files of schema 1 have no outbox, those of 1 and 2 no facts of entries; they get them when they are opened."""

PASSAGE_BITS = 20
"""A passage's key is ``doc_no << 20 | number``, so that a document's passages are one range without an index of their own."""

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE tenants (
    tenant_no INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL DEFAULT 0, terms INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE documents (
    doc_no INTEGER PRIMARY KEY AUTOINCREMENT, tenant_no INTEGER NOT NULL, doc_id TEXT NOT NULL, version INTEGER NOT NULL,
    content_hash TEXT NOT NULL, group_key TEXT NOT NULL, occurred_ms INTEGER NOT NULL, source_kind TEXT NOT NULL, source_name TEXT NOT NULL,
    source_weight REAL NOT NULL, theme_id TEXT, account_id TEXT, rating REAL, language TEXT, url TEXT, title TEXT, attributes TEXT NOT NULL,
    text TEXT NOT NULL, terms BLOB NOT NULL,
    UNIQUE (tenant_no, doc_id)
);
CREATE INDEX documents_in_order ON documents (tenant_no, doc_no);
CREATE TABLE passages (
    passage_no INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, terms BLOB NOT NULL, vector BLOB NOT NULL
);
CREATE TABLE attributes (
    tenant_no INTEGER NOT NULL, term TEXT NOT NULL, doc_no INTEGER NOT NULL, PRIMARY KEY (tenant_no, term, doc_no)
) WITHOUT ROWID;
CREATE TABLE vocabulary (
    tenant_no INTEGER NOT NULL, term TEXT NOT NULL, term_no INTEGER NOT NULL, documents INTEGER NOT NULL, PRIMARY KEY (tenant_no, term)
) WITHOUT ROWID;
CREATE TABLE tombstones (
    tenant_no INTEGER NOT NULL, doc_id TEXT NOT NULL, version INTEGER NOT NULL, content_hash TEXT NOT NULL, PRIMARY KEY (tenant_no, doc_id)
) WITHOUT ROWID;
CREATE TABLE removals (
    generation INTEGER NOT NULL, tenant_no INTEGER NOT NULL, doc_no INTEGER NOT NULL, PRIMARY KEY (generation, tenant_no, doc_no)
) WITHOUT ROWID;
CREATE TABLE state (
    tenant TEXT NOT NULL, kind TEXT NOT NULL, entry_id TEXT NOT NULL, version INTEGER NOT NULL, created_ms INTEGER NOT NULL,
    labels TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (tenant, kind, entry_id)
);
CREATE INDEX state_newest ON state (tenant, kind, created_ms DESC, entry_id);
"""

_OUTBOX = """
CREATE TABLE outbox (
    place INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, event TEXT NOT NULL
);
CREATE INDEX outbox_of_tenant ON outbox (tenant);
CREATE INDEX state_of_kind ON state (kind, tenant, entry_id);
"""

_FACTS = "ALTER TABLE state ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'"


def is_empty(connection: sqlite3.Connection) -> bool:
    """True for a file that nobody has written to, or whose first writer died before the first commit."""
    marked = connection.execute("PRAGMA application_id").fetchone()[0]
    return not marked and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def create(connection: sqlite3.Connection, model: str, dimension: int) -> None:
    """Make the tables, inside the caller's write transaction: all of them or none."""
    _run(connection, _TABLES + _OUTBOX + _FACTS)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", [("model", model), ("dimension", dimension), ("generation", 0), ("pruned", 0)])
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def is_outdated(connection: sqlite3.Connection) -> bool:
    """True for a file of ours that an earlier release made and :func:`upgrade` brings up to date."""
    ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    return bool(ours and connection.execute("PRAGMA user_version").fetchone()[0] in (1, 2))


def upgrade(connection: sqlite3.Connection) -> None:
    """Add what an earlier schema lacks, inside the caller's write transaction."""
    outbox = _OUTBOX if connection.execute("PRAGMA user_version").fetchone()[0] == 1 else ""
    _run(connection, outbox + _FACTS)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _run(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)


def check(connection: sqlite3.Connection, path: Path, model: str, dimension: int) -> None:
    """Refuse what is not ours.

    Raises:
        Misconfigured: the file is of another program, of another release, or of another model.
    """
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise foreign(path)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != SCHEMA_VERSION:
        raise Misconfigured(
            f"{path} was made by another release (its schema is {version}, this one reads {SCHEMA_VERSION}); "
            "use that release, or name another file in WA_ENGINE_URL and ingest again"
        )
    stored = dict(connection.execute("SELECT name, value FROM meta"))
    if not {"model", "dimension"} <= stored.keys():
        raise broken(path)
    if (stored["model"], stored["dimension"]) != (model, dimension):
        raise Misconfigured(
            f"{path} holds vectors of {stored['model']} (dimension {stored['dimension']}), and WA_EMBEDDER asks for {model} "
            f"(dimension {dimension}); set WA_EMBEDDER back and change it with wisdom reembed, or name a new file in WA_ENGINE_URL and ingest again"
        )
