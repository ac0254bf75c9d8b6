"""A word of the question that a sentence has exchanged for another one in the same place: *private bills* for *public bills*, *closed in Rome* for *closed in
Oslo*. The sentence then tells of something else, however alike the two are."""

import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from grounding.clauses import has_predicate
from grounding.name_matching import same_name
from grounding.question_kinds import GENERIC_WORDS, Question
from grounding.reading import Meaning, Reading
from grounding.words import Word

_LOOSE = frozenset(
    "until against under upon inside outside among between within during since before after near next besides instead "
    "more less most many much several few fewer certain another various different whole entire total main own only average".split()
)
"""Words that stand before others without telling which of them is meant."""
_PREPOSITIONS = frozenset("in at on of to from with for by into near under after before during against through".split())
_ARTICLES = frozenset("the a an its their his her our your my".split())
_GENERAL = frozenset(
    "city town country place area region state world part period time times day days week weeks month months year years party group company people person "
    "man woman way case thing things case cases product item one ones others me you him them us".split()
)
"""What any of a kind is called when it is spoken of again."""
_PHRASE = 5
_ACRONYM = 5
_KINDRED = 4
"""Letters with which two words begin that are made from one (*Britain*, *British*)."""
_LONG = 5


@dataclass(frozen=True, slots=True)
class _Placed:
    """Words behind a preposition, and what they are said of."""

    deed: Meaning
    by: str
    words: tuple[Meaning, ...]

    @property
    def general(self) -> bool:
        """Whether these are words by which any of a kind may be called again."""
        return all(meaning.word.lower in _GENERAL for meaning in self.words)


def exchanged(asked: Question, said: Reading) -> bool:
    """Whether ``said`` has another word where the question has one that tells which of a kind is meant."""
    return _another_kind(asked, said) or _another_place(asked, said)


def _another_kind(asked: Question, said: Reading) -> bool:
    """*Public bills* where the sentence knows *private bills* only."""
    reading = asked.reading
    wanted = [(telling, noun) for telling, noun in _couples(reading) if not noun.kin.isdisjoint(said.kin) and _tells_which(asked, telling)]
    before = {noun.word.start: telling for telling, noun in _couples(said)} if wanted else {}
    for telling, noun in wanted:
        if _says_little(asked, noun) or _held(telling, said) or _commanded(reading, telling.word):
            continue
        places = [before.get(meaning.word.start) for meaning in said.meanings if meaning.word.stem == noun.word.stem]
        if places and all(other is not None and _rivals(reading, telling, said, other) for other in places):
            return True
    return False


def _couples(reading: Reading) -> tuple[tuple[Meaning, Meaning], ...]:
    """Content words side by side, of which the first may tell which of the second is meant: no verb before its object, no owner before what is owned."""
    meant = {meaning.word.start: meaning for meaning in reading.meanings if meaning.word.content}
    return tuple(
        (meant[first.start], meant[second.start])
        for first, second in itertools.pairwise(reading.words)
        if {first.start, second.start} <= meant.keys() and _beside(reading.text, first, second) and not _acts(first)
    )


def _beside(text: str, first: Word, second: Word) -> bool:
    between = text[first.end : second.start]
    return len(between) <= 1 and not between.strip(" -") and text[first.end - 2 : first.end] not in {"'s", "’s"}


def _acts(word: Word) -> bool:
    """A verb by its form, or an adverb."""
    return has_predicate(word.lower) or word.lower.endswith("ly")


def _commanded(reading: Reading, word: Word) -> bool:
    """Perhaps a verb in front of its object: *to* or who does it stands before it. Names, figures and what a hyphen joins are none."""
    written = reading.text[word.start : word.end]
    before = next((other for other in reversed(reading.words) if other.end <= word.start), None)
    if before is None or not written.islower() or any(letter.isdigit() for letter in written) or reading.text[word.end] == "-":
        return False
    doer = before.content and before.lower not in _LOOSE and not has_predicate(before.lower)
    return before.lower == "to" or doer


