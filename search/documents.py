"""What a user puts in and may cite: documents, the passages cut from them, and the filters that select them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Shape (dimension,), float32, unit length."""

Vectors = NDArray[np.float32]
"""Shape (n, dimension), float32, rows of unit length."""

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document came from. ``weight`` in 0..1 says how much the source is trusted in ranking."""

    kind: str
    name: str = ""
    weight: float = 0.5


@dataclass(frozen=True, slots=True)
class Document:
    """One ticket, review, row or file, as stored. Offsets of citations index ``text`` in Unicode code points.

    ``occurred_at`` is aware, in UTC, with millisecond resolution. ``version`` starts at 1. ``attributes`` is flat.
    """

    doc_id: str
    source: Source
    text: str
    occurred_at: datetime
    title: str | None = None
    theme_id: str | None = None
    account_id: str | None = None
    rating: float | None = None
    language: str | None = None
    url: str | None = None
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    version: int = 1


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is retrieved and quoted: ``document.text[start:end] == text``. A short document is one passage.

    ``passage_id`` is ``f"{doc_id}#{number:06d}"``; ``number`` counts from 0 within the document.
    """

    passage_id: str
    doc_id: str
    number: int
    start: int
    end: int
    text: str


def passage_id(doc_id: str, number: int) -> str:
    """The id of a document's passage; ties in every ranking are broken by it, ascending by code point."""
    return f"{doc_id}#{number:06d}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents a call may look at. ``None`` means no limit; a given tuple is never empty.

    ``since`` is inclusive and ``before`` exclusive; doors turn local days into such instants. A document without a rating
    matches no rating limit. Values within one field are alternatives; fields must all hold.
    """

    since: datetime | None = None
    before: datetime | None = None
    sources: tuple[str, ...] | None = None
    theme_ids: tuple[str, ...] | None = None
    account_ids: tuple[str, ...] | None = None
    doc_ids: tuple[str, ...] | None = None
    rating_min: float | None = None
    rating_max: float | None = None
    attributes: tuple[tuple[str, Scalar], ...] = ()


EVERYTHING = Filters()


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents in the order (``occurred_at`` descending, ``doc_id`` ascending), and where to go on."""

    documents: tuple[Document, ...]
    total: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """What the store knows of a ``doc_id`` without its text. A deleted document keeps its version and no content."""

    version: int
    content_hash: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class DocumentWrite:
    """One document ready to be stored: its passages, one unit vector per passage, and its derived keys.

    ``asked_version`` is the version the user gave, or None to let content decide. ``group_key`` is equal for documents
    whose normalised text is equal. ``vectors`` has shape (len(passages), dimension), float32, unit length.
    """

    document: Document
    asked_version: int | None
    content_hash: str
    group_key: str
    passages: tuple[Passage, ...]
    vectors: Vectors


WriteKind = Literal["indexed", "updated", "unchanged", "stale", "deleted_earlier", "rejected"]


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of one write. ``stale`` and ``deleted_earlier`` left the store as it was, on purpose."""

    doc_id: str
    kind: WriteKind
    version: int
    reason: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tenant's documents at a glance. ``generation`` grows with every change."""

    documents: int
    passages: int
    groups: int
    first_occurred_at: datetime | None
    last_occurred_at: datetime | None
    sources: Mapping[str, int]
    themes: int
    without_theme: int
    generation: int
    model: str
    dimension: int
