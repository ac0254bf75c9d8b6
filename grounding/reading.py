"""Everything the verifier reads out of a text, each part once and only when asked for."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grounding.absence import ABSENCE
from grounding.calendar_words import Date, TimeOfDay, dates, may_lack_year, times
from grounding.entities import kinds, names
from grounding.opposites import PHRASES, QUALITIES, SYNONYMS
from grounding.polarity import PASSING_VERBS, Tone, tones
from grounding.quantifiers import strength
from grounding.quantities import Code, Quantity, codes, quantities
from grounding.words import SPEAKER_WORDS, Word, rarity, words

_NO_PREFIX = frozenset("discount display disorder discharge disease dispatch discover disclose dismiss dispute distance district".split())
"""Words that begin with *dis* and are no opposites."""


class Meaning(NamedTuple):
    """A content word with what may stand for it and how the text stands to it. ``weight`` is its rarity, 0.1 to 1."""

    word: Word
    tone: Tone
    quality: str
    sign: int
    synonyms: frozenset[int]
    weight: float
    kin: frozenset[str | int]
    """Keys that two words share exactly when one may speak of what the other speaks of: stem, synonyms, quality, the word without *un-* or *dis-*."""

    def same_word(self, other: "Meaning") -> bool:
        """The same stem, or one as near as a synonym."""
        return self.word.stem == other.word.stem or bool(self.synonyms & other.synonyms)


@dataclass(frozen=True, slots=True)
class Held:
    """Stems, groups of synonyms and qualities with their sides, as sets."""

    stems: frozenset[str]
    synonyms: frozenset[int]
    qualities: frozenset[tuple[str, int]]


def holding(meanings: Sequence[Meaning]) -> Held:
    """What ``meanings`` hold."""
    return Held(
        frozenset(meaning.word.stem for meaning in meanings),
        frozenset(group for meaning in meanings for group in meaning.synonyms),
        frozenset((meaning.quality, meaning.sign) for meaning in meanings if meaning.quality),
    )


class Reading:
    """What a text says, as far as rules can read it. Two readings of one text are alike; neither is ever changed."""

    def __init__(self, text: str, occurred_at: datetime | None = None) -> None:
        self.text = text
        self.occurred_at = occurred_at

    @functools.cached_property
    def words(self) -> tuple[Word, ...]:
        """All words in order."""
        return words(self.text)

    @functools.cached_property
    def tones(self) -> tuple[Tone, ...]:
        """One per word."""
        return tones(self.text, self.words)

    @functools.cached_property
    def meanings(self) -> tuple[Meaning, ...]:
        """The content words."""
        found, before = [], ""
        for word, tone in zip(self.words, self.tones, strict=True):
            sense = _sense(before, word.lower, word.stem)
            if word.content or sense.quality:
                sign = -sense.side if tone.denied else sense.side
                found.append(Meaning(word, tone, sense.quality, sign, sense.synonyms, sense.weight, sense.kin))
            before = word.lower
        return tuple(found)

    @functools.cached_property
    def kin(self) -> frozenset[str | int]:
        """Everything its content words are kin to."""
        return frozenset().union(*(meaning.kin for meaning in self.meanings))

    @functools.cached_property
    def stands(self) -> frozenset[str]:
        """How it stands to everything its content words are kin to; see :attr:`refuted_by`."""
        return frozenset().union(*(_sides(*_stance(meaning)).stands for meaning in self.meanings))

    @functools.cached_property
    def refuted_by(self) -> frozenset[str]:
        """How another text must stand to one of these things to say the opposite of a word of this one. Where the two have nothing in common it does not;
        where they have, ``grounding.vetoes`` looks closely."""
        return frozenset().union(*(_sides(*_stance(meaning)).opposites for meaning in self.asserted))

    @functools.cached_property
    def held(self) -> "Held":
        """What the content words hold, for looking up."""
        return holding(self.meanings)

    @functools.cached_property
    def asserted(self) -> "tuple[Meaning, ...]":
        """Content words of which another text may say the opposite: not those of a quality that is said and denied at once."""
        sides = {(meaning.quality, meaning.sign > 0) for meaning in self.meanings if meaning.quality}
        mixed = {quality for quality, _ in sides if {(quality, True), (quality, False)} <= sides}
        return tuple(meaning for meaning in self.meanings if meaning.quality not in mixed and meaning.word.lower not in PASSING_VERBS)

    @functools.cached_property
    def topic(self) -> tuple[Meaning, ...]:
        """Content words that are no stand-ins for the speaker."""
        return tuple(meaning for meaning in self.meanings if meaning.word.lower not in SPEAKER_WORDS)

    @functools.cached_property
    def may_lack(self) -> bool:
        """Whether it can say that something is not there."""
        return any(word.lower in ABSENCE or word.lower.endswith("n't") for word in self.words)

    @functools.cached_property
    def unreal(self) -> tuple[tuple[int, int], ...]:
        """Where the words stand that are only wished for, promised or expected."""
        return tuple((word.start, word.end) for word, tone in zip(self.words, self.tones, strict=True) if tone.unreal)

    @functools.cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Numbers with units."""
        return quantities(self.text)

    @functools.cached_property
    def dates(self) -> tuple[Date, ...]:
        """Dates; those without a year take that of ``occurred_at``."""
        return dates(self.text, self.occurred_at)

    @functools.cached_property
    def times(self) -> tuple[TimeOfDay, ...]:
        """Times of day."""
        return times(self.text)

    @functools.cached_property
    def codes(self) -> tuple[Code, ...]:
        """Identifiers."""
        return codes(self.text)

    @functools.cached_property
    def names(self) -> tuple[Word, ...]:
        """Words that name someone or something."""
        return names(self.text, self.words)

    @functools.cached_property
    def kinds(self) -> dict[int, set[int]]:
        """Of exclusive things, which are named."""
        return kinds(self.words)

    @functools.cached_property
    def strength(self) -> int:
        """See :func:`grounding.quantifiers.strength`."""
        return strength(self.text)


