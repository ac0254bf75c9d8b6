"""Closed lists of meanings: opposite qualities, near-synonyms, and things of which a text means one. ``opposites.json`` holds the words."""

import importlib.resources
import json
from collections.abc import Mapping
from types import MappingProxyType

_LISTED = json.loads(importlib.resources.files("grounding").joinpath("opposites.json").read_text("utf-8"))


def _signs() -> dict[str, tuple[str, int]]:
    sides = ((name, sign, side) for name, pair in _LISTED["qualities"].items() for sign, side in zip((1, -1), pair, strict=True))
    return {word: (name, sign) for name, sign, side in sides for word in side.split()}


def _groups() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(_LISTED["synonyms"]):
        for word in group.split():
            groups.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


def _kinds() -> dict[str, tuple[int, int]]:
    members = ((family, member, listed) for family, row in enumerate(_LISTED["exclusive"]) for member, listed in enumerate(row))
    return {word: (family, member) for family, member, listed in members for word in listed.split()}


QUALITIES: Mapping[str, tuple[str, int]] = MappingProxyType(_signs())
"""Lower-case word → quality and side (+1 or -1)."""

PHRASES: Mapping[str, tuple[str, int]] = MappingProxyType({phrase: (name, sign) for phrase, (name, sign) in _LISTED["phrases"].items()})
"""Two lower-case words in a row → quality and side, for words that alone say nothing of the kind."""

SYNONYMS: Mapping[str, frozenset[int]] = MappingProxyType(_groups())
"""Lower-case word → the groups of near-synonyms it is in."""

EXCLUSIVE: Mapping[str, tuple[int, int]] = MappingProxyType(_kinds())
"""Lower-case word → family and member; a text about one member is not about another of the family."""
