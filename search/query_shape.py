"""What a question looks like, before anything is searched: codes such as ``SAVE20``, quoted phrases, plain words."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from search.analysis import QUESTION_WORDS, STOP_WORDS

MAX_CODES = 8
MAX_PHRASES = 8
MAX_CHARS = 10_000
"""The shape of a longer question is read from this many of its first characters."""

_LONG_ID = 5
_CODE = re.compile(r"(?<![^\W_])[^\W_]+(?:[-_.#/][^\W_]+)*(?![^\W_])")
_WORD_AND_NUMBER = re.compile(r"(?<![^\W_])([^\W\d_]{2,8})[ \t]+#?(\d{2,})(?![^\W_]|[-.,/:]\d)")
_LONG_NUMBER = re.compile(r"(?<![^\W_])\d{4,}(?![^\W_]|[.,]\d)")
_NO_NAMES = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec "
    "under over around between within after before since until least most only last next past first paid cost costs spent".split()
) | (STOP_WORDS | QUESTION_WORDS)
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)\Z", re.IGNORECASE)
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_SMALL_NUMBER = re.compile(r"(?:\d+(?:st|nd|rd|th|s|k|m|h|x|am|pm|%)?|\d+[-/.]\d+(?:[-/.]\d+)?)\Z", re.IGNORECASE)
_QUOTED = re.compile(
    '"([^"]{2,200})"|\u201c([^\u201d]{2,200})\u201d|\u00ab([^\u00bb]{2,200})\u00bb|\u201e([^\u201c\u201d]{2,200})[\u201c\u201d]'
)


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier that either stands in a text or does not. ``written`` is how the question has it, ``runs`` its letters and digits in turn."""

    written: str
    runs: tuple[str, ...]
    spaced: bool

    @property
    def sure(self) -> bool:
        """False for what may as well be plain words: ``room 204``, a bare ``1200``."""
        return self.written[0].isupper() if self.spaced else not self.written.isdigit() or len(self.written) >= _LONG_ID

    @property
    def spellings(self) -> tuple[str, ...]:
        """How else it may be written; the lexical leg is asked for all of them."""
        return tuple(dict.fromkeys(joiner.join(self.runs) for joiner in ("", "-", "_", " ")))

    def strength(self, text: str) -> float:
        """1 where the text holds the code (in any case, ``-`` and ``_`` as good as nothing), 0.5 where only a space tears it apart, else 0.

        A code that the question itself wrote with a space is held by any of these, and half by its number alone when that is long enough
        to be one (``order 10423`` by "order number 10423").
        """
        joined, torn = _patterns(self.runs)
        if joined(text):
            return 1.0
        if torn(text):
            return 1.0 if self.spaced else 0.5
        number_alone = self.spaced and len(self.runs[-1]) >= _LONG_ID and _patterns(self.runs[-1:])[0](text)
        return 0.5 if number_alone else 0.0


@dataclass(frozen=True, slots=True)
class QueryShape:
    """The exact parts of a question. Both empty: plain words."""

    codes: tuple[Code, ...] = ()
    phrases: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """True when the question insists on something letter by letter."""
        return bool(self.phrases) or any(code.sure for code in self.codes)


def shape_of(query: str) -> QueryShape:
    """Codes and quoted phrases of a question, at most 8 of each.

    A code mixes letters and digits (``SAVE20``, ``ERR_4012``, ``v2.3.1``), is a word with a number behind it (``ERR 4012``), or a number of four
    digits or more that is no year. Ordinals, sizes, dates and times (``2nd``, ``10k``, ``5pm``) are not codes.
    """
    query = query[:MAX_CHARS]
    phrases = tuple(dict.fromkeys(next(filter(None, groups)).strip() for groups in _QUOTED.findall(query)))
    return QueryShape(_codes(query)[:MAX_CODES], tuple(phrase for phrase in phrases if phrase)[:MAX_PHRASES])


def _codes(query: str) -> tuple[Code, ...]:
    found: dict[tuple[str, ...], Code] = {}
    for match in _CODE.finditer(query):
        if _mixed(match[0]):
            found.setdefault(_runs(match[0]), Code(match[0], _runs(match[0]), spaced=False))
    for match in _WORD_AND_NUMBER.finditer(query):
        word = match[1].casefold()
        if match[1].isupper() or (len(match[2]) >= 3 and word not in _NO_NAMES):
            found.setdefault((word, match[2]), Code(match[0], (word, match[2]), spaced=True))
    taken = {run for runs in found for run in runs}
    for match in _LONG_NUMBER.finditer(query):
        if match[0] not in taken and not _looks_like_year(match[0]):
            found.setdefault((match[0],), Code(match[0], (match[0],), spaced=False))
    return tuple(found.values())


def _mixed(word: str) -> bool:
    letters, digits = any(map(str.isalpha, word)), any(map(str.isdigit, word))
    if _VERSION.match(word):
        return letters or word.count(".") >= 2
    return letters and digits and not _SMALL_NUMBER.match(word)


def _looks_like_year(number: str) -> bool:
    return len(number) == 4 and number[:2] in ("19", "20")


def _runs(code: str) -> tuple[str, ...]:
    version = _VERSION.match(code)
    return (version[1],) if version else tuple(_RUNS.findall(code.casefold()))


@lru_cache(maxsize=1024)
def _patterns(runs: tuple[str, ...]) -> tuple[Callable[[str], object], Callable[[str], object]]:
    def pattern(joiner: str) -> Callable[[str], object]:
        body = joiner.join(map(re.escape, runs))
        return re.compile(rf"(?<![^\W_])(?<!\d[.])v?{body}(?![^\W_]|[.]\d)", re.IGNORECASE).search

    return pattern("[-_./#]?"), pattern(r"[-_./#\s]{1,2}")
