"""Documents ready to be written, with vectors that depend on nothing but the text: what the contract suites put into an engine."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from search.documents import Document, DocumentWrite, Passage, Source, Vector, passage_id
from search.identity import content_hash, group_key

DIMENSION = 16
MODEL = "contract-model"
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def unit_vector(seed: str) -> Vector:
    """A unit vector of random direction, always the same for a seed."""
    number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(number).normal(size=DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def document(
    doc_id: str, text: str, *, day: int = 0, occurred_at: datetime | None = None, source: str = "ticket", **fields: object
) -> Document:
    """A document ``day`` days after 4 March 2026, noon."""
    instant = occurred_at or NOON + timedelta(days=day)
    return Document(doc_id, Source(source), text, instant, **fields)  # type: ignore[arg-type]


def write_of(
    made: Document,
    *,
    version: int | None = None,
    passages: Sequence[tuple[int, int]] | None = None,
    vectors: Sequence[Vector] | None = None,
) -> DocumentWrite:
    """The write of a document: one passage over the whole text unless spans are given, and a vector for each."""
    spans = passages or [(0, len(made.text))]
    cut = tuple(
        Passage(passage_id(made.doc_id, number), made.doc_id, number, start, end, made.text[start:end])
        for number, (start, end) in enumerate(spans)
    )
    rows = vectors or [unit_vector(passage.text) for passage in cut]
    return DocumentWrite(made, version, content_hash(made), group_key(made.text), cut, np.array(rows, dtype=np.float32))


def written(doc_id: str, text: str, *, version: int | None = None, vector: Vector | None = None, **fields: object) -> DocumentWrite:
    """The write of a short document."""
    made = document(doc_id, text, **fields)  # type: ignore[arg-type]
    return write_of(made, version=version, vectors=None if vector is None else [vector])
