"""What a yes-or-no question asks *of* its topic, and whether a sentence takes a stance on that. Having the topic is not enough."""

import re
from dataclasses import dataclass
from functools import lru_cache

from grounding.clauses import has_predicate
from grounding.entities import TITLES
from grounding.exchanged import exchanged
from grounding.matching import found
from grounding.name_matching import share_of_names_missing
from grounding.opposites import QUALITIES
from grounding.polarity import in_english
from grounding.presence import things
from grounding.quantities import CURRENCIES, DURATIONS
from grounding.question_kinds import read_question
from grounding.reading import Meaning, Reading, read
from grounding.stances import statement_of

_COPULA = re.compile(r"\A\W*(?:is|are|was|were|isn't|aren't|wasn't|weren't)\s+(?!there\b|it true\b)", re.IGNORECASE)
_ENDS_COMPLEMENT = frozenset(
    "on in at of from with for among about inside within by to than as when while if because since until after before during over under near between or "
    "and but that which who where compared against".split()
)
_COMMA = re.compile(r"[,;]\s+(?:and\s+|but\s+)?|\s+but\s+")
_PROVIDING = frozenset(
    "support supports supported accept accepts accepted offer offers offered provide provides provided include includes included".split()
)
_ELLIPSIS = re.compile(
    r"\b(?:(?:is|are|was|were|do|does|did|can|could|has|have|will|would)(?:n['’]t| not)?|too|either|neither)\W*\Z", re.IGNORECASE
)
"""*PayPal works, Apple Pay does not*: the second clause has the predicate of the first."""
_DETERMINING = frozenset("the a an my our your their this that these those".split())
_DEGREE = re.compile(r"\b(?:too|enough)\b", re.IGNORECASE)
_PASSING = frozenset({"", "availability", "presence", "possibility", "filling", "identity"})
"""Qualities of being there: telling of the thing at all may be the answer."""
_GENERAL = frozenset({"quality", "feeling", "sign", "trust", "manners", "liking", "comfort", "use", "reason", "convenience"})
"""Praise and blame: any judgement of the thing bears on them."""
_NEAR = (
    frozenset({"speed", "punctual", "length", "patience"}),
    frozenset({"price", "height", "reason", "amount"}),
    frozenset({"ease", "working", "finding", "knowledge", "possibility", "clarity", "session", "convenience"}),
)
"""Qualities that bear on one another."""
_BY_DENIAL = _GENERAL | {"speed", "punctual", "ease", "working", "finding", "membership"}
"""Qualities that something which does *not* happen speaks for or against."""
_TELLING = {
    "payment": frozenset("fee fees charge charges charged cost costs price prices".split()),
    "speed": frozenset("wait waits waited waiting still ages forever".split()),
    "punctual": frozenset("wait waits waited waiting still ages forever".split()),
}
"""Words that settle a quality without naming it."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """The word that is asked of the topic; ``judged`` when nothing but a judgement answers (*too high*)."""

    meaning: Meaning
    judged: bool


@lru_cache(maxsize=256)
def predicate_of(question: str) -> Predicate | None:
    """The last word of the complement of *is*, or the last quality in a question with another verb; None when it cannot be told."""
    statement = read(statement_of(question))
    if not in_english(statement.words):
        return None
    qualities = tuple(meaning for meaning in statement.topic if meaning.quality)
    said = _complement(statement) if _COPULA.match(question) else qualities
    judged = bool(_DEGREE.search(question))
    return Predicate(said[-1], judged) if said else None


def _complement(statement: Reading) -> tuple[Meaning, ...]:
    """Content words up to the first preposition or clause, behind the first of them; none when only the topic is there."""
    begun = False
    end = len(statement.text)
    for word in statement.words:
        if word.lower in _ENDS_COMPLEMENT and begun:
            end = word.start
            break
        begun |= word.content
    figures = [(figure.start, figure.end) for figure in statement.quantities]
    kept = tuple(
        meaning
        for meaning in statement.topic
        if meaning.word.start < end and not any(start <= meaning.word.start < stop for start, stop in figures)
    )
    pronoun = bool(statement.words) and statement.words[0].lower in {
        "it",
        "this",
        "that",
        "they",
        "these",
        "those",
        "he",
        "she",
        "i",
        "we",
        "you",
    }
    return kept if pronoun or len(kept) > 1 or any(meaning.quality for meaning in kept) else ()


def takes_stance(question: str, sentence: str) -> bool:
    """Whether ``sentence`` says something of the predicate of ``question``: its word, its quality, one that bears on it, or a figure that measures it."""
    asked, said = predicate_of(question), read(sentence)
    if not _speaks_of(read(question), said) or exchanged(read_question(question), said):
        return False
    if _told_absent(read(question), said):
        return True
    if asked is None or asked.meaning.quality in _PASSING - {""} or not in_english(said.words):
        return True
    meaning = asked.meaning
    if not meaning.kin.isdisjoint(said.kin):
        return not _of_another_clause(read(question), meaning, said)
    if not meaning.quality:
        return False
    return _bears_on(meaning, read(question), said) or (not asked.judged and _measures(meaning.quality, said))


def _told_absent(question: Reading, said: Reading) -> bool:
    """*SEPA is missing* answers whether it supports SEPA: what is not there is neither supported nor offered."""
    if not said.may_lack or not any(word.lower in _PROVIDING for word in question.words):
        return False
    wanted = {meaning.word.stem for meaning in question.topic if meaning.word.lower not in _PROVIDING}
    return any(not thing.there and thing.stems <= wanted for thing in things(said.text))


def _of_another_clause(question: Reading, asked: Meaning, said: Reading) -> bool:
    """The predicate stands in a clause with a subject of its own, what the question is about in others only: *wifi is free, parking is 3 EUR*."""
    rest = tuple(meaning for meaning in question.topic if not asked.same_word(meaning))
    if _ELLIPSIS.search(said.text):
        return False
    told = [read(clause) for clause in _COMMA.split(said.text)]
    own = [clause for clause in told if not asked.kin.isdisjoint(clause.kin)]
    if len(told) < 2 or not rest or any(found(meaning, clause.held) for meaning in rest for clause in own):
        return False
    return any(found(meaning, said.held) for meaning in rest) and all(_has_subject(clause) for clause in own)


def _has_subject(clause: Reading) -> bool:
    first = next((word for word in clause.words if word.lower not in _DETERMINING), None)
    plain = first is not None and first.content and first.lower not in QUALITIES and not has_predicate(first.lower)
    return plain and has_predicate(clause.text)


def _speaks_of(question: Reading, said: Reading) -> bool:
    """Whether the sentence shares more with the question than a name, and names nobody else instead: what somebody did is no word on what another did, nor on
    what else they did."""
    names = {name.start for name in question.names}
    if not names:
        return True
    if said.names and share_of_names_missing(question, said) == 1.0:
        return False
    rest = tuple(meaning for meaning in question.topic if meaning.word.start not in names and meaning.word.lower not in TITLES)
    return not rest or any(found(meaning, said.held) for meaning in rest) or any(meaning.quality for meaning in said.meanings)


def _bears_on(asked: Meaning, question: Reading, said: Reading) -> bool:
    told = [other for other in said.meanings if not any(other.same_word(word) for word in question.meanings)]
    near = frozenset().union(*(family for family in _NEAR if asked.quality in family))
    if any(other.quality and (other.quality in near or asked.quality in _GENERAL) for other in told):
        return True
    if any(word.lower in _TELLING.get(asked.quality, frozenset()) for word in said.words):
        return True
    return asked.quality in _BY_DENIAL and any(tone.denied for tone in said.tones)


def _measures(quality: str, said: Reading) -> bool:
    if quality in {"speed", "punctual", "length"}:
        return any(quantity.unit in DURATIONS for quantity in said.quantities)
    return quality in {"price", "height", "payment"} and any(quantity.unit in CURRENCIES for quantity in said.quantities)
