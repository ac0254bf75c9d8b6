"""The facts of an entry of the state store: a few typed values beside its body, which boards and searches may count.

The body of an entry is opaque to every store; its facts are not. Every name is declared here with its type, on both engines alike; OpenSearch maps
them one by one (``search/engines/templates/state.json``). Facts are counts, times and words of the program's own. Nothing that a person wrote is
one: no question, no text of a document, no name of an account.
"""

from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any, Literal

from runtime.errors import InvalidRequest
from search.engines.intervals import instant, milliseconds

Fact = str | float | bool | datetime | tuple[str, ...]
FactType = Literal["date", "keyword", "boolean", "double", "long"]

FACTS: Mapping[str, FactType] = {
    "at": "date",  # of all: when it happened
    "outcome": "keyword",  # of all: how it ended
    "seconds": "double",  # of all: how long it took
    "refused": "boolean",  # of runs, to ``degraded``
    "reason": "keyword",  # of rejections too, without the value that was rejected
    "intent": "keyword",
    "groundedness": "double",
    "citation_precision": "double",
    "claims": "long",
    "recalled": "boolean",
    "degraded": "keyword",
    "received": "long",  # of ingests, to ``rejected``
    "indexed": "long",
    "unchanged": "long",
    "updated": "long",
    "duplicate": "long",
    "rejected": "long",
    "field": "keyword",  # of rejections
    "rows": "long",
}
"""A keyword may have several values."""

MAX_WORD_CHARS = 500
MAX_WORDS = 50
_LARGEST = 2**63 - 1


def facts_as_json(facts: Mapping[str, Fact] | None) -> dict[str, Any]:
    """Facts as they are stored: times in milliseconds, several words as a list.

    Raises:
        InvalidRequest: on ``facts``; a name that is not declared, or a value of another type.
    """
    return {name: _stored(name, value) for name, value in (facts or {}).items()}


def facts_from_json(stored: Mapping[str, Any] | None) -> dict[str, Fact]:
    """The inverse of :func:`facts_as_json`; facts of a later release are left out."""
    return {name: _read(FACTS[name], value) for name, value in (stored or {}).items() if name in FACTS}


def _stored(name: str, value: Fact) -> Any:
    declared = FACTS.get(name)
    if declared is None:
        raise InvalidRequest(f"has no fact {name!r}; those there are stand in search/state_facts.py", field="facts")
    if not _fits(declared, value):
        raise InvalidRequest(f"{name} is no {declared}", field="facts")
    if isinstance(value, datetime):
        return milliseconds(value)
    return list(value) if isinstance(value, tuple) else value


def _fits(declared: FactType, value: object) -> bool:
    if declared == "date":
        return isinstance(value, datetime) and value.tzinfo is not None
    if declared == "keyword":
        words = value if isinstance(value, tuple) else (value,)
        return len(words) <= MAX_WORDS and all(isinstance(word, str) and len(word) <= MAX_WORD_CHARS for word in words)
    if declared == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float) or (declared == "long" and not isinstance(value, int)):
        return False
    return isfinite(value) and abs(value) <= _LARGEST


def _read(declared: FactType, value: Any) -> Fact:
    if declared == "date":
        return instant(value)
    if isinstance(value, list):
        return tuple(value)
    return float(value) if declared == "double" else value
