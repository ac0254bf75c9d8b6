"""Whether a sentence complains or praises: for questions that ask for one of the two."""

import re
from collections.abc import Mapping, Sequence

from grounding.answerability import SentenceScore
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

_AGAIN_AND_AGAIN = re.compile(r"\b(?:keeps?|kept) (?:on )?\w+ing\b", re.IGNORECASE)


def leaning_first(
    sentences: Sequence[SentenceScore], ratings: Mapping[str, float | None], leaning: Leaning, least: int
) -> tuple[SentenceScore, ...]:
    """The sentences that lean that way; fewer than ``least`` are filled up with neutral ones, never with the opposite. All of them when none leans.

    ``ratings`` (passage id → stars of the document, if any) speak where the words do not.
    """
    wanted = -1 if leaning == "complaint" else 1
    balances = [wanted * (score(sentence.text) or _stars(ratings.get(sentence.passage_id))) for sentence in sentences]
    leaning_so = tuple(sentence for sentence, balance in zip(sentences, balances, strict=True) if balance > 0)
    neutral = tuple(sentence for sentence, balance in zip(sentences, balances, strict=True) if balance == 0)
    return (leaning_so + neutral[: max(0, least - len(leaning_so))]) or tuple(sentences)


def _stars(rating: float | None) -> int:
    """One or two stars of five lean to complaint, four or five to praise; other scales say nothing."""
    if rating is None or not 0 < rating <= MOST_STARS:
        return 0
    return -1 if rating <= LOW_STARS else 1 if rating >= HIGH_STARS else 0


LOW_STARS, HIGH_STARS, MOST_STARS = 2.0, 4.0, 5.0


def score(text: str) -> int:
    """Above 0 for praise, below for complaints."""
    reading = read(text)
    qualities = sum(_sign(meaning) for meaning in reading.meanings)
    lowers = [word.lower for word in reading.words]
    plain = sum(lower in _PRAISE for lower in lowers) - sum(lower in _COMPLAINT for lower in lowers)
    return 2 * qualities + plain - len(_PROBLEM_WORDS.findall(text)) - 2 * len(_AGAIN_AND_AGAIN.findall(text))


def _sign(meaning: Meaning) -> int:
    """What is good and only wished for is a complaint."""
    if meaning.quality not in _BETTER_WHEN_POSITIVE:
        return 0
    return -1 if meaning.tone.unreal else meaning.sign
