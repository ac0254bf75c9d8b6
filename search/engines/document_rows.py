"""Documents and their passages as rows of the store file: writing, removing and reading them inside a caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from runtime.tenancy import Tenant
from search.analysis import term_stream
from search.documents import Document, DocumentWrite, Passage, Source, StoredVersion, Vector, passage_id
from search.engines.attribute_terms import attribute_terms
from search.engines.intervals import instant, milliseconds
from search.engines.sqlite_schema import PASSAGE_BITS
from search.engines.vocabulary import Terms, forget, numbered, stream
from search.ranking import Candidate

_KEPT_GENERATIONS = 5_000
"""A process that slept through more writes than this reads the tenant anew."""


def lexical_text(title: str | None, text: str) -> str:
    """What the lexical leg indexes of a passage, and ``match`` of a document: the title counts everywhere."""
    return f"{title}\n{text}" if title else text


@dataclass(frozen=True, slots=True)
class Analysed:
    """A write with its words: those of the whole document, and those of each passage."""

    write: DocumentWrite
    version: int
    terms: Terms
    passage_terms: tuple[Terms, ...]


def analysed(write: DocumentWrite, version: int) -> Analysed:
    """Split the document's text into terms, under the version it is to be stored as."""
    return Analysed(write, version, *_streams(write.document.title, write.document.text, [passage.text for passage in write.passages]))


def _streams(title: str | None, text: str, passages: Sequence[str]) -> tuple[Terms, tuple[Terms, ...]]:
    """The terms of the whole text and of each passage."""
    terms = term_stream(lexical_text(title, text))
    if passages == [text]:
        return terms, (terms,)
    return terms, tuple(term_stream(lexical_text(title, passage)) for passage in passages)


def _held(terms: Terms, passage_terms: Sequence[Terms]) -> Terms:
    """All terms a document is filed under; a passage that ends inside a long word holds terms that the whole text does not."""
    return terms if len(passage_terms) == 1 else [*terms, *chain.from_iterable(passage_terms)]


def tenant_number(connection: sqlite3.Connection, tenant: Tenant) -> int | None:
    """The tenant's number; None for one without documents so far."""
    found = connection.execute("SELECT tenant_no FROM tenants WHERE name = ?", (tenant,)).fetchone()
    return found[0] if found else None


def entered_tenant(connection: sqlite3.Connection, tenant: Tenant) -> int:
    """The tenant's number, made on first sight."""
    connection.execute("INSERT OR IGNORE INTO tenants (name) VALUES (?)", (tenant,))
    number = tenant_number(connection, tenant)
    assert number is not None
    return number


def next_generation(connection: sqlite3.Connection, tenant_no: int) -> int:
    """Count a change of the tenant; generations are numbered over all tenants, so an erased tenant never sees an old number again."""
    generation: int = connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation' RETURNING value").fetchone()[0]
    connection.execute("UPDATE tenants SET generation = ? WHERE tenant_no = ?", (generation, tenant_no))
    return generation


def versions(connection: sqlite3.Connection, tenant_no: int, doc_ids: Sequence[str]) -> dict[str, StoredVersion]:
    """What is known of these ids, deleted ones included."""
    rows = connection.execute(_VERSIONS, {"tenant": tenant_no, "ids": json.dumps(list(doc_ids))})
    return {doc_id: StoredVersion(version, content_hash, deleted=bool(deleted)) for doc_id, version, content_hash, deleted in rows}


def any_live(connection: sqlite3.Connection, tenant_no: int, doc_ids: Sequence[str]) -> bool:
    """True when a live document has one of these ids."""
    return any(not version.deleted for version in versions(connection, tenant_no, doc_ids).values())


def insert(connection: sqlite3.Connection, tenant_no: int, documents: Sequence[Analysed]) -> None:
    """Store documents whose ids hold no live row."""
    numbers = numbered(connection, tenant_no, [_held(each.terms, each.passage_terms) for each in documents])
    for each in documents:
        doc_no = connection.execute(_INSERT, _document_row(tenant_no, each, stream(each.terms, numbers).tobytes())).lastrowid
        assert doc_no is not None
        streams = [stream(terms, numbers).tobytes() for terms in each.passage_terms]
        connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", _passage_rows(doc_no, each.write, streams))
        connection.executemany(
            "INSERT INTO attributes VALUES (?, ?, ?)", _attribute_rows(tenant_no, doc_no, each.write.document.attributes)
        )


