"""Documents as records and back. One record per passage; number 0 also stands for its document.

A document of one passage keeps its text in ``text``. One of several keeps each passage in ``passage`` and, in record 0 only, the whole text in
``document``: OpenSearch copies these into ``lexical`` (what the lexical leg scores) and ``whole`` (what a match looks at), which are indexed and not
stored, so that no text is kept twice. ``title`` must come before the text in a record, as the copies are analysed in that order.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from runtime.tenancy import Tenant
from search.documents import Document, DocumentWrite, Passage, Source, Vector, passage_id
from search.engines.attribute_terms import attribute_terms
from search.engines.intervals import instant, milliseconds
from search.engines.opensearch_cluster import Operation, to_json
from search.engines.opensearch_placement import Placement
from search.ranking import Candidate

DOCUMENT_FIELDS = [
    "tenant", "doc_id", "version", "source_kind", "source_name", "source_weight", "occurred_at", "title", "theme_id", "account_id", "rating",
    "language", "url", "attributes", "text", "document",
]  # fmt: skip

CANDIDATE_FIELDS = [
    "tenant", "doc_id", "version", "source_kind", "source_name", "source_weight", "occurred_at", "title", "theme_id", "account_id", "rating",
    "language", "url", "attributes", "text", "passage", "number", "start", "end", "group_key",
]  # fmt: skip


def sequence(version: int, *, deleted: bool = False) -> int:
    """The external version of a record: a tombstone is newer than what it buries and older than the next version."""
    return 2 * version + deleted


def live_operations(write: DocumentWrite, at: Placement, version: int, month: str) -> Iterator[Operation]:
    """One write per passage."""
    shared = _shared(write, at.names.tenant, version)
    for passage, vector in zip(write.passages, write.vectors, strict=True):
        record = shared | _own(write, passage)
        source = to_json(record)[:-1] + b',"vector":' + vector_json(vector) + b"}"
        yield indexing(at, month, passage.passage_id, sequence(version), source)


def tombstone(at: Placement, doc_id: str, number: int, version: int, month: str, *, deleted: bool) -> Operation:
    """What takes the place of a passage that is no more there. ``deleted`` tells a deleted document from one that moved or became shorter."""
    key = passage_id(doc_id, number)
    record = {"tenant": at.names.tenant, "doc_id": doc_id, "passage_id": key, "number": number, "version": version, "deleted": True}
    return indexing(at, month, key, sequence(version, deleted=deleted), to_json(record))


def indexing(at: Placement, month: str, passage: str, version: int, source: bytes) -> Operation:
    """One record, unless a newer one is there."""
    address = {"_index": at.month_alias(month), "_id": at.key(passage), "version": version, "version_type": "external_gte"}
    return Operation({"index": address | {"require_alias": True}}, source)


def vector_json(vector: Vector) -> bytes:
    """Nine significant digits, which is every bit of a float32."""
    return b"[" + (_format(len(vector)) % tuple(vector.tolist())).encode("ascii") + b"]"


def document_of(source: Mapping[str, Any]) -> Document:
    """The document of a record 0."""
    return Document(
        doc_id=source["doc_id"],
        source=_source(source),
        text=source["document"] if "document" in source else source["text"],
        occurred_at=instant(source["occurred_at"]),
        title=source.get("title"),
        theme_id=source.get("theme_id"),
        account_id=source.get("account_id"),
        rating=_number(source.get("rating")),
        language=source.get("language"),
        url=source.get("url"),
        attributes=source.get("attributes") or {},
        version=source["version"],
    )


def candidate_of(source: Mapping[str, Any]) -> Candidate:
    """The candidate of any live record."""
    number, doc_id, told = source["number"], source["doc_id"], source.get
    text = source["passage"] if "passage" in source else source["text"]
    return Candidate(
        Passage(passage_id(doc_id, number), doc_id, number, source["start"], source["end"], text),
        _source(source),
        instant(source["occurred_at"]),
        source["group_key"],
        source["version"],
        title=told("title"),
        theme_id=told("theme_id"),
        account_id=told("account_id"),
        rating=_number(told("rating")),
        language=told("language"),
        url=told("url"),
        attributes=told("attributes") or {},
    )


def _shared(write: DocumentWrite, tenant: Tenant, version: int) -> dict[str, Any]:
    document = write.document
    fields = {
        "tenant": tenant,
        "doc_id": document.doc_id,
        "version": version,
        "content_hash": write.content_hash,
        "deleted": False,
        "group_key": write.group_key,
        "source_kind": document.source.kind,
        "source_name": document.source.name,
        "source_weight": document.source.weight,
        "occurred_at": milliseconds(document.occurred_at),
        "theme_id": document.theme_id,
        "account_id": document.account_id,
        "rating": document.rating,
        "language": document.language,
        "url": document.url,
        "title": document.title,
    }
    if document.attributes:
        fields |= {"attributes": dict(document.attributes), "attribute_terms": attribute_terms(document.attributes)}
    return {name: value for name, value in fields.items() if value is not None}


def _own(write: DocumentWrite, passage: Passage) -> dict[str, Any]:
    own: dict[str, Any] = {"passage_id": passage.passage_id, "number": passage.number, "start": passage.start, "end": passage.end}
    if len(write.passages) == 1 and passage.text == write.document.text:
        return own | {"text": passage.text}
    return own | {"passage": passage.text} | ({"document": write.document.text} if passage.number == 0 else {})


def _source(source: Mapping[str, Any]) -> Source:
    return _one_source(source["source_kind"], source["source_name"], float(source["source_weight"]))


@lru_cache(maxsize=4_096)
def _one_source(kind: str, name: str, weight: float) -> Source:
    return Source(kind, name, weight)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


@lru_cache
def _format(dimension: int) -> str:
    return ",".join(["%.9g"] * dimension)
