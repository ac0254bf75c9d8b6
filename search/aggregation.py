"""Counts over all matching documents: by theme, by source, over time, for one account. Every count carries ids and a way to page all of them."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Document, Filters
from search.filters import day_start, narrowed, zone_named
from search.listing import Listing, cursor_of
from search.ports import Counts
from search.ranking import Bucket, BucketQuery, Buckets

Interval = Literal["day", "week", "month"]
INTERVALS: tuple[Interval, ...] = ("day", "week", "month")
MAX_LIMIT = 1000
IDS_PER_BUCKET = 10
ACCOUNT_DOCUMENTS_READ = 5000
"""Ratings of an account are summed up over at most this many of its newest documents."""


@dataclass(frozen=True, slots=True)
class ThemeCount:
    """One theme. ``share`` is of the matching documents, in 0..1; ``doc_ids`` are the newest; ``cursor`` lists all of them."""

    theme_id: str
    count: int
    share: float
    doc_ids: tuple[str, ...]
    cursor: str


@dataclass(frozen=True, slots=True)
class ThemeAggregate:
    """How many matching documents each theme has, most first. ``total`` documents match, of ``scope`` that pass the filters;
    ``without_theme`` of the matching ones carry no theme, so that the counts are lower bounds. ``themes_total`` counts themes beyond the limit too.
    """

    query: str | None
    total: int
    scope: int
    without_theme: int
    themes: tuple[ThemeCount, ...]
    themes_total: int
    filters: Filters
    generation: int


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One interval. ``key`` is its first local day (``2026-06-29``, a Monday for weeks) or its month (``2026-06``)."""

    key: str
    count: int
    doc_ids: tuple[str, ...]
    cursor: str


@dataclass(frozen=True, slots=True)
class Trend:
    """Matching documents per interval of local days, in order, empty intervals included. ``total`` of ``scope`` match."""

    query: str | None
    interval: Interval
    time_zone: str
    points: tuple[TrendPoint, ...]
    total: int
    scope: int
    filters: Filters
    generation: int


@dataclass(frozen=True, slots=True)
class NamedCount:
    """A value and the documents that have it."""

    name: str
    count: int
    doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings among the newest ``looked_at`` documents; ``counts`` holds (rating, documents), lowest first. ``mean`` is None without any."""

    rated: int
    looked_at: int
    mean: float | None
    counts: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class AccountContext:
    """One account at a glance. ``recent`` holds its newest documents; ``cursor`` lists all of them."""

    account_id: str
    documents: int
    first_seen: datetime
    last_seen: datetime
    themes: tuple[NamedCount, ...]
    without_theme: int
    sources: tuple[NamedCount, ...]
    ratings: Ratings
    recent: tuple[Document, ...]
    cursor: str
    generation: int


def by_theme(engine: Counts, tenant: Tenant, query: str | None = None, filters: Filters = EVERYTHING, limit: int = 20) -> ThemeAggregate:
    """Themes of the documents that hold every word of ``query``, the most frequent ``limit`` of them.

    Raises:
        InvalidRequest: on ``limit``.
    """
    limit = limit_of(limit, "limit")
    found = engine.aggregate(tenant, BucketQuery("theme", filters, match=query, ids_per_bucket=IDS_PER_BUCKET))
    themes = tuple(_theme_count(bucket, found, query, filters) for bucket in found.buckets[:limit])
    return ThemeAggregate(query, found.total, found.scope, found.without, themes, len(found.buckets), filters, found.generation)


def trend(
    engine: Counts,
    tenant: Tenant,
    query: str | None = None,
    filters: Filters = EVERYTHING,
    interval: str = "week",
    time_zone: str = "UTC",
) -> Trend:
    """Documents that hold every word of ``query``, per local day, week or month.

    Raises:
        InvalidRequest: on ``interval`` or ``time_zone``.
    """
    cut, zone = interval_named(interval), zone_named(time_zone)
    found = engine.aggregate(tenant, BucketQuery(cut, filters, match=query, time_zone=time_zone, ids_per_bucket=IDS_PER_BUCKET))
    points = tuple(_trend_point(bucket, cut, zone, query, filters) for bucket in found.buckets)
    return Trend(query, cut, time_zone, points, found.total, found.scope, filters, found.generation)


def account_context(engine: Counts, tenant: Tenant, account_id: str, first: int = 20) -> AccountContext | None:
    """What is known of an account, with its ``first`` newest documents; None when it has no document.

    Raises:
        InvalidRequest: on ``first`` or ``account_id``.
    """
    first = limit_of(first, "first")
    if not account_id:
        raise InvalidRequest("must name an account", field="account_id")
    filters = Filters(account_ids=(account_id,))
    themes = engine.aggregate(tenant, BucketQuery("theme", filters, ids_per_bucket=IDS_PER_BUCKET))
    sources = engine.aggregate(tenant, BucketQuery("source", filters, ids_per_bucket=IDS_PER_BUCKET))
    newest = _newest(engine, tenant, filters)
    if not newest:
        return None
    return AccountContext(
        account_id=account_id,
        documents=themes.total,
        first_seen=newest[-1].occurred_at if len(newest) >= themes.total else _first_seen(engine, tenant, filters),
        last_seen=newest[0].occurred_at,
        themes=_named(themes),
        without_theme=themes.without,
        sources=_named(sources),
        ratings=_ratings(newest),
        recent=newest[:first],
        cursor=cursor_of(Listing(filters)),
        generation=themes.generation,
    )


def limit_of(limit: object, field: str) -> int:
    """``limit`` when it is a whole number from 1 up; more than 1,000 means 1,000.

    Raises:
        InvalidRequest: on ``field``.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidRequest("must be a whole number of at least 1", field=field)
    return min(limit, MAX_LIMIT)


