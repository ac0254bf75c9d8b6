"""Names in a text, and words of which a text means one of a kind (iPhone or Android, credit or debit)."""

import re
from collections.abc import Sequence

from grounding.calendar_words import MONTH_NUMBERS, WEEKDAY_NUMBERS
from grounding.opposites import EXCLUSIVE
from grounding.quantities import UNITS
from grounding.words import STOP_WORDS, Word

_NO_NAMES = (
    frozenset("i ok faq tv id am pm vs english internet".split())
    | frozenset(MONTH_NUMBERS)
    | frozenset(WEEKDAY_NUMBERS)
    | {f"{day}s" for day in WEEKDAY_NUMBERS}
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…•\n\"“”‘(\[]|(?:^|\s)[-–—*])\s*\Z")
TITLES = frozenset("dr mr mrs ms prof".split())
_TITLED = re.compile(r"\b(?:dr|mr|mrs|ms|prof)\.?\s+\Z", re.IGNORECASE)
_SHOUTING = 0.6
_ALWAYS_NAMES = frozenset(
    "android iphone ipad ios macos mac macbook windows linux ubuntu chrome firefox safari paypal visa mastercard whatsapp instagram facebook google amazon "
    "apple samsung pixel huawei xiaomi klarna stripe gmail outlook excel zendesk slack zoom spotify netflix uber dhl ups fedex hermes gls dpd".split()
)

_ALSO_WORDS = frozenset("apple visa windows chrome edge mac safari stripe pixel slack zoom excel outlook ups hermes".split())
"""Products called like something else, which only a capital tells apart."""
_NEVER_NAMES = _NO_NAMES | TITLES | STOP_WORDS | frozenset(UNITS)


def names(text: str, words: Sequence[Word]) -> tuple[Word, ...]:
    """Words that name someone or something: a capital inside a sentence, inner capitals, or a product everyone writes small as well.

    The capital of a sentence's first word says nothing, but that behind a title does (*Dr. Patel*); the title itself names nobody. Text that shouts or is
    set in title case names nothing by its capitals.
    """
    shouting = _shouts(text, words)
    return tuple(word for word in words if _is_name(text, word, shouting))


def _is_name(text: str, word: Word, shouting: bool) -> bool:  # noqa: FBT001 (a fact about the text, computed once)
    raw = text[word.start : word.end]
    if word.lower in _ALWAYS_NAMES:
        return raw[0].isupper() or word.lower not in _ALSO_WORDS
    if not raw[0].isalpha() or word.lower in _NEVER_NAMES or any(letter.isdigit() for letter in raw):
        return False
    inner = any(letter.isupper() for letter in raw[1:]) and not raw.isupper()
    if inner:
        return True
    if shouting or not raw[0].isupper():
        return False
    if _TITLED.search(text, max(0, word.start - 7), word.start):
        return True
    return not _SENTENCE_START.search(text, max(0, word.start - 4), word.start)


def _shouts(text: str, words: Sequence[Word]) -> bool:
    letters = [word for word in words if text[word.start].isalpha() and len(word.lower) > 2]
    capitals = sum(text[word.start].isupper() for word in letters)
    return len(letters) >= 4 and capitals / len(letters) > _SHOUTING


def kinds(words: Sequence[Word]) -> dict[int, set[int]]:
    """Family of exclusive things → the members the words name."""
    found: dict[int, set[int]] = {}
    for word in words:
        if kind := EXCLUSIVE.get(word.lower):
            found.setdefault(kind[0], set()).add(kind[1])
    return found


def excludes(claimed: dict[int, set[int]], stated: dict[int, set[int]]) -> bool:
    """Whether the claim is about one of a kind and the span about another one only."""
    return any(family in stated and not members & stated[family] for family, members in claimed.items())
