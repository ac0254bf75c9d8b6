"""Things a text says to be there, or not to be there, in whatever words: *the manual is missing*, *there was no manual*, *it came without a manual*."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.absence import GONE, LACKING, NOT
from grounding.opposites import QUALITIES
from grounding.reading import Reading, read
from grounding.words import STOP_WORDS, Word

_BE = frozenset("is are was were be been isn't aren't wasn't weren't".split())
_DO = frozenset("do does did don't doesn't didn't has have had hasn't haven't hadn't".split())
_DETERMINERS = frozenset("a an the any my our your its their his her some plenty of several enough single one".split())
_HERE = frozenset("there present included available provided supplied visible".split())
_HAVING = frozenset(
    "have has had having got get include includes included contain contains contained show shows with receive received".split()
)
_POSSESSED = frozenset("have has had having get got with show shows".split())
"""Verbs that say possession only in front of a determiner, or behind *do*."""
_COMING = frozenset("arrived arrive arrives came come delivered".split())
_TRAILING = _HERE | frozenset("left inside anywhere yet yesterday today ever again anymore".split())
_ADVERBS = frozenset("still also completely simply just already totally entirely always actually even".split())
_LONGEST = 4


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing by the stems of its words, whether it is there, and where the words begin that say so."""

    stems: frozenset[str]
    there: bool
    starts: frozenset[int]

    def same(self, other: "Thing") -> bool:
        """One may be named more fully than the other."""
        return self.stems <= other.stems or other.stems <= self.stems


@dataclass(frozen=True, slots=True)
class Agreement:
    """Where two texts speak of the presence of one thing: starts of the first one's words on which they are of one mind, and of those on which they differ."""

    agreed: frozenset[int]
    differing: frozenset[int]


NONE = Agreement(frozenset(), frozenset())


def agreement(claim: Reading, span: Reading) -> Agreement:
    """What ``claim`` and ``span`` say of the presence of the same things; nothing when neither finds anything absent."""
    if not (claim.may_lack or span.may_lack):
        return NONE
    claimed = things(claim.text)
    said = things(span.text) if claimed else ()
    if not said or all(thing.there for thing in (*claimed, *said)):
        return NONE
    pairs = [(one, other) for one in claimed for other in said if one.same(other)]
    agreed = (one.starts for one, other in pairs if one.there == other.there)
    differing = (one.starts for one, other in pairs if one.there != other.there)
    return Agreement(frozenset().union(*agreed), frozenset().union(*differing))


@lru_cache(maxsize=8192)
def things(text: str) -> tuple[Thing, ...]:
    """Everything ``text`` says to be there or not; what is only wished for or asked is left out."""
    reading = read(text)
    if text.rstrip().endswith("?"):
        return ()
    found = []
    for at in range(len(reading.words)):
        if not reading.tones[at].unreal:
            found += [*_lacked(reading, at), *_had(reading, at), *_standing(reading, at)]
    return tuple(found)


def _lacked(reading: Reading, at: int) -> Iterator[Thing]:
    """*without a manual*, *lacks a manual*, *does not lack a manual*."""
    words = reading.words
    if words[at].lower in LACKING and not (at and words[at - 1].lower in _BE):
        yield from _thing(reading, _phrase(words, at + 1), there=_negated(words, at), said=(at,))


def _had(reading: Reading, at: int) -> Iterator[Thing]:
    """*there was no manual*, *has a manual*, *did not include a manual*."""
    words, lower = reading.words, reading.words[at].lower
    following = words[at + 1].lower if at + 1 < len(words) else ""
    expletive = lower in _BE and at > 0 and words[at - 1].lower == "there"
    if not expletive and lower not in _HAVING:
        return
    if lower in {"included", "received"} and at and words[at - 1].lower in _BE | NOT and words[at - 2].lower in _BE | {"not"}:
        return
    counted = following in _DETERMINERS | {"no", "zero", "not"}
    if lower in _POSSESSED and not counted and not _after_do(words, at):
        return
    start = at + 1
    none = following in {"no", "zero"} or lower.endswith("n't")
    if following in {"no", "zero", "not"}:
        start += 1
    none |= following == "not" or _negated(words, at)
    yield from _thing(reading, _phrase(words, start), there=not none, said=(at,))


def _standing(reading: Reading, at: int) -> Iterator[Thing]:
    """*the manual was missing*, *no manual was in the box*, *the manual never arrived*."""
    words, lower = reading.words, reading.words[at].lower
    here, gone, coming = lower in _HERE or _inside(words, at), lower in GONE, lower in _COMING
    if not (here or gone or coming):
        return
    back = at - 1
    denied = False
    auxiliary = coming or lower in {"disappeared", "vanished"}
    while back >= 0 and words[back].lower in _BE | _DO | NOT | _ADVERBS | {"went", "cannot"}:
        denied ^= words[back].lower in NOT or words[back].lower.endswith("n't")
        auxiliary |= words[back].lower in _BE | {"went", "has", "had"}
        back -= 1
    if not auxiliary or back < 0:
        return
    phrase = _subject(words, back)
    before = min(phrase, default=0) - 1
    denied ^= before >= 0 and words[before].lower == "no"
    place = tuple(_phrase(words, at + 1)) if here and lower == "in" else ()
    yield from _thing(reading, phrase, there=gone == denied, said=(at, *place))


def _inside(words: Sequence[Word], at: int) -> bool:
    return words[at].lower in {"in", "inside"} and at > 0 and words[at - 1].lower in _BE | NOT


def _after_do(words: Sequence[Word], at: int) -> bool:
    return any(word.lower in _DO for word in words[max(0, at - 2) : at])


def _negated(words: Sequence[Word], at: int) -> bool:
    """*does not have*, *never got*, *failed to include*."""
    near = [word.lower for word in words[max(0, at - 3) : at] if word.lower not in _ADVERBS]
    direct = near[-1:] and (near[-1] in NOT or near[-1].endswith("n't"))
    return bool(direct) or (near[-1:] == ["to"] and near[-2:-1] in (["fails"], ["failed"], ["fail"]))


def _phrase(words: Sequence[Word], start: int) -> list[int]:
    """Indices of the content words of the noun phrase that begins at ``start``."""
    at = start
    while at < len(words) and words[at].lower in _DETERMINERS:
        at += 1
    phrase: list[int] = []
    while at < len(words) and len(phrase) < _LONGEST and words[at].content and words[at].lower not in _TRAILING:
        if phrase and words[at].start - words[at - 1].end > 1:
            break
        phrase.append(at)
        at += 1
    return phrase


def _subject(words: Sequence[Word], last: int) -> list[int]:
    """Indices of the content words of the noun phrase that ends at ``last``; of *the manual of the app* the manual."""
    phrase: list[int] = []
    at = last
    while at >= 0 and words[at].content and len(phrase) < _LONGEST:
        phrase.insert(0, at)
        at -= 1
    while at >= 0 and words[at].lower in _DETERMINERS - {"of"}:
        at -= 1
    if phrase and at > 0 and words[at].lower in {"of", "for", "in"}:
        return _subject(words, at - 1) or phrase
    return phrase


def _thing(reading: Reading, phrase: Sequence[int], *, there: bool, said: Sequence[int]) -> Iterator[Thing]:
    """None for a pronoun, nor for *no problem*, which is a judgement."""
    words = [reading.words[at] for at in phrase]
    if words and not QUALITIES.get(words[-1].lower) and words[-1].lower not in STOP_WORDS:
        between = range(min(said), min(phrase))
        starts = frozenset(reading.words[at].start for at in (*phrase, *said, *between))
        yield Thing(frozenset(word.stem for word in words), there, starts)
