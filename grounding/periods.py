"""Ranges of time that a question names: ``since March``, ``last week``, ``in September 2026``, ``between 1 May and 7 May``."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = (
    r"(?P<{0}month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)(?![^\W_])\.?"
)
_YEAR = r"(?P<{0}year>(?:19|20)\d\d)"
_DAY = r"(?P<{0}day>[0-3]?\d)(?:st|nd|rd|th)?"
_COUNTS = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORDS = {word: number for number, word in enumerate(_COUNTS, 1)} | {"couple of": 2, "few": 3}
_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBER_WORDS)})"
_UNIT = r"(?P<unit>day|week|month|quarter|year)s?"
_ALONE = (
    r"(?!\s+(?!and\b|or\b|about|on\b|for\b|by\b|with|in\b|at\b|to\b|until|than|compared|versus|vs|did|do\b|does|has|have|had|was|were|is\b|are\b|how|what|"
    r"which|who|when|why|onwards?|from|per\b|of\b|the\b)[^\W\d_])"
)
_ON = r"on(?=\s*(?:[^\w\s]|\Z)|\s+(?:is|are|was|were|did|do|does|have|has|had|about)\b)"
_ONWARDS = rf"\s+(?:onwards?|forwards?|(?:un)?til (?:now|today)|to (?:now|today|date)|{_ON})"


@dataclass(frozen=True, slots=True)
class Period:
    """Local days, both inclusive; None is open. ``relative`` tells ``last week`` from ``in June``; ``text`` is how the question says it."""

    since: date | None
    until: date | None
    text: str
    relative: bool = False

    @property
    def names_year(self) -> bool:
        """Whether the question gives a year in digits, so that it may speak of the past."""
        return bool(re.search(r"(?<!\d)\d{4}(?!\d)", self.text))


def _date(name: str) -> str:
    """A pattern for one date, its groups prefixed with ``name``."""
    iso = rf"(?P<{name}iso>\d{{4}}-\d{{2}}-\d{{2}})"
    day_first = rf"{_DAY.format(name + 'a_')}\s+(?:of\s+)?{_MONTH.format(name + 'a_')}(?:,?\s+{_YEAR.format(name + 'a_')})?"
    with_day = rf"\s+{_DAY.format(name + 'b_')}(?!\d)(?:,?\s+(?:of\s+)?{_YEAR.format(name + 'b_')})?"
    with_year = rf",?\s+(?:of\s+)?{_YEAR.format(name + 'd_')}"
    month_first = rf"{_MONTH.format(name + 'b_')}(?:{with_day}|{with_year}|{_ALONE})"
    year = rf"{_YEAR.format(name + 'c_')}(?![\w-])"
    return rf"(?:{iso}|{day_first}|{month_first}|{year}|(?P<{name}day_name>today|yesterday))"


def period_in(question: str, today: date) -> Period | None:
    """The first range of time that ``question`` names, seen from ``today``; a month without a year is the latest one that has begun."""
    found: list[tuple[int, Period]] = []
    for pattern, build in _RULES:
        match = pattern.search(question)
        if match and (span := _built(build, match, today)) is not None:
            since, until, relative = span
            found.append((match.start(), Period(since, until, match.group().strip(), relative)))
    return min(found, key=lambda item: (item[0], -len(item[1].text)))[1] if found else None


def periods_in(question: str, today: date) -> tuple[Period, ...]:
    """All ranges of time that ``question`` names, also months and days without a preposition, in its order. One without a year is of the year that another
    one names."""
    found: list[tuple[int, Period]] = []
    rest = question
    while (period := period_in(rest, today)) or (period := _bare(rest, today)):
        at = rest.index(period.text)
        found.append((at, period))
        rest = rest[:at] + " " * len(period.text) + rest[at + len(period.text) :]
    years = [match.group() for _, period in found if (match := re.search(r"(?<!\d)\d{4}(?!\d)", period.text))]
    return tuple(_of_year(period, years[0], today) if years else period for _, period in sorted(found, key=lambda item: item[0]))


def _bare(question: str, today: date) -> Period | None:
    match = _BARE.search(question)
    return Period(*_day_range(match, "x_", today), match.group()) if match else None


def _of_year(period: Period, year: str, today: date) -> Period:
    if period.relative or period.names_year:
        return period
    dated = period_in(f"{period.text} {year}", today) or _bare(f"{period.text} {year}", today)
    return replace(dated, text=period.text) if dated else period


Span = tuple[date | None, date | None, bool]
Builder = Callable[[re.Match[str], date], Span | None]


def _built(build: Builder, match: re.Match[str], today: date) -> Span | None:
    try:
        return build(match, today)
    except (ValueError, OverflowError):
        return None


def _day_range(match: re.Match[str], name: str, today: date) -> tuple[date, date]:
    """First and last day of the date that the groups prefixed with ``name`` hold."""
    group = match.groupdict()
    if iso := group.get(f"{name}iso"):
        day = date.fromisoformat(iso)
        return day, day
    if word := group.get(f"{name}day_name"):
        day = today - timedelta(days=word.lower() == "yesterday")
        return day, day
    month = group.get(f"{name}a_month") or group.get(f"{name}b_month")
    if month is None:
        year = int(group[f"{name}c_year"] or 0)
        return date(year, 1, 1), date(year, 12, 31)
    number = next(index for index, full in enumerate(_MONTHS, 1) if full.startswith(month.lower().rstrip(".")[:3]))
    year_text = group.get(f"{name}a_year") or group.get(f"{name}b_year") or group.get(f"{name}d_year")
    day_text = group.get(f"{name}a_day") or group.get(f"{name}b_day")
    year = int(year_text) if year_text else today.year - ((number, int(day_text or 1)) > (today.month, today.day))
    if day_text:
        day = date(year, number, int(day_text))
        return day, day
    return date(year, number, 1), _month_after(date(year, number, 1)) - timedelta(days=1)


def _month_after(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def _unit_start(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "quarter":
        return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
    return day.replace(month=1, day=1) if unit == "year" else day


def _back(day: date, number: int, unit: str) -> date:
    """The day ``number`` units before ``day``."""
    if unit in ("day", "week"):
        return day - timedelta(days=number * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 - number * {"month": 1, "quarter": 3, "year": 12}[unit]
    first = date(months // 12, months % 12 + 1, 1)
    return first.replace(day=min(day.day, (_month_after(first) - timedelta(days=1)).day))


def _between(match: re.Match[str], today: date) -> Span:
    since, until = _day_range(match, "x_", today)[0], _day_range(match, "y_", today)[1]
    if since > until and not any(match.group(f"x_{place}_year") for place in "abd"):
        since = _back(since, 1, "year")
    return (since, until, False) if since <= until else (until, since, False)


def _last_number(match: re.Match[str], today: date) -> Span:
    number, unit = match.group("number"), match.group("unit").lower()
    count = int(number) if number.isdigit() else _NUMBER_WORDS[number.lower()]
    return _back(today, count, unit) + timedelta(days=1), today, True


def _last_unit(match: re.Match[str], today: date) -> Span:
    unit = match.group("unit").lower()
    if match.group("which").lower() == "past":
        return _back(today, 1, unit) + timedelta(days=1), today, True
    this = _unit_start(today, unit)
    return _unit_start(this - timedelta(days=1), unit), this - timedelta(days=1), True


def _since_last(match: re.Match[str], today: date) -> Span:
    unit = match.group("unit").lower()
    return _unit_start(_unit_start(today, unit) - timedelta(days=1), unit), None, True


def _quarter(match: re.Match[str], today: date) -> Span:
    number = int(match.group("quarter"))
    year = int(match.group("year")) if match.group("year") else today.year - (number > (today.month - 1) // 3 + 1)
    first = date(year, 3 * number - 2, 1)
    return first, _month_after(first + timedelta(days=62)) - timedelta(days=1), False


def _since(match: re.Match[str], today: date) -> Span:
    """*Since March* and *from March on* are open; *from March* is March."""
    word = match.group("word").lower()
    since, until = _day_range(match, "x_", today)
    return since, until if word == "from" and not match.group("onwards") else None, word == "since"


_RULES: tuple[tuple[re.Pattern[str], Builder], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), build)
    for pattern, build in (
        (rf"\b(?:between|from)\s+{_date('x_')}\s+(?:and|to|until|till|through|-)\s+{_date('y_')}", _between),
        (rf"\b(?P<word>since|starting(?:\s+(?:from|in|on))?|from)\s+{_date('x_')}(?P<onwards>{_ONWARDS})?", _since),
        (rf"\bafter\s+{_date('x_')}", lambda match, today: (_day_range(match, "x_", today)[1] + timedelta(days=1), None, False)),
        (rf"\bbefore\s+{_date('x_')}", lambda match, today: (None, _day_range(match, "x_", today)[0] - timedelta(days=1), False)),
        (rf"\b(?:until|till|up to)\s+{_date('x_')}", lambda match, today: (None, _day_range(match, "x_", today)[1], False)),
        (rf"\b(?:in|during|on|for|throughout)\s+{_date('x_')}", lambda match, today: (*_day_range(match, "x_", today), False)),
        (r"\bsince\s+last\s+(?P<unit>week|month|quarter|year)\b", _since_last),
        (
            rf"(?:\A|[,;:]|\b(?:in|over|during|within|for|from|of|the)\b)\s*(?:the\s+)?(?:last|past|previous)\s+{_NUMBER}\s+{_UNIT}\b",
            _last_number,
        ),
        (r"\b(?:the\s+)?(?P<which>last|past|previous)\s+(?P<unit>week|month|quarter|year)\b", _last_unit),
        (
            r"\bthis\s+(?P<unit>week|month|quarter|year)\b(?!\s+(?:plan|ticket|pass))",
            lambda match, today: (_unit_start(today, match.group("unit").lower()), today, True),
        ),
        (r"\b(?:in|during|for)?\s*\bq(?P<quarter>[1-4])(?:\s+(?:of\s+)?(?P<year>(?:19|20)\d\d))?\b", _quarter),
        (r"\b(?P<x_day_name>today|yesterday)\b(?!['’]s)", lambda match, today: (*_day_range(match, "x_", today), False)),
    )
)
_BARE = re.compile(rf"(?<![\w-]){_date('x_')}", re.IGNORECASE)
