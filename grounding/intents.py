"""Intent and form of a question, read off its wording: which tools it needs, and what would count as an answer."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Literal

from grounding.frames import COMPLAINT_NOUNS, DOCUMENT_NOUNS, PERSON_NOUNS, PRAISE_NOUNS, has_any, subject_words
from grounding.languages import language_of


class Intent(StrEnum):
    """Which tools a question needs."""

    EVIDENCE = "evidence"
    COUNT = "count"
    TOP = "top"
    TREND = "trend"
    COMPARE = "compare"
    ACCOUNT = "account"
    SMALL_TALK = "small_talk"


class Form(StrEnum):
    """What counts as an answer to a question of evidence."""

    FACT = "fact"
    YES_NO = "yes_no"
    TOPIC = "topic"
    BROAD = "broad"


Leaning = Literal["", "complaint", "praise"]


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})", re.IGNORECASE)


_DOCUMENTS = rf"(?:{'|'.join(sorted(DOCUMENT_NOUNS))}|complaints?|reports|mentions?)\b"
_COUNTABLE = rf"(?:{'|'.join(sorted(DOCUMENT_NOUNS | PERSON_NOUNS))}|complaints?|issues|problems|reports|mentions|themes)\b"
_GROUPS = r"(?:themes?|topics?|complaints?|issues?|problems?|reasons?|categor(?:y|ies)|concerns?|pain points?|sources?|channels?|accounts?|customers?)\b"
_FEW_WORDS = r"(?:[\w-]+ ){0,3}?"
_NAMED_SO = r"(?:(?!(?:do|does|did|is|are|was|were|has|have|had|can|could|may|will|would)\b)[\w-]+ ){0,7}?"
"""What stands before a noun and belongs to it: no verb."""
_INTERVAL = r"(?:per|by|each|every) (?:day|week|month)\b"

SHARE = _any(r"(?:share|percentage|percent|proportion|fraction|majority|most|half)\b")
MAJORITY = re.compile(
    rf"\A\W*(?:do|are|were|did|have|is)\s+(?:most|the majority|more than half)\b(?: of)?(?: the| our)? {_FEW_WORDS}{_COUNTABLE}",
    re.IGNORECASE,
)
CHANGING = _any(
    r"(?:rising|increasing|decreasing|declining|spiking|growing|falling)\b",
    r"going (?:up|down)\b",
    r"(?:has|have|did)\b.*\b(?:increased?|decreased?|spiked?|grown?|risen|rise|fallen|fall|gone up|gone down|go up|go down)\b",
    r"(?:more|less) frequent\b",
)
_COUNT = _any(
    rf"how many (?:of (?:the|our|my|these|those) )?(?:{_FEW_WORDS}|{_NAMED_SO}){_COUNTABLE}",
    r"how many (?:mention|complain|say|report|talk|ask|are about)",
    r"how many\??\s*\Z",
    r"how many (?:have|has|had|are|were|got|gave|carry|come|came)\b",
    rf"(?:number|count) of {_FEW_WORDS}{_COUNTABLE}",
    r"(?<![^\W_])(?<!the )(?<!a )count (?:the|all|of|every)\b",
    r"how many (?:different |distinct |unique )?(?:sources|channels|topics)\b",
    rf"how often (?:do|does|did|is|are|was|were) {_COUNTABLE}",
    r"(?:what|which) (?:share|percentage|percent|proportion|fraction|part) of\b",
)
_RANKED = _any(
    r"(?:most|more) (?:common|frequent|frequently|commonly|often|mentioned|reported|discussed|raised|typical)\b",
    r"top\s+(?:\d+\b|three\b|five\b|ten\b)",
)
"""A ranking of what people write about only where it says so: *the most common problem*, not *the most common blood type*."""
_WRITTEN = _any(rf"(?:{_GROUPS}|{_COUNTABLE}|mention|report|discuss|raise|complain|say\b|said\b|ask|talk|write)")
_TOP = _any(
    rf"top\s+{_GROUPS}",
    rf"what\s+(?:do|did|are|have|were)\s+(?:most|the majority)\b(?: of)?(?: the| our)? {_FEW_WORDS}{_COUNTABLE}\W+(?:\w+\W+){{0,2}}?"
    r"(?:complain|say|said|report|mention|talk|ask|write)",
    rf"(?:main|biggest|primary|leading|key|major) {_GROUPS}",
    rf"{_GROUPS}.*\b(?:the most|most often)\b",
    r"complain(?:ed|ing)? (?:about |of )?(?:the )?most\b",
    r"(?:list|show|what are)\b.*\bthemes\b",
    r"by (?:theme|topic|source|account)\b",
    rf"(?:a|the)\s+breakdown\b(?!.+)|break ?down\b.*\b(?:by|{_COUNTABLE})",
)
_TREND = _any(r"trends?\b", r"over time\b", r"timeline\b", r"how (?:has|have|did|is|are)\b.*\bdevelop(?:ed|ing)?\b")
TREND_WORDS = re.compile(
    r"\b(?:develop(?:s|ed|ing|ment)?|over time|timelines?|ris(?:e|es|en|ing)|rose|fall(?:s|en|ing)?|fell|grow(?:s|n|ing)?|grew|increas(?:e|es|ed|ing)|"
    r"decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|spik(?:e|es|ed|ing)|(?:go|goes|gone|going|went) (?:up|down)|peak(?:s|ed|ing)?|highest|becoming|lately)\b",
    re.IGNORECASE,
)
"""How a trend is asked for, beside the words that frame every question."""
GROUPED = _any(r"(?:by|per|(?:for|in|from|of) (?:each|every)) (?:source|channel|theme|topic|account|customer|client)\b")
_PEAK = _any(
    r"(?:which|what) (?:day|week|month)\b.*\b(?:most|peak|highest)\b",
    r"when (?:did|do|does|was|were|are|is)\b.*\b(?:most(?! recent)|peak(?:ed)?|highest)\b",
)
_CHANGES = (
    r"(?:rising|increasing|decreasing|declining|spiking|growing|falling|going (?:up|down)|more (?:common|frequent)|less (?:common|frequent)|"
    r"increased?|decreased?|spiked?|gone (?:up|down)|go (?:up|down))"
)
_ASKS_OF_CHANGE = (
    rf"\W*(?:(?:is|are|was|were|has|have|did)\s+(?P<changing>(?:[\w’'-]+\s+){{1,5}}?)(?:(?:been|still|getting|becoming)\s+)*{_CHANGES}"
    r"|when\s+(?:did|do|does)\s+(?P<peaking>(?:[\w’'-]+\s+){1,5}?)peak)\b"
)
_MAY_CHANGE = re.compile(_ASKS_OF_CHANGE, re.IGNORECASE)
_TOPIC_CHANGES = re.compile(rf"{_ASKS_OF_CHANGE}(?:\s+(?:again|now|lately|recently|over time|at all))?\W*\Z", re.IGNORECASE)
_MEASURED = frozenset(
    "price prices cost costs fee fees rate rates amount amounts salary salaries wage wages rent rents income revenue revenues profit profits sales turnover "
    "inflation temperature temperatures level levels pressure speed size weight height value values interest limit limits balance balances population "
    "unemployment tax taxes premium premiums tariff tariffs".split()
)
"""What rises by its own measure is a fact that some text may state, and no matter of how much is written about it."""
_DEFINITE = frozenset("the a an my our your his her its their this that these those it they he she we you i there one any".split())
_WRITTEN_NOUNS = DOCUMENT_NOUNS | COMPLAINT_NOUNS | {"question", "questions", "mention", "mentions", "report", "reports"}
_PER_INTERVAL = _any(_INTERVAL, r"(?:daily|weekly|monthly)\b")
_FACT_ASKED = re.compile(
    r"\s*(?:when|why|who|whose|where|which|what (?:caused?|is|was|made|did|does|do|has|have|had)|how (?:much|long|late|far|fast))\b",
    re.IGNORECASE,
)
_TOLD = r"(?:ask|asked|complain|complained|write|written|talk|talked|report|reported|mention|mentioned|discuss|discussed|raise|raised)"
_COMPARE = _any(
    rf"(?:more|fewer|less) {_FEW_WORDS}{_COUNTABLE}.*\bthan\b",
    r"which (?:one |theme |of the two )?(?:is|are) (?:more|less) (?:common|frequent|mentioned)\b",
    rf"(?:do|does|did|have|has|had|is|are|was|were|who|which|what)\b.*(?<!more )\bor\b.*\b(?:more|fewer|less) {_FEW_WORDS}{_COUNTABLE}",
    rf"(?:more|fewer|less) (?!or\b){_FEW_WORDS}{_COUNTABLE}.*\bor\b",
    r"(?:more|less) (?:common|frequent|often|frequently)\b.*\b(?:than|or)\b",
    rf"{_TOLD} (?:about |of |for )?(?:more|less)\b(?! than\b).*\b(?:or|than)\b",
    r"compare\b",
    r"(?:vs\.?|versus)\s",
)
_COUNTED = _any(_DOCUMENTS, r"(?:volume|number)\b")
_TIMES = _any(r"how many times\b")
ASKING = re.compile(
    r"\s*(?:(?:on|in|at|for|with|from|by|to|about|since|of|under)\s+(?=wh|how))?(?:how|what|which|who|whose|whom|when|where|why|is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|any|count|list|show|tell|"
    r"compare|summari[sz]e|give|name|find|top)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"\s*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|isn't|aren't|doesn't|don't|didn't|hasn't|haven't)\b",
    re.IGNORECASE,
)
_EXISTS = re.compile(
    r"\s*(?:do|does|did|have|has) (?:any |many |some )?(?:customers?|users?|people|reviewers?|clients?|anyone|anybody) (?:ever )?"
    r"(?:ask|complain|mention|report|say|talk|write)",
    re.IGNORECASE,
)
_NEWEST = _any(r"(?:latest|newest|most recent|last few)\b")
_IMPROVE = _any(
    r"what (?:should|could|can|must|do) (?:we|i)(?: have to| need to)? (?:fix|improve|change|work on|prioriti[sz]e|do)(?: better| first| next| now)*\W*\Z"
)
_TOPIC = _any(
    _EXISTS.pattern,
    r"what\b.*\b(?:ask|asking|asked|want|write|writing|talk|talking) (?:to know )?about\b",
    r"(?:what|anything|something)\b.*\b(?:say|said|saying|reports?|reported|think|thought|complain|complained|mention|mentioned|feel|happens?|happened)\b",
    r"(?:what|anything|something)\b.*\b(?:wrong|known|written|like|love|enjoy|appreciate|hate|dislike)\b",
    r"what\b.*\b(?:problems?|issues?|complaints?|trouble|difficulties|concerns?|feedback|opinions?|experiences?)\b",
    r"(?:tell me|summari[sz]e|summary|overview|describe|anything about)\b",
    r"(?:feedback|complaints?|problems?|issues?|trouble) (?:on|about|with)\b",
    r"how (?:is|are|was|were|do (?:customers|users|people|reviewers) (?:feel|like))\b",
)


def intent_of(text: str) -> Intent:
    """The intent of one question, before accounts are looked for."""
    if _COMPARE.search(text):
        return Intent.COMPARE
    per_interval = _PER_INTERVAL.search(text) and (_COUNTED.search(text) or _COUNT.search(text))
    peak = _PEAK.search(text) and _COUNTED.search(text)
    if _TREND.search(text) or per_interval or peak or (changes(text) and _COUNTED.search(text)):
        return Intent.TREND
    if MAJORITY.search(text) or (_COUNT.search(text) and not _TIMES.search(text)):
        return Intent.COUNT
    return Intent.TOP if _TOP.search(text) or _ranked(text) else Intent.EVIDENCE


def _ranked(text: str) -> bool:
    return bool(_RANKED.search(text)) and (bool(_WRITTEN.search(text)) or not any(word.lower.isalpha() for word in subject_words(text)))


def changes(text: str) -> bool:
    """Whether the question asks if something is rising or falling, and not for a fact about a rise."""
    return bool(CHANGING.search(text)) and not _FACT_ASKED.match(text)


def topic_changes(text: str, unlimited: Callable[[], str]) -> bool:
    """Whether ``text`` asks of a topic and nothing else whether it is rising, or when it peaked: *are crashes rising*. One certain thing (*the river*) rises
    by itself, unless it is something written. ``unlimited`` gives the text without times and sources, and is asked only where it matters."""
    found = _TOPIC_CHANGES.match(unlimited()) if _MAY_CHANGE.match(text) else None
    if found is None:
        return False
    topic = found["changing"] or found["peaking"]
    definite = topic.split()[0].lower() in _DEFINITE
    return bool(subject_words(topic)) and not has_any(topic, _MEASURED) and (not definite or has_any(topic, _WRITTEN_NOUNS))


def form_of(text: str) -> Form:
    """The form of one question."""
    if not subject_words(text) or _IMPROVE.search(text):
        return Form.BROAD
    if language_of(text) not in ("", "en"):
        return Form.FACT
    if _YES_NO.match(text) and not _EXISTS.match(text):
        return Form.YES_NO
    return Form.TOPIC if _TOPIC.search(text) or not ASKING.match(text) else Form.FACT


def wants_newest(text: str) -> bool:
    """Whether the question asks for what came last (*the latest complaints*)."""
    return bool(_NEWEST.search(text))


def leaning_of(text: str) -> Leaning:
    """Whether the question wants complaints, praise, or either."""
    if has_any(text, COMPLAINT_NOUNS) or _IMPROVE.search(text) or re.search(r"\bcomplain", text, re.IGNORECASE):
        return "complaint"
    return "praise" if has_any(text, PRAISE_NOUNS) else ""
