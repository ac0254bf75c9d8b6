"""A second look at sentences that seem to answer a question of fact: do they hold what it demands beyond its topic? A fact of the kind asked for that the
question does not give itself, the same denial, the same rank and order in time."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from grounding.exchanged import exchanged
from grounding.matching import found, shared
from grounding.name_matching import share_of_names_missing
from grounding.polarity import in_english
from grounding.presence import agreement
from grounding.quantities import CURRENCIES
from grounding.question_kinds import MONEY, Question, offers, read_question
from grounding.rates import other_rate
from grounding.reading import Meaning, Reading, read
from grounding.support import Logistic
from grounding.vetoes import opposing

_MODEL = Logistic(
    {"logit": 1.0, "coverage": -4.0, "missing": -2.0, "names": -1.5, "denial": -8.0, "rank": -4.0, "given": -4.0},
    5.0,
)
"""Set by hand, in round numbers: what the topic alone brought a sentence must make up for a rare word, a name or a rank that it lacks; it never makes up for
a denial. A sentence stays from 0.5."""

_RANK = re.compile(
    r"\b(?:the|its|his|her|their|['’]s)\s+(?:(?:\w+\s+)?(?:most|least)\s+(?P<of>[a-z]+)|(?P<alone>[a-z]{2,}est)|(?P<place>first|last|second|third|only|final))\b",
    re.IGNORECASE,
)
_NO_RANK = frozenset(
    "west east northwest northeast southwest southeast forest interest rest test guest request harvest contest protest arrest quest latest".split()
)
"""Words that end like a rank and are none; the latest is asked for by time, not by that word."""
_BEFORE = frozenset("before prior until preceding".split())
_AFTER = frozenset("after following since".split())
_NEAR = 40
_YEAR_ASKED = re.compile(r"\b(?:what|which) years?\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2}|[3-9]\d{2})(?:s|\b)|['’]\d\d\b|\b(?:this|last|next) year\b", re.IGNORECASE)
_PERMITTED = re.compile(r"\bhow (?:many|much|often|long)\b.*\b(?:may|can|allowed|permitted)\b", re.IGNORECASE)
_NEEDING = re.compile(r"\W*(?:i|we)(?: really| also| just)? (?:need|want|must|have to|would like|['’]d like|wish)\b", re.IGNORECASE)
_COMMA = re.compile(r"[,;]\s+")
_COUNTED = re.compile(
    r"\b(?:no|none|several|(?<!too )(?<!how )(?<!so )many|few|single|both|one|couple|pair|dozens|hundreds|thousands|half)\b", re.IGNORECASE
)


def keeps_demands(question: str, sentence: str, score: float) -> bool:
    """Whether ``sentence``, which answers with ``score`` in 0..1 as far as its topic goes, holds what ``question`` demands."""
    asked, said = read_question(question), read(sentence)
    if not (in_english(asked.reading.words) and in_english(said.words)):
        return True
    if any(fails(asked, said) for fails in _FAILINGS):
        return False
    return _MODEL.probability({"logit": _logit(score), **demands(asked, said)}) >= 0.5


def _logit(score: float) -> float:
    kept = min(0.9999, max(0.0001, score))
    return math.log(kept / (1 - kept))


def demands(asked: Question, said: Reading) -> dict[str, float]:
    """What is demanded and not there, as flags 0 or 1; shares in 0..1."""
    absent = (meaning.weight for meaning in asked.topic if not found(meaning, said.held))
    return {
        "coverage": shared(asked.topic, said.held),
        "missing": max(absent, default=0.0),
        "names": share_of_names_missing(asked.reading, said),
        "denial": float(not (_absent_too(asked, said) or _denial_kept(asked, said)) or not _order_kept(asked, said)),
        "rank": float(not _rank_kept(asked, said)),
        "given": float(not _told_anew(asked, said)),
    }


def _denial_kept(asked: Question, said: Reading) -> bool:
    """*What does it not allow?* is answered only by what is not allowed."""
    return all(_denied_too(meaning, said) for meaning in asked.reading.topic if meaning.tone.denied) and not opposing(asked.reading, said)


def _affirms(asked: Question, said: Reading) -> bool:
    """What the question denies the sentence says, or it denies nothing at all, not even by a word like *excluded*."""
    if not any(meaning.tone.denied for meaning in asked.reading.topic):
        return False
    if opposing(asked.reading, said) and not _absent_too(asked, said):
        return True
    denies = any(tone.denied for tone in said.tones) or any(meaning.quality and meaning.sign < 0 for meaning in said.meanings)
    return not (denies or _absent_too(asked, said) or _denial_kept(asked, said))


def _without_year(asked: Question, said: Reading) -> bool:
    """*In what year?* is answered by a year that the question does not give itself."""
    if not _YEAR_ASKED.search(asked.reading.text):
        return False
    return not any(match.group() not in asked.reading.text for match in _YEAR.finditer(said.text))


def _other_rate(asked: Question, said: Reading) -> bool:
    return other_rate(asked.reading.text, said.text)


def _free_elsewhere(asked: Question, said: Reading) -> bool:
    """*Wifi is free, parking is by the hour*: nothing says what parking costs."""
    if asked.kind is not MONEY or any(figure.unit in CURRENCIES for figure in said.quantities):
        return False
    told = [read(clause) for clause in _COMMA.split(said.text)]
    giving = [clause for clause in told if offers(MONEY, clause)]
    return len(told) > 1 and bool(giving) and not any(shared(asked.topic, clause.held) for clause in giving)


def _only_wanted(asked: Question, said: Reading) -> bool:
    """*How many may I have?* is not answered by how many somebody needs."""
    return bool(_PERMITTED.search(asked.reading.text)) and bool(_NEEDING.match(said.text))


def _opposite(asked: Question, said: Reading) -> bool:
    """*When does it close?* is not answered by when it opens."""
    return any(meaning.quality for meaning in opposing(asked.reading, said))


def _absent_too(asked: Question, said: Reading) -> bool:
    """*Who has not got a refund?* is answered by a refund that has not arrived: the same is not there, in whatever words."""
    denied = {meaning.word.start for meaning in asked.reading.topic if meaning.tone.denied}
    return bool(denied) and denied <= agreement(read(asked.reading.text.rstrip("?？ ")), said).agreed


def _denied_too(meaning: Meaning, said: Reading) -> bool:
    alike = [other for other in said.meanings if not meaning.kin.isdisjoint(other.kin)]
    if alike:
        return any(_same_side(meaning, other) for other in alike)
    return any(other.tone.denied or (other.quality and other.sign < 0) for other in said.meanings)


def _same_side(meaning: Meaning, other: Meaning) -> bool:
    if meaning.quality and meaning.quality == other.quality:
        return meaning.sign == other.sign
    return meaning.tone.denied == other.tone.denied


def _rank_kept(asked: Question, said: Reading) -> bool:
    """*The oldest*, *the last*: the sentence names the same rank."""
    lowers = {word.lower for word in said.words}
    named = (match.group("of") or match.group("alone") or match.group("place") for match in _RANK.finditer(asked.reading.text))
    return all(rank.lower() in lowers for rank in named if rank.lower() not in _NO_RANK)


def _order_kept(asked: Question, said: Reading) -> bool:
    """*After the war* is not *before the war*."""
    told = _anchors(said)
    return not any(after != its and _same_anchor(anchor, other) for anchor, after in _anchors(asked.reading) for other, its in told)


def _anchors(reading: Reading) -> list[tuple[Sequence[Meaning], bool]]:
    found_there: list[tuple[Sequence[Meaning], bool]] = []
    for word in reading.words:
        if word.lower in _BEFORE | _AFTER:
            near = [meaning for meaning in reading.topic if 0 < meaning.word.start - word.end < _NEAR]
            found_there += [(near[:2], word.lower in _AFTER)] if near else []
    return found_there


def _same_anchor(mine: Sequence[Meaning], theirs: Sequence[Meaning]) -> bool:
    return all(any(not meaning.kin.isdisjoint(other.kin) for other in theirs) for meaning in mine)


def _told_anew(asked: Question, said: Reading) -> bool:
    """A fact of the kind asked for which the question does not hold itself."""
    check = _ANEW.get(asked.kind.name)
    return check is None or check(asked, said)


def _new_count(asked: Question, said: Reading) -> bool:
    own = asked.reading.quantities
    counted = any(figure.unit != "ordinal" and not any(figure.borne_out_by(given) for given in own) for figure in said.quantities)
    return counted or bool(_COUNTED.search(said.text))


def _new_time(asked: Question, said: Reading) -> bool:
    given = {(date.year, date.month, date.day) for date in asked.reading.dates}
    anew = any((date.year, date.month, date.day) not in given for date in said.dates)
    return anew or bool(said.times) or (not said.dates and offers(asked.kind, said))


_ANEW: Mapping[str, Callable[[Question, Reading], bool]] = MappingProxyType({"count": _new_count, "time": _new_time})

_FAILINGS: tuple[Callable[[Question, Reading], bool], ...] = (
    exchanged,
    _affirms,
    _without_year,
    _other_rate,
    _free_elsewhere,
    _only_wanted,
    _opposite,
)
"""Any one of these and the sentence answers another question, whatever else it holds."""
