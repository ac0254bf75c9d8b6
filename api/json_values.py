"""Values as JSON: finite numbers of at most six decimals, instants in UTC."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

DECIMALS = 6


def number(value: float) -> float:
    """A finite float of at most six decimals; never ``-0.0``.

    Raises:
        ValueError: the number is not finite, which no part of the core may return.
    """
    if not math.isfinite(value):
        raise ValueError("a number that is not finite reached a door")
    return round(float(value), DECIMALS) + 0.0


def optional_number(value: float | None) -> float | None:
    """:func:`number`, or None."""
    return None if value is None else number(value)


def moment(value: datetime) -> str:
    """RFC 3339 in UTC; milliseconds only where there are some."""
    precision = "milliseconds" if value.microsecond else "seconds"
    return value.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def optional_moment(value: datetime | None) -> str | None:
    """:func:`moment`, or None."""
    return None if value is None else moment(value)


def plain(value: Any) -> Any:
    """A value of open shape (attributes, the detail of a step) as JSON; keys stay as they are."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(item) for item in items]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, datetime):
        return moment(value)
    return number(value) if isinstance(value, float) else str(value)
