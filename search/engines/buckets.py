"""Exact counts of documents by a field or by local days, weeks and months."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from search.documents import Filters
from search.engines.columns import Coding, ColumnsView
from search.engines.intervals import Interval, Range, extent, ranges
from search.engines.ordering import newest
from search.filters import zone_named
from search.ranking import Bucket, BucketQuery

Codes = NDArray[np.int64]


def counted(columns: ColumnsView, rows: NDArray[np.int64], query: BucketQuery) -> tuple[tuple[Bucket, ...], int]:
    """The buckets of these rows, and how many rows lack the field."""
    if query.by in ("day", "week", "month"):
        return _by_time(columns, rows, query, query.by), 0
    codes, coding = _field(columns, query.by)
    having = codes[rows] >= 0
    buckets = _bucketed(columns, rows[having], codes[rows][having].astype(np.int64), coding.values, query.ids_per_bucket)
    ordered = sorted((bucket for bucket in buckets if bucket.count), key=lambda bucket: (-bucket.count, bucket.key))
    return tuple(ordered), int(len(rows) - np.count_nonzero(having))


def _field(columns: ColumnsView, by: str) -> tuple[NDArray[np.int32], Coding]:
    return {
        "theme": (columns.themes, columns.theme_coding),
        "source": (columns.kinds, columns.kind_coding),
        "account": (columns.accounts, columns.account_coding),
    }[by]


def _by_time(columns: ColumnsView, rows: NDArray[np.int64], query: BucketQuery, interval: Interval) -> tuple[Bucket, ...]:
    instants = columns.occurred_ms[rows]
    spans = _spans(instants, query.filters, interval, query.time_zone)
    codes = np.searchsorted(np.array([span.start_ms for span in spans], dtype=np.int64), instants, side="right") - 1
    return tuple(_bucketed(columns, rows, codes, [span.key for span in spans], query.ids_per_bucket))


def _spans(instants: NDArray[np.int64], filters: Filters, interval: Interval, time_zone: str) -> tuple[Range, ...]:
    zone = zone_named(time_zone)
    covered = extent(filters, _edge(instants, latest=False), _edge(instants, latest=True))
    return ranges(interval, *covered, zone) if covered else ()


def _edge(instants: NDArray[np.int64], *, latest: bool) -> int | None:
    if not len(instants):
        return None
    return int(instants.max() if latest else instants.min())


def _bucketed(columns: ColumnsView, rows: NDArray[np.int64], codes: Codes, keys: Sequence[str], ids: int) -> list[Bucket]:
    counts = np.bincount(codes, minlength=len(keys))
    if not ids:
        return [Bucket(key, int(count), ()) for key, count in zip(keys, counts, strict=True)]
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(counts)
    members = [rows[order[end - count : end]] for end, count in zip(ends, counts, strict=True)]
    return [
        Bucket(key, int(count), tuple(columns.doc_ids[row] for row in newest(columns, held, ids)))
        for key, count, held in zip(keys, counts, members, strict=True)
    ]
