"""Amounts by a measure: *3 EUR per hour*, *the monthly fee*. One by the hour is none by the week."""

import re
from functools import lru_cache

_MEASURES = "second minute hour day night week weekend month quarter year person people passenger head item page mile litre kilo".split()
_BY = re.compile(
    rf"\b(?:per|an?|each|every)\s+(?:single\s+)?(?P<measure>{'|'.join(_MEASURES)})\b|/\s?(?P<sign>{'|'.join(_MEASURES)})\b"
    r"|\b(?P<adjective>hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual|annually)\b",
    re.IGNORECASE,
)
_ADJECTIVES = {"hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "quarterly": "quarter"}


def other_rate(asked: str, said: str) -> bool:
    """Whether ``asked`` wants something by a measure, and ``said`` gives it by other ones only."""
    wanted = rates(asked)
    return bool(wanted) and bool(rates(said)) and wanted.isdisjoint(rates(said))


@lru_cache(maxsize=1024)
def rates(text: str) -> frozenset[str]:
    """The measures that ``text`` gives amounts by."""
    return frozenset(_measure(match) for match in _BY.finditer(text))


def _measure(match: re.Match[str]) -> str:
    if adjective := match["adjective"]:
        return _ADJECTIVES.get(adjective.lower(), "year")
    return (match["measure"] or match["sign"]).lower()
