"""The attributes of a tenant's documents: *city: Berlin*, *plan: pro*."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from grounding.words import words
from search.documents import Document, Scalar

LONGEST_VALUE = 60
"""Characters of a value that a question may name; what is longer is a text."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name and a value that documents carry, and how many of those that were looked at do."""

    key: str
    value: Scalar
    documents: int

    @property
    def spelled(self) -> str:
        """The value as a question may write it."""
        return spelled(self.value)


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes seen, the most frequent first; ``complete`` when every document of the tenant was looked at."""

    seen: tuple[Attribute, ...] = ()
    complete: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The names, in a fixed order."""
        return tuple(sorted({attribute.key for attribute in self.seen}))

    def of(self, key: str) -> tuple[Attribute, ...]:
        """Those of one name."""
        return tuple(attribute for attribute in self.seen if attribute.key == key)


def spelled(value: Scalar) -> str:
    """``5`` for 5.0, text as it is."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def attributes_of(documents: Iterable[Document], *, complete: bool) -> Attributes:
    """The attributes of documents, counted. Truth values, long texts and values of nothing but signs are left out: no question names them."""
    counts: Counter[tuple[str, str]] = Counter()
    values: dict[tuple[str, str], Scalar] = {}
    for document in documents:
        for key, value in document.attributes.items():
            if _nameable(key, value):
                counts[key, spelled(value)] += 1
                values.setdefault((key, spelled(value)), value)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return Attributes(tuple(Attribute(each[0], values[each], count) for each, count in ordered), complete)


def _nameable(key: str, value: Scalar) -> bool:
    return not isinstance(value, bool) and len(spelled(value)) <= LONGEST_VALUE and bool(words(spelled(value)) and words(key))
