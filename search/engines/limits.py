"""The bounds of the engine port, checked the same way by every engine."""

from collections.abc import Sequence

import numpy as np

from runtime.errors import InvalidRequest
from search.documents import DocumentWrite
from search.ranking import LegQuery

MAX_IDS = 1_000
MAX_PAGE = 1_000
MAX_DEPTH = 10_000
MAX_BUCKET_IDS = 1_000
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
    texts = {"text": document.text, "title": document.title, "doc_id": document.doc_id, "theme_id": document.theme_id}
    texts |= {"account_id": document.account_id, "language": document.language, "url": document.url}
    texts |= {"source": document.source.kind + document.source.name, "group_key": write.group_key}
    texts |= {f"attributes.{name}": f"{name}{value}" for name, value in document.attributes.items()}
    for field, text in texts.items():
        if text is not None and not _encodable(text):
            return field, "holds half of a surrogate pair, which is no character"
    if not _unit(write.vectors, (len(write.passages), dimension)):
        return "text", f"has no usable vectors: one unit vector of {dimension} numbers is needed for each passage"
    return None


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
