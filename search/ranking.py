"""Rankings: what one leg returns, what fusion and reranking make of two, and the explanation that survives to the doors.

What every search makes by the hundred is a named tuple, which is made in a third of the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from search.documents import Filters, Passage, Scalar, Source, Vector

LegName = Literal["lexical", "vector"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with what ranking and display need of its document. ``vector`` is that of ``passage.text`` where the engine has it at hand."""

    passage: Passage
    source: Source
    occurred_at: datetime
    group_key: str
    version: int
    title: str | None = None
    theme_id: str | None = None
    account_id: str | None = None
    rating: float | None = None
    language: str | None = None
    url: str | None = None
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    vector: Vector | None = field(default=None, compare=False, repr=False)


class LegHit(NamedTuple):
    """One place in a leg. ``score`` is BM25 for the lexical leg (any scale, ranks are what counts), cosine for the vector leg."""

    candidate: Candidate
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class LegQuery:
    """One question to an engine. ``vector`` is a unit vector or None when the embedder is lost; ``depth`` hits a leg."""

    text: str
    vector: Vector | None
    filters: Filters
    depth: int = 100


@dataclass(frozen=True, slots=True)
class Legs:
    """Both rankings from one round trip. A leg in ``lost`` is empty because it failed, with the reason.

    ``scope`` is the exact number of documents that pass the filters.
    """

    lexical: tuple[LegHit, ...]
    vector: tuple[LegHit, ...]
    scope: int
    lost: Mapping[LegName, str] = field(default_factory=dict)


class Fused(NamedTuple):
    """A candidate after fusion. Contributions add up to ``score``; ranks count from 1, None where a leg lacks it."""

    candidate: Candidate
    score: float
    lexical_score: float | None
    lexical_rank: int | None
    lexical_contribution: float
    vector_score: float | None
    vector_rank: int | None
    vector_contribution: float


class Feature(NamedTuple):
    """A named reason for a place: ``contribution == value * weight``."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One place in the final ranking: the best passage of a group of documents with the same normalised text.

    ``score`` is the sum of the features' contributions. ``group_ids`` are the first ids of the group, ``group_size`` its exact size
    under the filters of the question.
    """

    candidate: Candidate
    rank: int
    score: float
    fused: Fused
    features: tuple[Feature, ...]
    group_size: int = 1
    group_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a question brought back. ``degraded`` names lost parts with what that changed; ``scope`` counts documents searched.

    ``nearest`` are the documents nearest in meaning, kept even where they are too far to be hits: what a refusal can show. ``vector`` is that of
    ``query``, None when the embedder was lost.
    """

    query: str
    filters: Filters
    hits: tuple[Hit, ...]
    scope: int
    fusion: str
    degraded: Mapping[str, str] = field(default_factory=dict)
    nearest: tuple[LegHit, ...] = ()
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """Documents that share a group key: exact count and the first ids, ascending."""

    count: int
    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BucketQuery:
    """An aggregation. ``by`` names the field; time intervals are cut at local midnight of ``time_zone`` (weeks on Monday).

    ``match`` limits to documents that hold every content word (and every quoted phrase) of it, after analysis; None = all.
    """

    by: Literal["theme", "source", "account", "day", "week", "month"]
    filters: Filters
    match: str | None = None
    time_zone: str = "UTC"
    ids_per_bucket: int = 10


@dataclass(frozen=True, slots=True)
class Bucket:
    """``key`` is the field's value, or the local first day of the interval (``2026-06-30``; months ``2026-06``)."""

    key: str
    count: int
    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Buckets:
    """Exact counts over all matching documents. ``total`` matching, ``scope`` passing the filters (the denominator),
    ``without`` matching documents that lack the field. Ordered by count descending then key; time buckets by key, empty ones included
    between the first and last (or the filters' own bounds when given). ``doc_ids`` newest first, then id.
    """

    buckets: tuple[Bucket, ...]
    total: int
    scope: int
    without: int
    generation: int
