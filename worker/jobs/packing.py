"""JSON values as entries of the state store: packed, and cut into parts where one is too long for an entry."""

import base64
import json
import zlib
from typing import Any

PART_CHARS = 900_000
"""Longest part; an entry of the state store may have a megabyte."""


def packed(value: Any) -> str:
    """A JSON value as text, about a quarter as long."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 6)).decode("ascii")


def unpacked(text: str) -> Any:
    """What :func:`packed` made a text of."""
    return json.loads(zlib.decompress(base64.b64decode(text)).decode("utf-8", "surrogatepass"))


def parts_of(text: str) -> list[str]:
    """The text in parts of bounded length, at least one."""
    return [text[start : start + PART_CHARS] for start in range(0, len(text), PART_CHARS)] or [""]
