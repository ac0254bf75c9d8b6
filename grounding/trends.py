"""Whether a series of counts rises, falls or does neither: a test and a minimum of documents, never the look of it."""

from datetime import datetime
from typing import cast

from grounding.answers import Proof
from grounding.significance import Z95, slope
from search.aggregation import INTERVALS, Interval, interval_bounds
from search.filters import zone_named

MIN_INTERVALS = 3


def direction_of(proof: Proof) -> int:
    """1 when the series of a trend's proof rises beyond chance (95 %), -1 when it falls, 0 otherwise."""
    if len(proof.counts) < MIN_INTERVALS or proof.aggregation not in INTERVALS:
        return 0
    deviation = slope([count for _, count in proof.counts], days_covered(proof))
    return 0 if abs(deviation) < Z95 else 1 if deviation > 0 else -1


def days_covered(proof: Proof) -> list[float]:
    """Days of each interval that the filters let in; the first and last are usually cut."""
    interval, zone = cast("Interval", proof.aggregation), zone_named(proof.time_zone)
    return [_days(*interval_bounds(key, interval, zone), proof.filters.since, proof.filters.before) for key, _ in proof.counts]


def _days(begins: datetime | None, ends: datetime | None, since: datetime | None, before: datetime | None) -> float:
    if begins is None or ends is None:
        return 0.0
    start, stop = max(begins, since or begins), min(ends, before or ends)
    return max(0.0, (stop - start).total_seconds() / 86_400)
