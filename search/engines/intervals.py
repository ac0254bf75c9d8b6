"""Local days, weeks and months as ranges of instants: one computation for every engine, so that no server's time zone table has a say."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from runtime.errors import InvalidRequest
from search.documents import Filters
from search.filters import day_start, local_day

Interval = Literal["day", "week", "month"]

MAX_INTERVALS = 10_000

TICK = timedelta(milliseconds=1)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Range:
    """One interval: ``key`` as in :class:`search.ranking.Bucket`, and its instants in milliseconds since 1970, the end exclusive."""

    key: str
    start_ms: int
    end_ms: int


def milliseconds(instant: datetime) -> int:
    """Milliseconds since 1970, rounded up: ``x >= instant`` and ``x < instant`` mean the same for the rounded value, as ``x`` is whole."""
    return -((_EPOCH - instant) // TICK)


def instant(ms: int) -> datetime:
    """The inverse of :func:`milliseconds`."""
    return _EPOCH + ms * TICK


def extent(filters: Filters, first_ms: int | None, last_ms: int | None) -> tuple[int, int] | None:
    """First and last instant to cover: the filters' bounds where given, else those of the matching documents; None when there is neither."""
    first = first_ms if filters.since is None else milliseconds(filters.since)
    last = last_ms if filters.before is None else milliseconds(filters.before) - 1
    return None if first is None or last is None or last < first else (first, last)


def ranges(interval: Interval, first_ms: int, last_ms: int, zone: ZoneInfo) -> tuple[Range, ...]:
    """Every interval that touches the instants from ``first_ms`` to ``last_ms``, in order, without gaps.

    Raises:
        InvalidRequest: on ``interval``, when there are more than 10,000.
    """
    try:
        first = _begin(interval, local_day(instant(first_ms), zone))
        last = _begin(interval, local_day(instant(last_ms), zone))
    except OverflowError:
        raise InvalidRequest("reaches beyond the years 1 to 9999 in this time zone", field="time_zone") from None
    _refuse_too_many(interval, first, last)
    found: list[Range] = []
    day: date | None = first
    while day is not None and day <= last:
        following = _next(interval, day)
        found.append(Range(_key(interval, day), _start_ms(day, zone), _start_ms(following, zone)))
        day = following
    return tuple(found)


def _refuse_too_many(interval: Interval, first: date, last: date) -> None:
    days = {"day": 1, "week": 7, "month": 28}[interval]
    count = (last - first).days // days + 1 if interval != "month" else (last.year - first.year) * 12 + last.month - first.month + 1
    if count > MAX_INTERVALS:
        raise InvalidRequest(
            f"gives {count:,} intervals; at most {MAX_INTERVALS:,}: narrow the range or take a longer interval", field="interval"
        )


def _begin(interval: Interval, day: date) -> date:
    if interval == "month":
        return day.replace(day=1)
    if interval == "week":
        return date.fromordinal(max(1, day.toordinal() - day.weekday()))
    return day


def _next(interval: Interval, day: date) -> date | None:
    """The day the next interval begins with; None at the end of the calendar."""
    try:
        if interval == "month":
            return (day + timedelta(days=31)).replace(day=1)
        return day + timedelta(days=7 - day.weekday() if interval == "week" else 1)
    except OverflowError:
        return None


def _start_ms(day: date | None, zone: ZoneInfo) -> int:
    try:
        return milliseconds(day_start(day, zone)) if day is not None else milliseconds(datetime.max.replace(tzinfo=UTC))
    except OverflowError:  # the first local day of year 1, east of Greenwich
        return milliseconds(datetime.min.replace(tzinfo=UTC))


def _key(interval: Interval, day: date) -> str:
    return day.isoformat()[:7] if interval == "month" else day.isoformat()
