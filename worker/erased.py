"""What an erased account leaves in other things than documents: its name, in what was asked, filtered by and counted."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from runtime.errors import InvalidRequest
from search.listing import listing_of

ERASED = "[erased account]"

_STAY = frozenset(
    (
        "quote snippet doc_id doc_ids cites run_id digest_id monitor_id fingerprint revision created_at updated_at window_start window_end window_end "
        "decided_at first_seen last_seen outcome kind name reason gate aggregation intent ruled form unit severity time_zone state"
    ).split()
)
"""Words of documents that are still there, ids, and what has a meaning of its own."""
_SHORT = 3
"""A shorter name is taken out only where it is the whole value: as a word it would be found everywhere."""


def without_name(value: Any, name: str) -> Any:
    """A JSON value without the name: as a value, as a key, as a word of a text, and inside cursors, which are given up for it."""
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, Mapping):
        quoting = bool(value.get("citations")) and not value.get("proof")
        return {_text(key, name): item if _stays(key, quoting=quoting) else _member(key, item, name) for key, item in value.items()}
    return [without_name(item, name) for item in value] if isinstance(value, list | tuple) else value


def _stays(key: str, *, quoting: bool) -> bool:
    return key in _STAY or (key == "text" and quoting)


def _member(key: str, item: Any, name: str) -> Any:
    if key == "cursor" and isinstance(item, str):
        return None if _in_cursor(item, name) else item
    return without_name(item, name)


def _in_cursor(cursor: str, name: str) -> bool:
    try:
        said = repr(listing_of(cursor))
    except InvalidRequest:
        return True
    return _text(said, name) != said or repr(name) in said


def _text(text: str, name: str) -> str:
    if text == name:
        return ERASED
    return text if len(name) < _SHORT else _word(name).sub(ERASED, text)


@lru_cache(256)
def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