def remove(connection: sqlite3.Connection, tenant_no: int, doc_ids: Sequence[str], generation: int) -> dict[str, StoredVersion]:
    """Delete the live rows of these ids with everything that was cut from them; returns what they were."""
    rows = connection.execute(_REMOVABLE, (json.dumps(list(doc_ids)), tenant_no)).fetchall()
    held = []
    for doc_no, _, _, _, attributes, title, text in rows:
        connection.execute("DELETE FROM documents WHERE doc_no = ?", (doc_no,))
        bounds = (doc_no << PASSAGE_BITS, ((doc_no + 1) << PASSAGE_BITS) - 1)
        spans = connection.execute("DELETE FROM passages WHERE passage_no BETWEEN ? AND ? RETURNING first, last", bounds).fetchall()
        held.append(_held(*_streams(title, text, [text[first:last] for first, last in spans])))
        connection.executemany(
            "DELETE FROM attributes WHERE tenant_no = ? AND term = ? AND doc_no = ?",
            _attribute_rows(tenant_no, doc_no, json.loads(attributes)),
        )
    forget(connection, tenant_no, held)
    connection.executemany("INSERT INTO removals VALUES (?, ?, ?)", [(generation, tenant_no, row[0]) for row in rows])
    _prune(connection, generation)
    return {doc_id: StoredVersion(version, content_hash, deleted=False) for _, doc_id, version, content_hash, *_ in rows}


def _prune(connection: sqlite3.Connection, generation: int) -> None:
    bound = generation - _KEPT_GENERATIONS
    if bound > 0 and connection.execute("DELETE FROM removals WHERE generation <= ?", (bound,)).rowcount:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'pruned'", (bound,))


def bury(connection: sqlite3.Connection, tenant_no: int, removed: Mapping[str, StoredVersion]) -> None:
    """Keep version and content hash of deleted documents."""
    rows = [(tenant_no, doc_id, each.version, each.content_hash) for doc_id, each in removed.items()]
    connection.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?, ?)", rows)


def unbury(connection: sqlite3.Connection, tenant_no: int, doc_ids: Iterable[str]) -> None:
    """Drop the tombstones of ids that are live again."""
    connection.executemany("DELETE FROM tombstones WHERE tenant_no = ? AND doc_id = ?", [(tenant_no, doc_id) for doc_id in doc_ids])


def erase(connection: sqlite3.Connection, tenant_no: int) -> int:
    """Remove every row of the tenant; returns how many live documents there were."""
    doc_nos = connection.execute("SELECT doc_no FROM documents WHERE tenant_no = ?", (tenant_no,)).fetchall()
    bounds = [(doc_no << PASSAGE_BITS, ((doc_no + 1) << PASSAGE_BITS) - 1) for (doc_no,) in doc_nos]
    connection.executemany("DELETE FROM passages WHERE passage_no BETWEEN ? AND ?", bounds)
    for statement in _ERASE:
        connection.execute(statement, (tenant_no,))
    connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
    return len(doc_nos)


def documents_of(connection: sqlite3.Connection, doc_nos: Sequence[int]) -> dict[int, Document]:
    """Documents by number."""
    rows = connection.execute(_READ, (json.dumps(list(doc_nos)),))
    return {row[0]: _document(row[1:]) for row in rows}


def numbers_of(connection: sqlite3.Connection, tenant_no: int, doc_ids: Sequence[str]) -> list[int]:
    """The numbers of the live documents among these ids; JSON carries the ids, so that half a surrogate pair finds nothing instead of failing."""
    return [doc_no for (doc_no,) in connection.execute(_BY_ID, (json.dumps(list(doc_ids)), tenant_no))]


def document_of(connection: sqlite3.Connection, tenant_no: int, doc_id: str) -> Document | None:
    """The live document of an id."""
    found = numbers_of(connection, tenant_no, [doc_id])
    return documents_of(connection, found)[found[0]] if found else None


class PassagePlace(NamedTuple):
    """Where a passage is: the number of its document, its own number in it, and its offsets; with its vector, which is also that of its title."""

    doc_no: int
    number: int
    first: int
    last: int
    vector: Vector


def candidates_of(connection: sqlite3.Connection, places: Mapping[int, PassagePlace]) -> dict[int, Candidate]:
    """Passages with what ranking needs of their documents, under the keys of ``places``."""
    doc_nos = sorted({place.doc_no for place in places.values()})
    documents = {row[0]: row[1:] for row in connection.execute(_READ, (json.dumps(doc_nos),))}
    return {key: _candidate(place, documents[place.doc_no]) for key, place in places.items()}


