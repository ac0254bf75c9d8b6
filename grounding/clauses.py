"""A sentence taken apart where both sides say something of their own."""

import re

from grounding.opposites import QUALITIES
from grounding.sentences import Span

_JOINT = re.compile(r"\s*[;]\s*|\s*,?\s+(?:and|but|while|whereas|because|although|though|so)\s+|\s*,\s+(?=then\b)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PREDICATES = frozenset(
    "is are was were be been isn't aren't wasn't weren't am 'm do does did don't doesn't didn't has have had hasn't haven't hadn't can "
    "could will would shall should may might must can't cannot couldn't won't wouldn't went go goes came come comes took take takes got "
    "get gets said say says saw made make makes gave give gives lost lose loses kept keep keeps left leave leaves found find finds rang "
    "ring rings told tell tells paid pay pays sent send sends bought buy buys broke break breaks stood stand fell fall falls felt feel "
    "feels drains drain shows show opens open closes close loads load needs need wants want stays stay stops stop starts start runs run "
    "turns turn sits sit waits wait looks look sounds sound costs cost charges charge arrives arrive calls call asks ask answers answer "
    "helps help uses use refuses rejects accepts logs signs empties freezes freeze hangs hang renews renew repaired sold sell sells "
    "wrote write writes read reads ate eat eats drove drive drives woke wake wakes began begin begins won win wins led lead leads held "
    "hold holds met meet meets grew grow grows knew know knows became become becomes".split()
)


def clauses(sentence: str) -> tuple[Span, ...]:
    """The clauses of one sentence; the whole sentence when either side of a joint has no predicate of its own."""
    cuts = [0]
    last_end = 0
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[last_end : joint.start()], sentence[joint.end() :]
        following = _JOINT.search(right)
        if has_predicate(left) and has_predicate(right[: following.start()] if following else right):
            cuts.extend((joint.start(), joint.end()))
            last_end = joint.end()
    cuts.append(len(sentence))
    return tuple(Span(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True) if end > start)


def has_predicate(text: str) -> bool:
    """Whether a stretch of text holds a verb form that is recognised without a tagger."""
    found = [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]
    return any(word in _PREDICATES or _verb_form(word, at) for at, word in enumerate(found))


def _verb_form(word: str, at: int) -> bool:
    if word.endswith("n't"):
        return True
    past = len(word) > 4 and word.endswith("ed") and not word.endswith("eed")
    quality = QUALITIES.get(word, ("", 0))[0] in {"working", "feeling", "beginning", "access"} and word.endswith("s") and at > 0
    return past or quality
