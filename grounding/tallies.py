"""Whether a question counts documents or those who wrote them, or asks for a number that some text may state."""

import re
from collections.abc import Callable, Sequence

from grounding.frames import COMPLAINT_NOUNS, PERSON_NOUNS, PRAISE_NOUNS, SENTIMENT_WORDS, subject_words
from grounding.quantities import codes
from grounding.reading import read
from grounding.sending import SENDING
from grounding.words import STOP_WORDS, Word, words

_STORED = frozenset(
    "messages tickets reviews documents comments conversations surveys mails emails feedback complaints issues problems mentions themes topics sources "
    "channels answers chats ratings".split()
)
"""What is counted under these names is what is stored."""
_MAYBE_STORED = frozenset(
    "records posts entries items responses submissions transcripts cases requests enquiries inquiries contacts rows texts notes voices reports questions "
    "concerns reasons".split()
)
"""Stored documents, or things that documents speak of: what is said of them decides."""
_WRITERS = frozenset(
    "customers users reviewers clients buyers shoppers subscribers accounts consumers callers respondents customer user reviewer client".split()
)
"""Those who write documents; trouble of theirs is what they wrote about."""
_COUNTED = _STORED | _MAYBE_STORED | PERSON_NOUNS
_FEELING = COMPLAINT_NOUNS | PRAISE_NOUNS | SENTIMENT_WORDS
_SAYING = frozenset(
    "say says said saying report reports reported reporting complain complains complained complaining mention mentions mentioned mentioning tell "
    "tells told talk talks talked talking write writes wrote written writing raise raises raised ask asks asked asking describe describes described "
    "discuss discusses discussed praise praises praised criticise criticises criticised criticize criticizes criticized request requests requested "
    "contact contacts contacted contacting contain contains concern about regarding concerning from via per".split()
)
_OPENING = re.compile(
    r"\bhow many (?:of )?|\bhow often (?:do|does|did|is|are|was|were) |\b(?:number|count) of |"
    r"\b(?:what|which) (?:share|percentage|percent|proportion|fraction|part) of |"
    r"\A\W*(?:do|are|were|did|have|is)\s+(?:most|the majority|more than half)(?: of)? |\b(?:more|fewer|less) ",
    re.IGNORECASE,
)
_UNITS = frozenset("seconds minutes hours days weeks months years euros dollars pounds percent kilometres kilometers miles degrees".split())
"""What is measured by these is a fact that some text may state."""
_DETERMINERS = frozenset("the our my these those all of different distinct".split())
_AUXILIARIES = frozenset("do does did have has had".split())
_POSSIBLE = re.compile(r"\b(?:can|could|may|should|must|might)\b(?!['’])")
_OWN = frozenset("we i you they there us our been".split()) | PERSON_NOUNS
_WITHIN = re.compile(r"\s+(?:per|a|an|every|each) (?:second|minute|hour)\b", re.IGNORECASE)
"""A rate is a fact that some text may state."""
_BEFORE_HEAD = 5


def counts_documents(text: str, names_theme: Callable[[], bool]) -> bool:
    """Whether what ``text`` counts, its time left out, are documents, or people as far as they say something or have trouble. ``names_theme`` is asked
    last: whatever a theme is about can be counted."""
    opening = _OPENING.search(text)
    if opening is None:
        return True
    counted = text[opening.end() :]
    found = words(counted)
    at = _head(found)
    if at is None and found and found[0].lower in _UNITS:
        return False
    if at is None:
        return (
            not subject_words(counted) or found[0].lower in _SAYING or _told_more_often(found[0], text[: opening.start()]) or names_theme()
        )
    noun, rest, told = found[at].lower, found[at + 1 :], counted[found[at].end :]
    if _WITHIN.match(told) or (noun not in _STORED and _POSSIBLE.search(told)):
        return False
    return _said(noun, rest, told) or names_theme()


_MOST = re.compile(r"\b(?:the )?(?:most|more(?!.*\bthan\b))\b(?P<what>[^?.!]*)", re.IGNORECASE)
_TOP = re.compile(r"\A\W*(?:the )?top\b", re.IGNORECASE)
_BY_HOW_OFTEN = frozenset("often frequently".split())


def ranks(text: str) -> bool:
    """Whether ``text`` asks what is most."""
    return bool(_MOST.search(text) or _TOP.search(text))


def counts_most(text: str, names_theme: Callable[[str], bool]) -> bool:
    """Whether the most of something that is counted here is asked for: documents, trouble or a theme (*the most login problems*), or who complains the most."""
    found = _MOST.search(text)
    if found is None:
        return bool(_TOP.search(text))
    what = words(found["what"])
    if not what or what[0].lower in _BY_HOW_OFTEN:
        return _tells(text[: found.start()])
    return any(word.lower in _COUNTED | COMPLAINT_NOUNS for word in what[:3]) or names_theme(found["what"])


def _tells(text: str) -> bool:
    return any(word.lower in _SAYING | SENDING for word in words(text))


def _told_more_often(first: Word, before: str) -> bool:
    """*What is mentioned more often, refunds or transfers*: telling is what is counted."""
    return first.lower in _BY_HOW_OFTEN and _tells(before)


def _head(found: Sequence[Word]) -> int | None:
    """The last countable noun before the verb (*app reviews*); None when something else is counted, or nothing is named."""
    head = None
    for at, word in enumerate(found[:_BEFORE_HEAD]):
        if word.lower in _COUNTED:
            head = at
        elif head is not None or (word.lower in STOP_WORDS and word.lower not in _DETERMINERS):
            break
    return head


def _said(noun: str, rest: Sequence[Word], text: str) -> bool:
    """Whether what follows the noun is something that stored documents, or their writers, do."""
    lowers = {word.lower for word in rest}
    if _POSSIBLE.search(text):
        return False
    if _somebody_elses(rest):
        return bool(lowers & SENDING) and noun not in PERSON_NOUNS
    if noun in _STORED or not subject_words(text) or lowers & _SAYING:
        return True
    return noun in PERSON_NOUNS and (bool(lowers & _FEELING) or bool(codes(text)) or (noun in _WRITERS and _trouble(text)))


def _somebody_elses(rest: Sequence[Word]) -> bool:
    """*How many reviews does the hotel have*: another than the house and its customers has, gets or does them."""
    lowers = [word.lower for word in rest if word.lower not in {"the", "most", "all", "of"}]
    if len(lowers) < 3 or lowers[0] not in _AUXILIARIES or lowers[1] in _OWN or lowers[1] in _SAYING | {"not", "a", "an", "to"}:
        return False
    return lowers[0] in {"do", "does", "did"}


def _trouble(text: str) -> bool:
    return any(meaning.tone.denied or (meaning.quality and meaning.sign < 0) for meaning in read(text).meanings)
