"""The bounds of the engine port, checked the same way by every engine."""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite

import numpy as np

from runtime.errors import InvalidRequest
from search.documents import Document, DocumentWrite, Passage
from search.ranking import LegQuery

MAX_IDS = 1_000
MAX_PAGE = 1_000
MAX_DEPTH = 10_000
MAX_BUCKET_IDS = 1_000
MAX_PASSAGES = 1_000_000
_UNIT_TOLERANCE = 1e-3


def within(value: int, low: int, high: int, field: str) -> None:
    """Refuse a number outside ``low..high``.

    Raises:
        InvalidRequest: on ``field``.
    """
    if not low <= value <= high:
        raise InvalidRequest(f"must be {low} to {high}, not {value}", field=field)


def check_writes(writes: Sequence[DocumentWrite]) -> None:
    """Refuse more than 1,000 documents, or two with one id.

    Raises:
        InvalidRequest: on ``documents``.
    """
    if len(writes) > MAX_IDS:
        raise InvalidRequest(f"takes at most {MAX_IDS} at a time, not {len(writes)}", field="documents")
    if len({write.document.doc_id for write in writes}) < len(writes):
        raise InvalidRequest("holds the same id twice", field="documents")


def check_query(query: LegQuery, dimension: int) -> None:
    """Refuse a depth out of range, or a vector of another length, not finite or not of unit length.

    Raises:
        InvalidRequest: on ``depth`` or ``vector``.
    """
    within(query.depth, 1, MAX_DEPTH, "depth")
    if query.vector is not None and not _unit(query.vector[np.newaxis], (1, dimension)):
        raise InvalidRequest(f"must be a unit vector of {dimension} numbers", field="vector")


def flaw(write: DocumentWrite, dimension: int) -> tuple[str, str] | None:
    """Why one document cannot be stored, as (field, reason); None when it can."""
    document = write.document
    for field, text in _texts(write):
        if text is not None and not _encodable(text):
            return field, "holds half of a surrogate pair, which is no character"
    if document.occurred_at.tzinfo is None:
        return "occurred_at", "has no time zone"
    if not isfinite(document.rating or 0.0):
        return "rating", "must be a finite number"
    if not isfinite(document.source.weight):
        return "source", "has a weight that is not a finite number"
    if len(write.passages) > MAX_PASSAGES or not all(map(_cut_from(document), enumerate(write.passages))):
        return "text", f"must be cut into at most {MAX_PASSAGES:,} numbered passages of its own text"
    if not _unit(write.vectors, (len(write.passages), dimension)):
        return "text", f"has no usable vectors: one unit vector of {dimension} numbers is needed for each passage"
    return None


def _texts(write: DocumentWrite) -> Iterator[tuple[str, str | None]]:
    document = write.document
    yield from (("doc_id", document.doc_id), ("text", document.text), ("title", document.title), ("theme_id", document.theme_id))
    yield from (("account_id", document.account_id), ("language", document.language), ("url", document.url))
    yield from (("source", document.source.kind + document.source.name), ("group_key", write.group_key))
    for name, value in document.attributes.items():
        yield f"attributes.{name}", f"{name}{value}"


def _cut_from(document: Document) -> Callable[[tuple[int, Passage]], bool]:
    def fits(numbered: tuple[int, Passage]) -> bool:
        number, passage = numbered
        return passage.number == number and document.text[passage.start : passage.end] == passage.text

    return fits


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unit(vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]], shape: tuple[int, int]) -> bool:
    if vectors.shape != shape:
        return False
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return bool(np.all(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE))
