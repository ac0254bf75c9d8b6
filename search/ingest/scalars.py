"""Single values of an input row: names, titles and numbers, each with its limits."""

import math
import re
from dataclasses import dataclass

from runtime.errors import InvalidRequest
from search.ingest.cleaning import has_control, one_line, shown

MAX_ID_BYTES = 400
"""Longest ``doc_id``; the engines' own limit is 512 bytes and a passage number comes behind it."""
MAX_NAME_CHARS = 512
MAX_TITLE_CHARS = 2_000
MAX_URL_CHARS = 2_048
MAX_VERSION = 2**62
_LARGEST_RATING = 1e9
_DIGITS = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{0,15})?\Z", re.ASCII)
_DECIMAL_COMMA = re.compile(r"([+-]?[0-9]{1,9}),([0-9]{1,2})\Z", re.ASCII)
_RUNS_CODE = re.compile(r"\s*(?:javascript|data|vbscript)\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """A value as it will be stored, None when absent, with what had to be changed for it."""

    value: str | None
    changes: tuple[str, ...] = ()


def absent(value: object) -> bool:
    """True for None and for text of nothing but white space."""
    return value is None or (isinstance(value, str) and not value.strip())


def identifier(value: object, field: str) -> str | None:
    """A document id: any text of at most 400 bytes in UTF-8 without control characters; whole numbers are taken as text.

    Raises:
        InvalidRequest: on ``field``.
    """
    if absent(value):
        return None
    text = _as_text(value, field).strip()
    if has_control(text):
        raise InvalidRequest("holds a control character, or half a character", field=field)
    if len(text.encode()) > MAX_ID_BYTES:
        raise InvalidRequest(f"is longer than {MAX_ID_BYTES} bytes", field=field)
    return text


def name(value: object, field: str, limit: int = MAX_NAME_CHARS) -> Read:
    """A short text on one line, such as a theme, an account, a language or a title.

    Raises:
        InvalidRequest: on ``field``; not text, or longer than ``limit`` characters.
    """
    if absent(value):
        return Read(None)
    text = _as_text(value, field)
    if len(text) > limit + 100:
        raise InvalidRequest(f"is longer than {limit} characters", field=field)
    line = one_line(text)
    if len(line.text) > limit:
        raise InvalidRequest(f"is longer than {limit} characters", field=field)
    return Read(line.text or None, line.changes)


def link(value: object, field: str) -> Read:
    """An address to show beside the document; one that would run code when followed is refused.

    Raises:
        InvalidRequest: on ``field``.
    """
    read = name(value, field, MAX_URL_CHARS)
    if read.value and _RUNS_CODE.match(read.value):
        raise InvalidRequest("is an address that runs code", field=field)
    return read


def number(value: object, field: str) -> float | None:
    """A finite number, or text that is one (``4.5``, ``4,5``).

    Raises:
        InvalidRequest: on ``field``; words, NaN, infinity, true and false are not numbers.
    """
    if absent(value):
        return None
    read = _number_in(value)
    if read is None or not math.isfinite(read):
        raise InvalidRequest(f"{shown(value)} is not a number", field=field)
    if abs(read) > _LARGEST_RATING:
        raise InvalidRequest(f"{shown(value)} is out of range", field=field)
    return read


def version_number(value: object) -> int | None:
    """A whole number from 1 on, or digits of one.

    Raises:
        InvalidRequest: on ``version``.
    """
    if absent(value):
        return None
    whole = _whole(value)
    if whole is None or not 1 <= whole <= MAX_VERSION:
        raise InvalidRequest(f"{shown(value)} is not a whole number from 1 on", field="version")
    return whole


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    digits = value.strip() if isinstance(value, str) else ""
    return int(digits) if re.fullmatch(r"[0-9]{1,19}", digits, re.ASCII) else None


def _number_in(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return float(value) if abs(value) <= _LARGEST_RATING or isinstance(value, float) else math.inf
    text = _DECIMAL_COMMA.sub(r"\1.\2", value.strip())
    return float(text) if _DIGITS.match(text) else None


def _as_text(value: object, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    raise InvalidRequest(f"{shown(value)} is not text", field=field)
