"""Words of a text with their offsets, their stems, and how rare they are in English at large."""

import functools
import importlib.resources
import math
import re
import unicodedata
from typing import NamedTuple

from search.analysis import stem

_WORD = re.compile(
    r"[^\W\d_]*\d[\w]*(?:[.,:/'’-]\d[\w]*)*"  # anything with a digit, inner signs kept
    r"|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"  # scripts without spaces: one character each
    r"|[^\W\d_](?:[^\W\d_\u3040-\u30ff\u3400-\u9fff]|[\u0300-\u036f\u064b-\u0652]|['’](?=[^\W\d_]))*"
)

STOP_WORDS = frozenset(
    "a an the this that these those there here it its itself i me my mine myself we us our ours ourselves you your yours yourself he him his himself "
    "she her hers herself they them their theirs themselves who whom whose which what when where why how and or but if so than then as at by for "
    "from in into of off on onto out over to up with about is am are was were be been being do does did doing done have has had having can could "
    "will would shall should may might must not no nor also too very really just even still quite rather some any such own same other both each "
    "because while although though whereas however therefore please etc via per least let get got gets getting i'm i've i'd i'll it's that's there's "
    "we're we've you're they're he's she's isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't "
    "wouldn't shouldn't mustn't ain't never nobody none nothing neither without hardly barely".split()
)
"""Words that carry no topic of their own; negations are read by ``grounding.polarity``, not as words."""

SPEAKER_WORDS = frozenset(
    "user users customer customers client clients reviewer reviewers people person persons someone somebody anyone anybody one everyone everybody "
    "member members buyer buyers respondent respondents speaker author consumer consumers subscriber subscribers shopper shoppers complaint complaints "
    "says say said report reports reported reporting mention mentions mentioned complain complains complained complaining state states stated".split()
)
"""How a summary names whoever wrote the text; the text itself says ``I``."""


class Word(NamedTuple):
    """One word: as folded to lower case, its stem, where it stands, and whether it says what the text is about."""

    lower: str
    stem: str
    start: int
    end: int
    content: bool


def words(text: str) -> tuple[Word, ...]:
    """All words in order. Typographic apostrophes become plain, compatibility forms (full width) are folded."""
    found = []
    for match in _WORD.finditer(text):
        lower, stem_, content = _folded(match.group())
        found.append(Word(lower, stem_, match.start(), match.end(), content))
    return tuple(found)


@functools.lru_cache(maxsize=50_000)
def _folded(raw: str) -> tuple[str, str, bool]:
    lower = unicodedata.normalize("NFKC", raw).lower().replace("’", "'")
    plain = lower[:-2] if lower.endswith("'s") and lower not in STOP_WORDS else lower
    return plain, stemmed(plain), plain not in STOP_WORDS


@functools.lru_cache(maxsize=50_000)
def stemmed(word: str) -> str:
    """The stem of a lower-case word; words with digits are left whole."""
    return word if not word.isalpha() else stem(word)


@functools.cache
def _ranks() -> dict[str, int]:
    listed = importlib.resources.files("grounding").joinpath("frequent_words.txt").read_text("utf-8").split()
    return {word: rank for rank, word in enumerate(listed)}


@functools.lru_cache(maxsize=50_000)
def rarity(word: str) -> float:
    """How much a shared word tells, 0.1 for the most frequent to 1 for words outside the list of frequent ones. By Zipf's law the logarithm of the rank stands
    for that of the frequency, so this is an inverse document frequency that depends on no corpus."""
    if word in SPEAKER_WORDS:
        return 0.15
    ranks = _ranks()
    rank = ranks.get(word)
    if rank is None:
        return 1.0
    return max(0.1, math.log(rank + 2) / math.log(len(ranks) + 2))
