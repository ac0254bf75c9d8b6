"""That documents came, were sent or were written says nothing of what they are about."""

import re
from collections.abc import Sequence

from grounding.frames import DOCUMENT_NOUNS, PERSON_NOUNS, REPORT_VERBS
from grounding.words import STOP_WORDS, Word, words

SENDING = frozenset("write wrote written send sends sent submit submitted file filed raise raised leave left open opened make made".split())
"""What people do to documents."""
ARRIVING = frozenset("come comes came coming arrive arrives arrived reach reached receive receives received appear appeared exist".split())
IS_SENDING = SENDING | ARRIVING
WRITTEN = DOCUMENT_NOUNS | frozenset("complaint complaints issue issues problem problems concern concerns".split())
"""How documents are called where they are counted."""
_QUOTE = re.compile(r"[\"“”]")
_OF = frozenset("about on regarding concerning with for of".split())
_DENIED = frozenset("not never no nobody none without hardly".split())
_WHO = frozenset("who whom whose".split())
_CLAUSE = frozenset("that which when where because if while i they he she it we you is are was were be been".split()) | _DENIED | _WHO


def without_sending(text: str) -> str:
    """The text without a verb that only says that the counted documents came or were sent: behind the documents (*messages that came*, *tickets did north
    send*), or at the end of what is said of them (*messages about late parcels came*)."""
    found = words(text)
    for at, word in enumerate(found):
        if word.lower in WRITTEN and (verb := _verb_of(found, at)) is not None and not _QUOTE.search(text[word.end : verb.start]):
            return text[: verb.start] + " " + text[verb.end :]
    return text


def _verb_of(found: Sequence[Word], at: int) -> Word | None:
    """The verb of sending whose subject or object are the documents at this place."""
    following = at + 1
    while following < len(found) and _between(found[following].lower):
        following += 1
    if following < len(found) and found[following].lower in IS_SENDING:
        return found[following]
    if at + 1 < len(found) and found[at + 1].lower in _OF:
        return _closing(found[at + 2 :])
    return None


def _between(lower: str) -> bool:
    return (lower in STOP_WORDS or lower in PERSON_NOUNS) and lower not in _DENIED | _OF | _WHO and not lower.endswith("n't")


def _closing(rest: Sequence[Word]) -> Word | None:
    """A verb of sending that ends the question, with no clause of its own before it."""
    for place, word in enumerate(rest):
        if word.lower in _CLAUSE or word.lower in REPORT_VERBS - SENDING or word.lower.endswith("n't"):
            return None
        if word.lower in IS_SENDING:
            return word if all(later.lower in STOP_WORDS for later in rest[place + 1 :]) else None
    return None
