"""When something happened: the ways people write it, read to one instant in UTC."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from runtime.errors import InvalidRequest
from search.ingest.cleaning import shown
from search.ingest.date_order import LAST_MONTH, UNSETTLED, ColumnOrder, DateOrder, order_shown

FIELD = "occurred_at"
_LONGEST = 100
_NOT_A_DATE = "is not a date that can be read; write an ISO 8601 date such as 2026-03-04T09:12:00Z"
_SECONDS = (10**8, 10**10)
_MILLISECONDS = (10**11, 10**13)

_MONTHS = {name: at for at, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_ZONE_NAMES = {"utc": 0, "ut": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_ZONE = rf"(?P<zone>{'|'.join(_ZONE_NAMES)}|(?:utc|gmt)?[+-][0-9]{{2}}(?::?[0-9]{{2}})?)"
_CLOCK = (
    rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}})(?::(?P<second>[0-9]{{2}})(?:[.,](?P<fraction>[0-9]{{1,9}}))?)?"
    rf"(?:\s*(?P<half>[ap]\.?m\.?))?(?:\s*{_ZONE})?(?:\s*\([^()]*\))?"
)
_TIME = rf"(?:(?:,?\s+|\s*t|\s+at\s+){_CLOCK})?"


def _form(date: str, time: str = _TIME) -> re.Pattern[str]:
    return re.compile(rf"{date}{time}\Z", re.IGNORECASE | re.ASCII)


_YEAR_FIRST = _form(r"(?P<year>[0-9]{4})(?P<sign>[-/.])(?P<month>[0-9]{1,2})(?P=sign)(?P<day>[0-9]{1,2})")
_COMPACT = _form(r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})", time="")
_DAY_FIRST = _form(r"(?P<day>[0-9]{1,2})\.\s?(?P<month>[0-9]{1,2})\.\s?(?P<year>[0-9]{4})")
_EITHER = _form(r"(?P<a>[0-9]{1,2})(?P<sign>[/-])(?P<b>[0-9]{1,2})(?P=sign)(?P<year>[0-9]{4})")
_DAY_NAME = _form(rf"{_WEEKDAY}(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\.?[\s-]+(?:of\s+)?{_MONTH},?[\s-]+(?P<year>[0-9]{{4}})")
_NAME_DAY = _form(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>[0-9]{{4}})")
_YEAR_LAST = _form(rf"{_WEEKDAY}{_MONTH}\s+(?P<day>[0-9]{{1,2}})\s+{_CLOCK}\s+(?P<year>[0-9]{{4}})", time="")
_ISO = re.compile(r"[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2}(?:-?[0-9])?)(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?)?\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,9})?\Z", re.ASCII)
_SHORT_YEAR = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2}(?![0-9])")


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant in UTC, to the millisecond; ``zoned`` is False where the zone was assumed."""

    instant: datetime
    zoned: bool


def read_moment(value: object, zone: tzinfo, order: ColumnOrder = UNSETTLED) -> Moment:
    """The instant that ``value`` means.

    Understood: ISO 8601 with or without time and zone, RFC 2822, numbers (or digits) of seconds or milliseconds since 1970, year-first dates
    with ``-``, ``/`` or ``.``, day-first dates with dots, English month names, and ``d/m/yyyy`` or ``m/d/yyyy`` as ``order`` says. What has
    no zone is local to ``zone``; a date alone is its local midnight.

    Raises:
        InvalidRequest: on ``occurred_at``; nothing of the above, no such day, or a date that ``order`` leaves open.
    """
    try:
        written = _epoch(value) if isinstance(value, int | float) else _written(value, order)
        return _in_utc(written, zone)
    except (ValueError, OverflowError) as error:
        reason = str(error) if isinstance(error, _Unreadable) else "is not a day and time between the years 1 and 9999"
        raise InvalidRequest(f"{shown(value)} {reason}", field=FIELD) from error


class _Unreadable(ValueError):
    """Says for the user why a date cannot be read."""


