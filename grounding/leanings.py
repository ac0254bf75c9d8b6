"""Whether a sentence complains or praises: for questions that ask for one of the two."""

import re

from grounding.intents import Leaning
from grounding.reading import Meaning, read

_BETTER_WHEN_POSITIVE = frozenset(
    "working speed punctual price ease quality feeling clean noise safety clarity manners trust truth possibility availability finding comfort use pain "
    "help access connection".split()
)
_COMPLAINT = frozenset(
    "wrong missing lost damaged broken cracked soaked stolen delay delayed late declined rejected refused blocked cancelled charged twice double duplicate "
    "refund crash crashes crashing fail fails failed error stuck freezes slow drains empty vanished disappeared gone nobody never unable impossible expired "
    "wait waited waiting still again without useless waste scam fraud unauthorised unauthorized overcharged expensive confusing ignored rude annoyed".split()
)
_PRAISE = frozenset(
    "thanks thank great love loved excellent perfect happy pleased smooth quick helpful friendly recommend best easy nice lovely amazing awesome fantastic "
    "delighted reliable works well fast beautiful superb brilliant impressed".split()
)
_PROBLEM_WORDS = re.compile(r"\b(?:can(?:no|')t|cannot|won't|doesn't|didn't|isn't|not|no|hasn't|haven't|unable|why)\b", re.IGNORECASE)


def leans(text: str, leaning: Leaning) -> bool:
    """Whether ``text`` leans that way; everything does when there is none."""
    if not leaning:
        return True
    balance = score(text)
    return balance < 0 if leaning == "complaint" else balance > 0


def score(text: str) -> int:
    """Above 0 for praise, below for complaints."""
    reading = read(text)
    qualities = sum(_sign(meaning) for meaning in reading.meanings)
    lowers = [word.lower for word in reading.words]
    plain = sum(lower in _PRAISE for lower in lowers) - sum(lower in _COMPLAINT for lower in lowers)
    return 2 * qualities + plain - len(_PROBLEM_WORDS.findall(text))


def _sign(meaning: Meaning) -> int:
    return meaning.sign if meaning.quality in _BETTER_WHEN_POSITIVE else 0
