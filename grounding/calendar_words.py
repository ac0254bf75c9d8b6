"""Dates and times of day as people write them, and when one of them bears out another."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

_MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
_WEEKDAYS = (
    ("monday", "mon"),
    ("tuesday", "tue", "tues"),
    ("wednesday", "wed"),
    ("thursday", "thu", "thur", "thurs"),
    ("friday", "fri"),
    ("saturday", "sat"),
    ("sunday", "sun"),
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
WEEKDAY_NUMBERS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_FULL_MONTH = "|".join(names[0] for names in _MONTHS if names[0] not in {"may", "march"})
_FULL_DAY = "|".join(names[0] for names in _WEEKDAYS)
_ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?"
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d))?(?![\w])"

_DATE_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w.-])(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?![\d-])",
        rf"(?<![\w.]){_ORDINAL}\s+(?:of\s+)?(?P<name>{_MONTH})\b\.?{_YEAR}",
        rf"\b(?P<name>{_MONTH})\b\.?\s+(?:the\s+)?{_ORDINAL}(?![\w:%]|[.,]\d){_YEAR}",
        rf"\b(?P<name>{_FULL_MONTH})\b{_YEAR}",
        rf"\b(?:the|in|of|since|until|till|by|from|this|next|last|during|before|after|early|late|mid|every)\s+(?P<name>may|march|{_MONTH})\b\.?{_YEAR}",
        r"(?<![\w/.])(?P<first>\d{1,2})[/.](?P<second>\d{1,2})[/.](?P<year>(?:19|20)?\d\d)(?![\w/])",
        r"(?<![\w/.])(?P<first>\d{2})/(?P<second>\d{2})(?![\w/])",
        rf"\b(?P<weekday>{_FULL_DAY})s?\b",
        r"(?<![\w.,$€£#-])(?P<year>(?:19|20)\d\d)(?![\w%]|[.,:-]\d|\s*(?:eur|usd|gbp|euros?|dollars?|pounds?|times|people|users|orders|items|units|km|g|kg|mb|points?)\b)",
    )
)
_SIGN_OF_ONE = re.compile(r"\d|day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
"""In every date there is; other texts need no closer look."""

_SIGN_WITHOUT_YEAR = re.compile(r"\d[/.]\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)

_MODAL_MAY = re.compile(r"(?:may|march|mar|sun|sat|mon|wed)\b", re.IGNORECASE)

_TIME_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w:.])(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?\s*(?P<half>[ap])\.?\s?m\b\.?",
        r"(?<![\w:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\w:])",
        r"(?<![\w:.])(?P<hour>\d{1,2})\s*o['’]?\s?clock",
        r"\b(?P<word>noon|midday|midnight)\b",
    )
)
_SIGN_OF_TIME = re.compile(r"\d|noon|midday|midnight", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Date:
    """What a text says of a date; parts it leaves open are None. ``ambiguous`` when day and month could be read either way."""

    year: int | None
    month: int | None
    day: int | None
    weekday: int | None
    start: int
    end: int
    ambiguous: bool = False

    def borne_out_by(self, said: "Date") -> bool:
        """Whether ``said`` states at least what this date states. A date that can be read two ways bears out only the same one."""
        if self.ambiguous != said.ambiguous:
            return self.month is None and self.weekday is None and self.year == said.year
        parts = ((self.year, said.year), (self.month, said.month), (self.day, said.day), (self.weekday, said.weekday))
        return all(mine is None or mine == theirs for mine, theirs in parts)


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """Minutes since midnight; two readings where morning or evening is left open."""

    minutes: frozenset[int]
    start: int
    end: int

    def borne_out_by(self, said: "TimeOfDay") -> bool:
        """Whether a reading of ``said`` is one of this."""
        return bool(self.minutes & said.minutes)


def dates(text: str, occurred_at: datetime | None = None) -> tuple[Date, ...]:
    """The dates ``text`` names, in order, none inside another. With ``occurred_at`` a day and month without a year take its year."""
    if not _SIGN_OF_ONE.search(text):
        return ()
    found: list[Date] = []
    for form in _DATE_FORMS:
        for match in form.finditer(text):
            if all(match.end() <= other.start or match.start() >= other.end for other in found):
                found.extend(_date(match))
    dated = sorted(found, key=lambda date: date.start)
    return tuple(_with_year(date, occurred_at) for date in dated)


def may_lack_year(text: str) -> bool:
    """Whether ``text`` may name a month without its year."""
    return bool(_SIGN_WITHOUT_YEAR.search(text))


def _with_year(date: Date, occurred_at: datetime | None) -> Date:
    if occurred_at is None or date.year is not None or date.month is None:
        return date
    return replace(date, year=occurred_at.year)


def _date(match: re.Match[str]) -> list[Date]:
    parts = match.groupdict()
    if parts.get("first"):
        return _numeric(match)
    if name := parts.get("name"):
        if _no_month(name):
            return []
        month: int | None = MONTH_NUMBERS[name.lower()]
    else:
        month = int(parts["month"]) if parts.get("month") else None
    day = int(parts["day"]) if parts.get("day") else None
    weekday = WEEKDAY_NUMBERS[parts["weekday"].lower()] if parts.get("weekday") else None
    if not (1 <= (month or 1) <= 12 and 1 <= (day or 1) <= 31):
        return []
    return [Date(int(parts["year"]) if parts.get("year") else None, month, day, weekday, match.start(), match.end())]


def _no_month(name: str) -> bool:
    """``it may 5``, ``last mar``: the short or double-meaning names count only with their capital."""
    return bool(_MODAL_MAY.fullmatch(name)) and not name[0].isupper()


def _numeric(match: re.Match[str]) -> list[Date]:
    first, second = int(match["first"]), int(match["second"])
    year = _full_year(match.groupdict().get("year"))
    if not (1 <= first <= 31 and 1 <= second <= 31) or min(first, second) > 12:
        return []
    if first > 12:
        return [Date(year, second, first, None, match.start(), match.end())]
    if second > 12:
        return [Date(year, first, second, None, match.start(), match.end())]
    return [Date(year, first, second, None, match.start(), match.end(), ambiguous=first != second)]


def _full_year(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if len(written) == 4 else 2000 + int(written)


def times(text: str) -> tuple[TimeOfDay, ...]:
    """The times of day ``text`` names, in order."""
    if not _SIGN_OF_TIME.search(text):
        return ()
    found: list[TimeOfDay] = []
    for form in _TIME_FORMS:
        for match in form.finditer(text):
            if all(match.end() <= other.start or match.start() >= other.end for other in found):
                found.extend(_time(match))
    return tuple(sorted(found, key=lambda time: time.start))


def _time(match: re.Match[str]) -> list[TimeOfDay]:
    parts = match.groupdict()
    if word := parts.get("word"):
        return [TimeOfDay(frozenset({0 if word.lower() == "midnight" else 720}), match.start(), match.end())]
    hour, minute = int(parts["hour"]), int(parts.get("minute") or 0)
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            return []
        return [TimeOfDay(frozenset({_minutes(hour % 12 + (12 if half.lower() == "p" else 0), minute)}), match.start(), match.end())]
    readings = {_minutes(hour, minute)} | ({_minutes((hour + 12) % 24, minute)} if 1 <= hour <= 12 else set())
    return [TimeOfDay(frozenset(readings), match.start(), match.end())]


def _minutes(hour: int, minute: int) -> int:
    return hour * 60 + minute
