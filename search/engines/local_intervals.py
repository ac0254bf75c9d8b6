"""Days, weeks and months of a time zone as instants: cut at local midnight, whatever the clocks did that night."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from runtime.errors import InvalidRequest
from search.engines.instants import from_ms, to_ms

Interval = Literal["day", "week", "month"]
MAX_BUCKETS = 10_000
_LAST_YEAR = 9999


@dataclass(frozen=True, slots=True)
class Intervals:
    """Consecutive intervals: ``keys[i]`` begins at ``starts_ms[i]`` and ends where the next begins."""

    keys: tuple[str, ...]
    starts_ms: tuple[int, ...]


def zone_named(name: str) -> ZoneInfo:
    """The time zone.

    Raises:
        InvalidRequest: on ``time_zone``, for a name that is none.
    """
    if name not in _zone_names():
        raise InvalidRequest("is not a time zone name such as Europe/Paris", field="time_zone")
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def intervals_between(first_ms: int, last_ms: int, interval: Interval, zone: ZoneInfo) -> Intervals:
    """The intervals from the one that holds ``first_ms`` to the one that holds ``last_ms``; none when that is earlier.

    Raises:
        InvalidRequest: on ``interval``, for more than 10,000.
    """
    day = _start(_local_day(first_ms, zone), interval)
    end = _local_day(last_ms, zone)
    days: list[date] = []
    while day <= end:
        if len(days) == MAX_BUCKETS:
            raise InvalidRequest(f"gives more than {MAX_BUCKETS} buckets; take a longer interval or a shorter period", field="interval")
        days.append(day)
        following = _next(day, interval)
        if following is None:
            break
        day = following
    width = len("2026-06") if interval == "month" else len("2026-06-30")
    return Intervals(tuple(each.isoformat()[:width] for each in days), tuple(_midnight_ms(each, zone) for each in days))


def _local_day(instant_ms: int, zone: ZoneInfo) -> date:
    instant = from_ms(instant_ms)
    try:
        return instant.astimezone(zone).date()
    except OverflowError:
        return instant.date()


def _start(day: date, interval: Interval) -> date:
    if interval == "month":
        return day.replace(day=1)
    if interval == "week":
        return date.fromordinal(max(1, day.toordinal() - day.weekday()))
    return day


def _next(day: date, interval: Interval) -> date | None:
    if interval == "month":
        year, month = (day.year, day.month + 1) if day.month < 12 else (day.year + 1, 1)
        return date(year, month, 1) if year <= _LAST_YEAR else None
    step = timedelta(days=7 if interval == "week" else 1)
    return day + step if day <= date.max - step else None


def _midnight_ms(day: date, zone: ZoneInfo) -> int:
    """The first instant of a local day. Where the clocks skip midnight, that is the moment they jump."""
    return to_ms(datetime(day.year, day.month, day.day, tzinfo=zone))