def read(text: str, occurred_at: datetime | None = None) -> Reading:
    """The reading of ``text``, remembered for a while. Only a text with a date that lacks its year is read anew for each ``occurred_at``."""
    return _read(text, occurred_at if occurred_at is not None and may_lack_year(text) else None)


@functools.lru_cache(maxsize=8192)
def _read(text: str, occurred_at: datetime | None) -> Reading:
    return Reading(text, occurred_at)


class _Sense(NamedTuple):
    """What a word may stand for wherever it stands."""

    quality: str
    side: int
    synonyms: frozenset[int]
    weight: float
    kin: frozenset[str | int]


@functools.lru_cache(maxsize=50_000)
def _sense(before: str, lower: str, word_stem: str) -> _Sense:
    quality, side = PHRASES.get(f"{before} {lower}") or QUALITIES.get(lower, ("", 1))
    synonyms = SYNONYMS.get(lower, frozenset())
    return _Sense(quality, side, synonyms, rarity(lower), _kin(word_stem, lower, quality, synonyms))


def _kin(word_stem: str, lower: str, quality: str, synonyms: frozenset[int]) -> frozenset[str | int]:
    keys: set[str | int] = {f"s {word_stem}", f"w {lower}", *synonyms}
    if quality:
        keys.add(f"q {quality}")
    return frozenset(keys | {f"w {_without_prefix(lower)}"})


class _Sides(NamedTuple):
    """Where a content word stands, and where another must stand to be its opposite."""

    stands: frozenset[str]
    opposites: frozenset[str]


def _stance(meaning: Meaning) -> tuple[str, str, str, int, bool, bool]:
    return meaning.word.lower, meaning.word.stem, meaning.quality, meaning.sign, meaning.tone.denied, meaning.tone.unreal


@functools.lru_cache(maxsize=50_000)
def _sides(lower: str, word_stem: str, quality: str, sign: int, denied: bool, unreal: bool) -> _Sides:  # noqa: FBT001 (parts of a key)
    """The same word or a synonym is opposed by being denied or not, a quality by its other side or by being unreal, ``unpaid`` by ``paid``."""
    here, there = ("no", "so") if denied else ("so", "no")
    same = (f"s {word_stem}", *SYNONYMS.get(lower, ()))
    stands, opposites = (
        {f"{here} {key}" for key in same} | {f"{here} w {lower}"},
        {f"{there} {key}" for key in same} | {f"{here} u {lower}"},
    )
    if (whole := _without_prefix(lower)) != lower:
        stands.add(f"{here} u {whole}")
        opposites |= {f"{here} w {whole}", f"{here} u {whole}"}
    if quality:
        stands |= {f"{sign} {quality}"} | ({f"unreal {quality}"} if unreal else set())
        opposites |= {f"{-sign} {quality}"} | (set() if unreal else {f"unreal {quality}"})
    return _Sides(frozenset(stands), frozenset(opposites))


def _without_prefix(lower: str) -> str:
    """*paid* of *unpaid*, *like* of *dislike*; other words as they are."""
    return lower.removeprefix("un").removeprefix("dis") if lower.startswith(("un", "dis")) and lower not in _NO_PREFIX else lower