def _document_row(tenant_no: int, each: Analysed, terms: bytes) -> tuple[Any, ...]:
    write, document = each.write, each.write.document
    attributes = json.dumps(dict(document.attributes), ensure_ascii=False, separators=(",", ":"))
    return (
        *(tenant_no, document.doc_id, each.version, write.content_hash, write.group_key, milliseconds(document.occurred_at)),
        *(document.source.kind, document.source.name, document.source.weight, document.theme_id, document.account_id),
        *(document.rating, document.language, document.url, document.title, attributes, document.text, terms),
    )


def _passage_rows(doc_no: int, write: DocumentWrite, streams: Sequence[bytes]) -> list[tuple[Any, ...]]:
    return [
        ((doc_no << PASSAGE_BITS) | passage.number, passage.start, passage.end, terms, vector.tobytes())
        for passage, terms, vector in zip(write.passages, streams, write.vectors.astype(np.float32), strict=True)
    ]


def _attribute_rows(tenant_no: int, doc_no: int, attributes: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return [(tenant_no, term, doc_no) for term in attribute_terms(attributes)]


def _document(row: Sequence[Any]) -> Document:
    _, doc_id, version, occurred_ms, kind, name, weight, theme_id, account_id, rating, language, url, title, attributes, text = row
    return Document(
        doc_id=doc_id,
        source=Source(kind, name, weight),
        text=text,
        occurred_at=instant(occurred_ms),
        title=title,
        theme_id=theme_id,
        account_id=account_id,
        rating=rating,
        language=language,
        url=url,
        attributes=_attributes(attributes),
        version=version,
    )


def _candidate(place: PassagePlace, row: Sequence[Any]) -> Candidate:
    group_key, doc_id, version, occurred_ms, kind, name, weight, theme_id, account_id, rating, language, url, title, attributes, text = row
    return Candidate(
        passage=Passage(passage_id(doc_id, place.number), doc_id, place.number, place.first, place.last, text[place.first : place.last]),
        source=_source(kind, name, weight),
        occurred_at=instant(occurred_ms),
        group_key=group_key,
        version=version,
        title=title,
        theme_id=theme_id,
        account_id=account_id,
        rating=rating,
        language=language,
        url=url,
        attributes=_attributes(attributes),
        vector=None if title else place.vector,
    )


@lru_cache(maxsize=4_096)
def _source(kind: str, name: str, weight: float) -> Source:
    return Source(kind, name, weight)


def _attributes(stored: str) -> dict[str, Any]:
    return json.loads(stored) if stored != "{}" else {}


_VERSIONS = """
SELECT d.doc_id, d.version, d.content_hash, 0 FROM json_each(:ids) j CROSS JOIN documents d ON d.tenant_no = :tenant AND d.doc_id = j.value
UNION ALL
SELECT t.doc_id, t.version, t.content_hash, 1 FROM json_each(:ids) j CROSS JOIN tombstones t ON t.tenant_no = :tenant AND t.doc_id = j.value
"""
_INSERT = """
INSERT INTO documents (
    tenant_no, doc_id, version, content_hash, group_key, occurred_ms, source_kind, source_name, source_weight, theme_id, account_id,
    rating, language, url, title, attributes, text, terms
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_REMOVABLE = """
SELECT d.doc_no, d.doc_id, d.version, d.content_hash, d.attributes, d.title, d.text
FROM json_each(?) j CROSS JOIN documents d ON d.tenant_no = ? AND d.doc_id = j.value
"""
_BY_ID = "SELECT d.doc_no FROM json_each(?) j CROSS JOIN documents d ON d.tenant_no = ? AND d.doc_id = j.value"
_READ = """
SELECT d.doc_no, d.group_key, d.doc_id, d.version, d.occurred_ms, d.source_kind, d.source_name, d.source_weight, d.theme_id, d.account_id,
    d.rating, d.language, d.url, d.title, d.attributes, d.text
FROM json_each(?) j CROSS JOIN documents d ON d.doc_no = j.value
"""
_ERASE = (
    "DELETE FROM documents WHERE tenant_no = ?",
    "DELETE FROM attributes WHERE tenant_no = ?",
    "DELETE FROM vocabulary WHERE tenant_no = ?",
    "DELETE FROM tombstones WHERE tenant_no = ?",
    "DELETE FROM removals WHERE tenant_no = ?",
    "DELETE FROM tenants WHERE tenant_no = ?",
)
