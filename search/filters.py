"""Filters as people write them (local days, lists of names) turned into the exact ones an engine takes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from math import isfinite
from zoneinfo import ZoneInfo, available_timezones

from runtime.errors import InvalidRequest
from search.documents import Filters, Scalar

Moment = str | date | datetime
"""A local day (``2026-09-30``) or an instant (``2026-09-30T12:00:00Z``; without an offset: local time of the zone)."""

TICK = timedelta(milliseconds=1)
"""The resolution of ``occurred_at``; an inclusive upper instant ends one tick later."""

MAX_VALUES = 1000
MAX_VALUE_CHARS = 512

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


def filters_of(
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    sources: Sequence[str] | None = None,
    theme_ids: Sequence[str] | None = None,
    account_ids: Sequence[str] | None = None,
    doc_ids: Sequence[str] | None = None,
    rating_min: float | None = None,
    rating_max: float | None = None,
    attributes: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]] = (),
    time_zone: str = "UTC",
) -> Filters:
    """Exact filters. ``since`` and ``until`` are both inclusive; a day means the whole local day of ``time_zone``.

    Raises:
        InvalidRequest: names the argument that is wrong; ``since`` when the range ends before it begins.
    """
    zone = zone_named(time_zone)
    begins = None if since is None else _first_instant(since, zone, "since")
    ends = None if until is None else _instant_after(until, zone, "until")
    if begins is not None and ends is not None and begins >= ends:
        raise InvalidRequest("is after the end of the range", field="since")
    lowest, highest = _rating(rating_min, "rating_min"), _rating(rating_max, "rating_max")
    if lowest is not None and highest is not None and lowest > highest:
        raise InvalidRequest("is above the highest rating asked for", field="rating_min")
    return Filters(
        since=begins,
        before=ends,
        sources=_values(sources, "sources"),
        theme_ids=_values(theme_ids, "theme_ids"),
        account_ids=_values(account_ids, "account_ids"),
        doc_ids=_values(doc_ids, "doc_ids"),
        rating_min=lowest,
        rating_max=highest,
        attributes=_attributes(attributes),
    )


def zone_named(name: object) -> ZoneInfo:
    """The time zone called ``name``.

    Raises:
        InvalidRequest: on ``time_zone``, when there is none.
    """
    if not isinstance(name, str) or name not in _zone_names():
        raise InvalidRequest("must be the name of a time zone, such as Europe/Paris", field="time_zone")
    return ZoneInfo(name)


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a local day, in UTC. Where midnight is skipped by a change of clocks, the instant of the change."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


def local_day(instant: datetime, zone: ZoneInfo) -> date:
    """The local day an instant falls on."""
    return instant.astimezone(zone).date()


def narrowed(filters: Filters, since: datetime | None, before: datetime | None) -> Filters:
    """``filters`` limited further to a range of time; ranges that do not meet leave an empty one, which matches nothing."""
    starts = [moment for moment in (filters.since, since) if moment is not None]
    ends = [moment for moment in (filters.before, before) if moment is not None]
    begin, end = max(starts, default=None), min(ends, default=None)
    if begin is not None and end is not None and end < begin:
        end = begin
    return replace(filters, since=begin, before=end)


def _first_instant(moment: Moment, zone: ZoneInfo, field: str) -> datetime:
    parsed = _parsed(moment, field)
    if isinstance(parsed, datetime):
        return _in_utc(parsed, zone, field)
    return _start_of(parsed, zone, field)


def _instant_after(moment: Moment, zone: ZoneInfo, field: str) -> datetime:
    parsed = _parsed(moment, field)
    try:
        if isinstance(parsed, datetime):
            return _in_utc(parsed, zone, field) + TICK
        return _start_of(parsed + timedelta(days=1), zone, field)
    except OverflowError:
        raise InvalidRequest("is too far in the future", field=field) from None


def _parsed(moment: Moment, field: str) -> date | datetime:
    if not isinstance(moment, str):
        return moment
    text = moment.strip()
    try:
        return date.fromisoformat(text) if _DAY.match(text) else datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest("must be a day such as 2026-09-30 or an instant such as 2026-09-30T12:00:00Z", field=field) from None


def _in_utc(moment: datetime, zone: ZoneInfo, field: str) -> datetime:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise InvalidRequest("is outside the years 1 to 9999", field=field) from None


def _start_of(day: date, zone: ZoneInfo, field: str) -> datetime:
    try:
        return day_start(day, zone)
    except OverflowError:
        raise InvalidRequest("is outside the years 1 to 9999", field=field) from None


def _values(values: Sequence[str] | None, field: str) -> tuple[str, ...] | None:
    if values is None:
        return None
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise InvalidRequest("must be a list of texts", field=field)
    if not values:
        raise InvalidRequest("is an empty list; leave it out for no limit", field=field)
    if len(values) > MAX_VALUES:
        raise InvalidRequest(f"has {len(values)} values; at most {MAX_VALUES} are allowed", field=field)
    if not all(0 < len(value) <= MAX_VALUE_CHARS for value in values):
        raise InvalidRequest(f"every value must have 1 to {MAX_VALUE_CHARS} characters", field=field)
    return tuple(dict.fromkeys(values))


def _rating(value: float | None, field: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InvalidRequest("must be a finite number", field=field)
    return float(value)


def _attributes(attributes: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]]) -> tuple[tuple[str, Scalar], ...]:
    pairs = tuple(attributes.items() if isinstance(attributes, Mapping) else attributes)
    for key, value in pairs:
        if not isinstance(key, str) or not key:
            raise InvalidRequest("every attribute needs a name", field="attributes")
        if not isinstance(value, str | int | float | bool):
            raise InvalidRequest(f"the value of {key} must be a text, a number or true or false", field="attributes")
    if len({key for key, _ in pairs}) < len(pairs):
        raise InvalidRequest("names one attribute twice", field="attributes")
    return pairs