def _tells_which(asked: Question, telling: Meaning) -> bool:
    """Not the noun right behind *which*: the answer stands for that."""
    if _says_little(asked, telling):
        return False
    words = asked.reading.words
    behind = next((at for at, word in enumerate(words) if word.start == telling.word.start), 0)
    return not behind or words[behind - 1].lower not in {"what", "which", "whose", "how"}


def _says_little(asked: Question, meaning: Meaning) -> bool:
    lower = meaning.word.lower
    return lower in _LOOSE or lower in GENERIC_WORDS or lower in asked.kind.spent


def _held(telling: Meaning, said: Reading) -> bool:
    return not telling.kin.isdisjoint(said.kin) or any(same_name(telling.word, word) for word in said.words)


def _rivals(asked: Reading, telling: Meaning, said: Reading, other: Meaning) -> bool:
    """Two words of one sort, neither a spelling nor a short form of the other, of which the question knows one only."""
    mine = asked.text[telling.word.start : telling.word.end]
    theirs = said.text[other.word.start : other.word.end]
    if other.word.lower in _LOOSE or not other.kin.isdisjoint(asked.kin) or _alike(telling.word.lower, other.word.lower):
        return False
    return _shape(mine, opening=telling.word.start == 0) & _shape(theirs, opening=_opens(said, other.word)) != frozenset()


def _opens(said: Reading, word: Word) -> bool:
    return word.start == 0 or said.text[: word.start].rstrip()[-1:] in {".", "!", "?", ":", "“", '"'}


def _shape(written: str, *, opening: bool) -> frozenset[str]:
    """What a word may be by its looks; at the beginning of a sentence a capital says nothing."""
    if any(letter.isdigit() for letter in written):
        return frozenset({"figure"})
    if written.isupper() and len(written) <= _ACRONYM:
        return frozenset({"acronym"})
    if opening:
        return frozenset({"name", "word"})
    return frozenset({"name"}) if written[0].isupper() else frozenset({"word"})


def _alike(mine: str, theirs: str) -> bool:
    """One is made from the other, or a slip of the finger away."""
    plain, other = _unaccented(mine), _unaccented(theirs)
    if plain[:_KINDRED] == other[:_KINDRED] and not plain[-1:].isdigit():
        return True
    return min(len(plain), len(other)) >= _LONG and plain.isalpha() and _one_letter_off(plain, other)


def _unaccented(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


def _one_letter_off(mine: str, theirs: str) -> bool:
    short, long = sorted((mine, theirs), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((at for at, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]


def _another_place(asked: Question, said: Reading) -> bool:
    """*Closed in Oslo* where the sentence has *closed in Rome* only; *in the city* may still be Oslo."""
    reading = asked.reading
    mine = [place for place in _placed(reading) if not any(_held(word, said) or _says_little(asked, word) for word in place.words)]
    theirs = [place for place in _placed(said) if not any(place.general or _held(word, reading) for word in place.words)] if mine else ()
    return any(
        place.by == other.by and place.deed.same_word(other.deed) and _rivals(reading, place.words[0], said, other.words[0])
        for place in mine
        for other in theirs
    )


def _placed(reading: Reading) -> Iterator["_Placed"]:
    """What stands behind a preposition, with the last content word before it."""
    meant = {meaning.word.start: meaning for meaning in reading.meanings}
    words = reading.words
    for at, word in enumerate(words):
        if word.lower in _PREPOSITIONS:
            behind = itertools.dropwhile(lambda other: other.lower in _ARTICLES, words[at + 1 : at + _PHRASE])
            phrase = tuple(meant[other.start] for other in itertools.takewhile(lambda other: other.start in meant, behind))
            deed = next((meaning for meaning in reversed(reading.meanings) if meaning.word.end <= word.start), None)
            if phrase and deed is not None:
                yield _Placed(deed, word.lower, phrase)
