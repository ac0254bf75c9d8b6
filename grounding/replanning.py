"""What a planner may change of a plan: a second wording for the search and, among the kinds the plan has anyway, the kind of a part.

Filters, accounts, periods, tenants, the number of parts and kinds the rules found nowhere in the question are not its to choose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grounding.addressing import speaks_to_the_machine
from grounding.countables import counting
from grounding.intents import Form, Intent
from grounding.naming import Vocabulary
from grounding.question_parts import Part, Plan
from grounding.words import words

MAX_SEARCH_CHARS = 300

_TO = frozenset({Intent.COUNT, Intent.TOP, Intent.TREND, Intent.COMPARE})


@dataclass(frozen=True, slots=True)
class Wish:
    """How a planner reads one part."""

    intent: Intent
    search: str


def revised(plan: Plan, wishes: Sequence[Wish], vocabulary: Vocabulary) -> Plan:
    """The plan with its wishes; ``plan`` itself when they are not allowed."""
    if plan.small_talk or not allowed(plan, wishes):
        return plan
    return replace(plan, parts=tuple(_part(part, wish, vocabulary) for part, wish in zip(plan.parts, wishes, strict=True)))


def allowed(plan: Plan, wishes: Sequence[Wish]) -> bool:
    """One wish for each part, of a kind that the plan has."""
    own = {part.intent for part in plan.parts}
    return len(wishes) == len(plan.parts) and all(wish.intent in own for wish in wishes)


def _part(part: Part, wish: Wish, vocabulary: Vocabulary) -> Part:
    if part.intent is Intent.SMALL_TALK:
        return part
    searched = replace(part, search=_search(part, wish.search))
    counted = _counted(searched, wish.intent, vocabulary)
    return replace(counted, ruled=searched) if counted is not searched else searched


def _search(part: Part, wished: str) -> str:
    """The wording, when it is one: short, of words, and no order; empty when it is what is searched anyway."""
    wording = " ".join(wished.split())
    sound = len(wording) <= MAX_SEARCH_CHARS and words(wording) and not speaks_to_the_machine(wording)
    return wording if sound and wording.casefold() != part.subject.casefold() else ""


def _counted(part: Part, intent: Intent, vocabulary: Vocabulary) -> Part:
    """A question of evidence as one of numbers, when the rules find something to count in it. A number that is asked for stays one."""
    if part.intent is not Intent.EVIDENCE or intent not in _TO or part.form is Form.BROAD or part.theme:
        return part
    counted = counting(replace(part, intent=intent), part.subject, vocabulary)
    whole = counted.intent is intent and not counted.uncountable and (counted.sides or intent is Intent.TOP)
    return counted if whole and counted.filters == part.filters else part
