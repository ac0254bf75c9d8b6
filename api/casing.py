"""Names in the two casings the doors speak: snake_case inside and in MCP, camelCase everywhere else."""

import re
from collections.abc import Mapping
from typing import Any

_AFTER_UNDERSCORE = re.compile(r"_([a-z0-9])")
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")

OPAQUE = frozenset({"attributes", "plan", "detail", "used", "limits", "mapping"})
"""Fields whose value is an object with keys that are not ours to rename."""


def camel(name: str) -> str:
    """``filters.rating_min`` as ``filters.ratingMin``."""
    return _AFTER_UNDERSCORE.sub(lambda match: match.group(1).upper(), name)


def snake(name: str) -> str:
    """``filters.ratingMin`` as ``filters.rating_min``."""
    return _CAPITAL.sub(lambda match: "_" + match.group(1).lower(), name)


def snake_keys(value: Any) -> Any:
    """The same JSON value with every key in snake_case, except inside :data:`OPAQUE` objects."""
    if isinstance(value, Mapping):
        return {snake(key): item if key in OPAQUE else snake_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [snake_keys(item) for item in value]
    return value