def _in_utc(written: datetime, zone: tzinfo) -> Moment:
    zoned = written.tzinfo is not None
    instant = (written if zoned else written.replace(tzinfo=zone)).astimezone(UTC)
    return Moment(instant.replace(microsecond=instant.microsecond // 1000 * 1000), zoned)


def _epoch(value: float) -> datetime:
    if isinstance(value, bool) or value != value or abs(value) == float("inf"):
        raise _Unreadable(_NOT_A_DATE)
    if _SECONDS[0] <= value < _SECONDS[1]:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)
    if _MILLISECONDS[0] <= value < _MILLISECONDS[1]:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
    raise _Unreadable(
        "is neither seconds nor milliseconds since 1970 of a day from 1973 to 2286; write an ISO 8601 date such as 2026-03-04T09:12:00Z"
    )


def _written(value: object, order: ColumnOrder) -> datetime:
    if not isinstance(value, str):
        raise _Unreadable(_NOT_A_DATE)
    text = value.strip()
    if len(text) > _LONGEST:
        raise _Unreadable("is too long for a date")
    if _ISO.match(text):
        read = _iso(text)
        if read is not None:
            return read
    if _NUMBER.match(text) and not _COMPACT.match(text):
        return _epoch(float(text))
    for form, reader in _FORMS:
        found = form.match(text)
        if found:
            return _combined(found, *reader(found, order))
    raise _Unreadable("has a year of two digits; write all four" if _SHORT_YEAR.match(text) else _NOT_A_DATE)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace(",", ".").upper())
    except ValueError:
        return None


_Day = tuple[int, int]


def _numbered(found: re.Match[str], _order: ColumnOrder) -> _Day:
    return int(found["month"]), int(found["day"])


def _named(found: re.Match[str], _order: ColumnOrder) -> _Day:
    return _MONTHS[found["name"][:3].lower()], int(found["day"])


def _ordered(found: re.Match[str], column: ColumnOrder) -> _Day:
    first, second = int(found["a"]), int(found["b"])
    proven = order_shown(found[0])
    if proven == "either" and column.order is None:
        raise _Unreadable(f"is ambiguous: {column.doubt}")
    if proven in ("dmy", "mdy") and column.order not in (None, proven):
        raise _Unreadable(f"has no month {max(first, second)}, read {_AS[column.order]} like the rest of the column")
    order = column.order if proven == "either" else proven or "dmy"
    return (second, first) if order == "dmy" else (first, second)


_AS: dict[DateOrder | None, str] = {"dmy": "day first", "mdy": "month first"}

_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], ColumnOrder], _Day]], ...] = (
    (_YEAR_FIRST, _numbered),
    (_COMPACT, _numbered),
    (_DAY_FIRST, _numbered),
    (_EITHER, _ordered),
    (_DAY_NAME, _named),
    (_NAME_DAY, _named),
    (_YEAR_LAST, _named),
)


def _combined(found: re.Match[str], month: int, day: int) -> datetime:
    """Date and time of a match; a leap second counts as the second after it."""
    if month > LAST_MONTH:
        raise _Unreadable(f"has no month {month}")
    parts = found.groupdict()
    date = datetime(int(parts["year"]), month, day)  # noqa: DTZ001 (the zone follows)
    if not parts.get("hour"):
        return date
    second = int(parts["second"] or 0)
    time = date.replace(
        hour=_hour(int(parts["hour"]), parts["half"]),
        minute=int(parts["minute"]),
        second=min(second, 59) if second <= 60 else second,
        microsecond=int((parts["fraction"] or "").ljust(6, "0")[:6]),
        tzinfo=_zone(parts["zone"]),
    )
    return time + timedelta(seconds=1) if second == 60 else time


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise _Unreadable("has an hour that a clock with AM and PM does not have")
    return hour % 12 + (12 if half[0] in "pP" else 0)


def _zone(written: str | None) -> tzinfo | None:
    if not written:
        return None
    hours = _ZONE_NAMES.get(written.lower())
    if hours is not None:
        return timezone(timedelta(hours=hours))
    sign, digits = re.sub(r"[a-z:]", "", written.lower())[0], re.sub(r"\D", "", written)
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-offset if sign == "-" else offset)
