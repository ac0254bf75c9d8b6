"""The words a question is wrapped in (who says it, in what, how often), as opposed to what it is about."""

import re

from grounding.words import STOP_WORDS, Word, words

DOCUMENT_NOUNS = frozenset(
    "message messages ticket tickets review reviews document documents record records comment comments conversation conversations post posts "
    "entry entries item items feedback survey surveys response responses submission submissions mail mails email emails transcript transcripts "
    "case cases request requests enquiry enquiries inquiry inquiries contact contacts row rows text texts note notes voice voices answers chats ratings".split()
)
PERSON_NOUNS = frozenset(
    "customer customers user users reviewer reviewers person people client clients buyer buyers shopper shoppers guest guests visitor visitors member "
    "members subscriber subscribers account accounts consumer consumers caller callers traveller travellers everyone everybody anyone anybody someone "
    "somebody folks they respondents respondent owners patients participants passengers".split()
)
COMPLAINT_NOUNS = frozenset(
    "complaint complaints problem problems issue issues trouble troubles difficulty difficulties fault faults concern concerns frustration frustrations "
    "annoyance annoyances pain pains grievance grievances dissatisfaction defect defects wrong negative worst bad unhappy dislike dislikes hate hates "
    "criticise criticize criticism criticisms struggle struggles struggling frustrating frustrated annoying annoyed annoys bother bothers".split()
)
PRAISE_NOUNS = frozenset(
    "praise praises compliment compliments positive best good happy like likes love loves liked loved enjoy enjoys appreciate strength strengths "
    "satisfied delight delights highlight highlights".split()
)
REPORT_VERBS = frozenset(
    "say says said saying report reports reported reporting complain complains complained complaining mention mentions mentioned mentioning tell tells "
    "told talk talks talked talking think thinks thought feel feels felt describe describes described write writes wrote written raise raises raised "
    "discuss discusses discussed state states stated express expressed experience experiences experienced experiencing face faces facing faced "
    "encounter encounters encountered suffer suffers suffered concern concerns concerned concerning relate relates related regard regarding refer "
    "refers referring contain contains containing cite cites cited happen happens happened happening see sees seen seeing find finds found finding".split()
)
FRAME_WORDS = frozenset(
    "most common commonly frequent frequently often main biggest top leading primary key major important typical typically usual usually general "
    "generally overall popular type types sort sorts thing things point points topic topics theme themes category categories area areas "
    "reason reasons cause causes summary summarise summarize summarised summarized overview recap recent recently latest current currently new today now "
    "list give show tell find many much number count counts total amount share percentage percent proportion fraction majority half trend trends time "
    "week weeks weekly month months monthly day days daily rising increasing growing declining falling decreasing compare compared comparison versus vs "
    "more less fewer than often far opinion opinions view views sentiment word words corpus data dataset question questions "
    "ask asks asked all every total entire whole".split()
)
SENTIMENT_WORDS = frozenset(
    "happy unhappy satisfied dissatisfied positive negative angry pleased displeased delighted frustrated annoyed upset good bad love loves loved hate hates "
    "hated like likes liked dislike dislikes furious mad irritated irate outraged enraged disappointed unsatisfied disgruntled sad glad thrilled worried "
    "anxious impatient hostile bitter neutral sentiment sentiments mood moods feeling feelings emotional stressed".split()
)
"""Feelings that nobody stored: they cannot be counted, only read."""

_SORT = re.compile(r"\bkinds?\s+of\b|\b(?:what|which|any)\s+kinds?\b", re.IGNORECASE)
"""*What kind of*; whoever was kind is no frame."""
_NEAR = 6
_EVERY_FRAME = DOCUMENT_NOUNS | PERSON_NOUNS | COMPLAINT_NOUNS | PRAISE_NOUNS | REPORT_VERBS | FRAME_WORDS


def subject_words(text: str) -> tuple[Word, ...]:
    """The words that say what ``text`` is about: neither stop words nor the frame around the subject."""
    return tuple(
        word for word in words(text) if word.lower not in STOP_WORDS and word.lower not in _EVERY_FRAME and not sorting(text, word)
    )


def sorting(text: str, word: Word) -> bool:
    """Whether ``word`` is that of *what kind of*."""
    return word.lower in {"kind", "kinds"} and bool(_SORT.search(text, max(0, word.start - _NEAR), word.end + _NEAR))


def has_any(text: str, listed: frozenset[str]) -> bool:
    """Whether one of the listed words is in ``text``."""
    return any(word.lower in listed for word in words(text))