def interval_named(name: object) -> Interval:
    """The interval called ``name``, in any case.

    Raises:
        InvalidRequest: on ``interval``.
    """
    for interval in INTERVALS:
        if isinstance(name, str) and name.lower() == interval:
            return interval
    raise InvalidRequest("must be day, week or month", field="interval")


def interval_bounds(key: str, interval: Interval, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """The first instant of the interval that begins at ``key`` and the first one after it; None beyond the calendar."""
    begins = first_day(key)
    try:
        ends = interval_end(begins, interval)
    except OverflowError:
        return _instant(begins, zone), None
    return _instant(begins, zone), _instant(ends, zone)


def interval_end(begins: date, interval: Interval) -> date:
    """The first local day after the interval that begins at that day."""
    if interval == "month":
        return (begins.replace(day=1) + timedelta(days=32)).replace(day=1)
    return begins + timedelta(days=7 if interval == "week" else 1)


def first_day(key: str) -> date:
    """The first local day of the interval called ``key``."""
    return date.fromisoformat(key if key.count("-") > 1 else f"{key}-01")


def _theme_count(bucket: Bucket, found: Buckets, query: str | None, filters: Filters) -> ThemeCount:
    cursor = cursor_of(Listing(replace(filters, theme_ids=(bucket.key,)), query))
    return ThemeCount(bucket.key, bucket.count, bucket.count / found.total, bucket.doc_ids, cursor)


def _trend_point(bucket: Bucket, interval: Interval, zone: ZoneInfo, query: str | None, filters: Filters) -> TrendPoint:
    narrow = narrowed(filters, *interval_bounds(bucket.key, interval, zone))
    return TrendPoint(bucket.key, bucket.count, bucket.doc_ids, cursor_of(Listing(narrow, query)))


def _instant(day: date, zone: ZoneInfo) -> datetime | None:
    try:
        return day_start(day, zone)
    except OverflowError:
        return None


def _named(found: Buckets) -> tuple[NamedCount, ...]:
    return tuple(NamedCount(bucket.key, bucket.count, bucket.doc_ids) for bucket in found.buckets)


def _newest(engine: Counts, tenant: Tenant, filters: Filters) -> tuple[Document, ...]:
    documents: list[Document] = []
    after: str | None = None
    while len(documents) < ACCOUNT_DOCUMENTS_READ:
        page = engine.documents(tenant, filters, first=1000, after=after)
        documents += page.documents
        after = page.cursor
        if after is None:
            break
    return tuple(documents)


def _first_seen(engine: Counts, tenant: Tenant, filters: Filters) -> datetime:
    months = engine.aggregate(tenant, BucketQuery("month", filters, ids_per_bucket=1)).buckets
    oldest = narrowed(filters, *interval_bounds(months[0].key, "month", zone_named("UTC")))
    page = engine.documents(tenant, oldest, first=1000)
    while page.cursor is not None:
        page = engine.documents(tenant, oldest, first=1000, after=page.cursor)
    return page.documents[-1].occurred_at


def _ratings(documents: tuple[Document, ...]) -> Ratings:
    ratings = [document.rating for document in documents if document.rating is not None]
    mean = sum(ratings) / len(ratings) if ratings else None
    return Ratings(len(ratings), len(documents), mean, tuple(sorted(Counter(ratings).items())))
