"""JSON in and out of the doors, strictly: finite numbers, valid UTF-8, one typed error for everything that is not JSON."""

import json
import math
from typing import Any, NoReturn

from runtime.errors import InvalidRequest

MAX_DEPTH = 64
"""Nesting of arrays and objects in a request; nothing we read is deeper than eight."""


def read_json(body: bytes | str) -> Any:
    """The value of a JSON text.

    Raises:
        InvalidRequest: it is not UTF-8, not JSON, holds NaN, Infinity or an endless number, or is nested deeper than :data:`MAX_DEPTH`.
    """
    try:
        value = json.loads(body, parse_constant=_no_constant, parse_int=_whole, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"is not JSON ({_why(error)})", field="body") from error
    if _depth(value) > MAX_DEPTH:
        raise InvalidRequest(f"is nested deeper than {MAX_DEPTH} levels", field="body")
    return value


def write_json(value: Any) -> bytes:
    """UTF-8 JSON. Half a character (a lone surrogate) leaves as ``?``; a number that is not finite is a programming error."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        raise ValueError(f"a number of {len(digits)} digits") from error


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError("a number beyond 1.8e308")
    return value


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} column {error.colno}: {error.msg}"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        item, level = stack.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, level)
            if deepest > MAX_DEPTH:
                break
            stack.extend((inner, level + 1) for inner in (item.values() if isinstance(item, dict) else item))
    return deepest
