"""The filter options a user typed, turned into the filters of a search."""

import math
from collections.abc import Sequence

from api.cli.options import Narrowing
from runtime.errors import InvalidRequest
from search.documents import Filters, Scalar
from search.filters import filters_of, zone_named

_WORDS: dict[str, Scalar] = {"true": True, "false": False}


def narrowed(narrowing: Narrowing, default_zone: str) -> Filters:
    """Filters of these options; days are local to ``--time-zone``, both ends inclusive.

    Raises:
        InvalidRequest: names the option that cannot be read.
    """
    low, high = _bounds(narrowing.rating) if narrowing.rating is not None else (None, None)
    return filters_of(
        since=narrowing.since,
        until=narrowing.until,
        sources=_several(narrowing.source),
        theme_ids=_several(narrowing.theme),
        account_ids=_several(narrowing.account),
        rating_min=low,
        rating_max=high,
        attributes=[_attribute(pair) for pair in narrowing.attr or ()],
        time_zone=zone_of(narrowing, default_zone),
    )


def zone_of(narrowing: Narrowing, default_zone: str) -> str:
    """The name of the zone whose days are meant.

    Raises:
        InvalidRequest: there is no such zone.
    """
    return zone_named(narrowing.time_zone or default_zone).key


def _several(values: Sequence[str] | None) -> Sequence[str] | None:
    return values or None


def _bounds(text: str) -> tuple[float | None, float | None]:
    low_text, dots, high_text = text.partition("..")
    low = _rating(low_text)
    high = _rating(high_text) if dots else low
    if low is None and high is None:
        raise InvalidRequest(f"{text!r} is not a range such as 1..2", field="rating")
    if low is not None and high is not None and low > high:
        raise InvalidRequest(f"{text!r} begins above its end", field="rating")
    return low, high


def _rating(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidRequest(f"{text!r} is not a number; give a range such as 1..2", field="rating")
    return value


def _attribute(pair: str) -> tuple[str, Scalar]:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise InvalidRequest(f"{pair!r} is not KEY=VALUE", field="attr")
    return key.strip(), value
