"""Durations as people type them: ``90s``, ``10m``, ``24h``, ``7d``."""

import re

from runtime.errors import InvalidRequest

_DURATION = re.compile(r"\s*(\d+)\s*(s|m|min|h|d)\s*\Z")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


def seconds_of(text: str, field: str) -> int:
    """How many seconds that is.

    Raises:
        InvalidRequest: on ``field``.
    """
    found = _DURATION.match(text)
    if found is None:
        raise InvalidRequest(f"{text!r} is not a duration such as 90s, 10m, 24h or 7d", field=field)
    return int(found.group(1)) * _SECONDS[found.group(2)]
