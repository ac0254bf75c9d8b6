"""What kind of question this is and what it names: pure rules, the same on every machine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from grounding.frames import REPORT_VERBS, SENTIMENT_WORDS, has_any, subject_words
from grounding.intents import ASKING, CHANGING, MAJORITY, SHARE, Form, Intent, Leaning, form_of, intent_of, leaning_of
from grounding.naming import Named, Vocabulary, accounts_in, named_in, sources_in
from grounding.periods import Period, period_in
from grounding.ratings import RatingRange, ratings_in
from grounding.small_talk import is_small_talk, without_courtesy
from grounding.words import words
from search.aggregation import Interval
from search.documents import Filters
from search.filters import day_start, local_day, narrowed
from search.listing import filters_as_json

MAX_PARTS = 4


Dimension = Literal["theme", "source", "account"]


@dataclass(frozen=True, slots=True)
class Side:
    """One thing that is counted: documents of a theme, or documents that hold words, or both; ``label`` is how the question calls it."""

    theme: str | None
    match: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Part:
    """One question with one answer. ``filters`` are those of the request, narrowed by what the question names; ``subject`` is the question without
    the account and the time that became filters. ``distinct`` asks how many themes, sources or accounts there are; ``uncountable`` for a number of
    feelings.
    """

    question: str
    intent: Intent
    form: Form
    filters: Filters
    subject: str = ""
    sides: tuple[Side, ...] = ()
    dimension: Dimension = "theme"
    interval: Interval = "week"
    limit: int = 5
    share: bool = False
    majority: bool = False
    leaning: Leaning = ""
    account: str | None = None
    rating: RatingRange | None = None
    distinct: bool = False
    uncountable: bool = False
    period: Period | None = None
    time_zone: str = "UTC"

    def as_json(self) -> Mapping[str, Any]:
        """The part as plain JSON, for the trace."""
        body: dict[str, Any] = {"question": self.question, "intent": self.intent.value, "form": self.form.value}
        if self.sides:
            body["counts"] = [{"theme": side.theme, "match": side.match, "label": side.label} for side in self.sides]
        if self.period:
            body["period"] = {"text": self.period.text, "timeZone": self.time_zone}
        if self.account:
            body["account"] = self.account
        if self.leaning:
            body["leaning"] = self.leaning
        return body | {"filters": filters_as_json(self.filters)}


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart; one part for most."""

    question: str
    parts: tuple[Part, ...]

    @property
    def small_talk(self) -> bool:
        """Whether there is nothing to look up."""
        return all(part.intent is Intent.SMALL_TALK for part in self.parts)

    def as_json(self) -> Mapping[str, Any]:
        """The plan as plain JSON, for the trace."""
        return {"intent": self.parts[0].intent.value, "parts": [part.as_json() for part in self.parts]}


def plan(question: str, filters: Filters, vocabulary: Vocabulary, *, now: datetime, zone: ZoneInfo) -> Plan:
    """Take ``question`` apart. The vocabulary is asked only where a rule needs it."""
    asked = without_courtesy(question)
    if is_small_talk(asked):
        return Plan(question, (Part(asked, Intent.SMALL_TALK, Form.FACT, filters),))
    parts = tuple(_part(text, filters, vocabulary, now, zone) for text in parts_of(asked))
    return Plan(question, parts)


_CONJOINED = re.compile(
    r"(?:[,;]|\b)\s*\b(?:and|also|plus)\s+(?:also\s+)?(?=(?:how (?:many|much|long|often|do|does|did|is|are)|what|which|who|whose|when|where|why)\b"
    r"|(?:is|are|was|were|do|does|did|can|has|have)\s+(?:there|it|the|they|any|anyone|customers|users|people|reviewers)\b)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[?？])\s+|(?<=？)")


def parts_of(question: str) -> tuple[str, ...]:
    """The questions inside ``question``, at most four; whole when it is one, or when its pieces cannot stand alone."""
    pieces: list[str] = []
    for sentence in _SENTENCE_END.split(question):
        halves = [half.strip() for half in _CONJOINED.split(sentence)]
        whole = len(halves) > 1 and not all(ASKING.match(half) and subject_words(half) for half in halves)
        pieces += [sentence.strip()] if whole else [half for half in halves if half]
    asking = [piece for piece in pieces if not is_small_talk(piece)]
    if len(asking) > MAX_PARTS or not all(subject_words(piece) and not _REFERS_BACK.search(piece) for piece in asking[1:]):
        return (question,)
    return tuple(piece if piece[-1] in "?？" else f"{piece}?" for piece in asking) if len(asking) > 1 else (question,)


_REFERS_BACK = re.compile(r"\b(?:it|they|them|he|she|this|that|these|those|ones?)\b", re.IGNORECASE)


def _part(text: str, filters: Filters, vocabulary: Vocabulary, now: datetime, zone: ZoneInfo) -> Part:
    intent = _intent(text, vocabulary)
    period = _period(text, intent, local_day(now, zone))
    if period is not None:
        filters = _within(filters, period, zone)
    subject = text.replace(period.text, " ") if period else text
    accounts = accounts_in(subject, vocabulary.has_account) if filters.account_ids is None else ()
    account = accounts[0] if len(accounts) == 1 else None
    if account is not None:
        filters = replace(filters, account_ids=(account,))
        intent, subject = _of_account(intent, subject, account)
    part = Part(
        text,
        intent,
        form_of(subject),
        filters,
        leaning=leaning_of(text),
        period=period,
        time_zone=zone.key,
        account=account,
        subject=text if subject == text else " ".join(subject.split()),
    )
    return part if intent in (Intent.EVIDENCE, Intent.ACCOUNT) else _counted(part, subject, vocabulary)


def _intent(text: str, vocabulary: Vocabulary) -> Intent:
    """A theme that is *rising* is a trend; a price that is rising is something people write about."""
    intent = intent_of(text)
    if intent is Intent.EVIDENCE and CHANGING.search(text) and named_in(text, vocabulary.themes()):
        return Intent.TREND
    return intent


def _of_account(intent: Intent, text: str, account: str) -> tuple[Intent, str]:
    rest = re.sub(rf"\b(?:account|customer|client|company|tenant)\b|{re.escape(account)}", " ", text, flags=re.IGNORECASE)
    nothing_else = intent is Intent.EVIDENCE and not subject_words(rest)
    return (Intent.ACCOUNT if nothing_else else intent), rest


def _period(text: str, intent: Intent, today: date) -> Period | None:
    """A month in a question of fact is usually part of the fact (*ordered in June*); elsewhere it limits when documents were written."""
    found = period_in(text, today)
    if found is None:
        return None
    rest = text.replace(found.text, " ")
    limits = found.relative or intent is not Intent.EVIDENCE or form_of(rest) is Form.BROAD or has_any(rest, REPORT_VERBS)
    return found if limits else None


def _within(filters: Filters, period: Period, zone: ZoneInfo) -> Filters:
    since = None if period.since is None else day_start(period.since, zone)
    before = None if period.until is None else day_start(period.until + timedelta(days=1), zone)
    return narrowed(filters, since, before)


_COUNTING_WORDS = re.compile(
    r"\b(?:top|first|the)\s+\d{1,2}\b|\bcontact(?:s|ed|ing)? (?:the |our )?support\b|\baccording to\b|\bchang(?:e|es|ed|ing)\b|\b(?:sources?|channels?)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"\b(?:top|first|the)\s+(\d{1,2}|three|five|ten)\b", re.IGNORECASE)
_BETWEEN_SIDES = re.compile(r"\s*\b(?:than(?: about| of| on| for)?|versus|vs\.?|compared (?:to|with)|or|and|with|to)\b\s*", re.IGNORECASE)


def _counted(part: Part, text: str, vocabulary: Vocabulary) -> Part:
    """The part with what it counts: themes it names, and the other words."""
    part, text = _rated(part, text)
    sources = sources_in(text, vocabulary.sources()) if part.filters.sources is None else ()
    if sources:
        part = replace(part, filters=replace(part.filters, sources=tuple(source.name for source in sources)))
        text = _without_stems(text, sources)
    themes = named_in(text, vocabulary.themes())
    if part.intent is Intent.COMPARE:
        sides = _two_sides(text, themes)
        return replace(part, sides=sides, intent=Intent.COMPARE if sides else Intent.EVIDENCE)
    limit = _LIMIT.search(text)
    side = _side(_COUNTING_WORDS.sub(" ", text), themes[:1])
    return replace(
        part,
        sides=(side,) if side else (),
        dimension=_dimension(text),
        interval=_interval(text, part.period),
        limit=_number(limit.group(1)) if limit else 5,
        share=bool(SHARE.search(text)),
        majority=bool(MAJORITY.search(text)),
        distinct=side is None and bool(_DISTINCT.search(text)),
        uncountable=side is None and part.intent is not Intent.TOP and has_any(text, SENTIMENT_WORDS),
    )


_DISTINCT = re.compile(
    r"\bhow many (?:different |distinct |unique )?(?:themes?|topics?|sources?|channels?|accounts?|customers?|clients?)\b", re.IGNORECASE
)


def _rated(part: Part, text: str) -> tuple[Part, str]:
    """The part limited to the ratings its question names, and the question without them."""
    rating = ratings_in(text)
    if rating is None or part.filters.rating_min is not None or part.filters.rating_max is not None:
        return part, text
    filters = replace(part.filters, rating_min=rating.low, rating_max=rating.high)
    return replace(part, filters=filters, rating=rating), text.replace(rating.text, " ")


def _side(text: str, themes: tuple[Named, ...]) -> Side | None:
    """What is counted in ``text``, or None for all documents."""
    quoted = re.findall(r"[\"“”]([^\"“”]+)[\"“”]", text)
    named: frozenset[str] = themes[0].stems if themes else frozenset()
    plain = re.sub(r"[\"“”][^\"“”]+[\"“”]", " ", text)
    rest = [word.lower for word in subject_words(plain) if word.stem not in named]
    match = " ".join([*(f'"{phrase}"' for phrase in quoted), *dict.fromkeys(rest)]) or None
    if not themes and match is None:
        return None
    return Side(themes[0].name if themes else None, match, " ".join(word.lower for word in subject_words(text)))


def _two_sides(text: str, themes: tuple[Named, ...]) -> tuple[Side, ...]:
    if len(themes) > 1:
        return tuple(Side(theme.name, None, theme.name) for theme in themes[:4])
    tail = re.sub(r"\bbetween\b", " ", text, flags=re.IGNORECASE)
    sides = [side for piece in _BETWEEN_SIDES.split(tail) if (side := _side(piece, tuple(t for t in themes if t.stems <= _stems(piece))))]
    return tuple(dict.fromkeys(sides)) if len(sides) == 2 else ()


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in words(text))


def _without_stems(text: str, named: tuple[Named, ...]) -> str:
    gone = frozenset(stem for name in named for stem in name.stems)
    kept = text
    for word in reversed(words(text)):
        if word.stem in gone:
            kept = kept[: word.start] + " " + kept[word.end :]
    return kept


def _dimension(text: str) -> Dimension:
    asked = re.search(
        r"\b(?:which|what|top|by|per|list|many|different)\s+(?:\d+\s+)?(source|channel|account|customer|client)s?\b|\A\s*(who)\b",
        text,
        re.IGNORECASE,
    )
    if asked is None:
        return "theme"
    if asked.group(2):
        return "account"
    return "source" if asked.group(1).lower() in ("source", "channel") else "account"


def _interval(text: str, period: Period | None) -> Interval:
    for interval, pattern in (
        ("day", r"\bdaily\b|\b(?:per|by|each|every) day\b"),
        ("month", r"\bmonthly\b|\b(?:per|by|each|every) month\b"),
    ):
        if re.search(pattern, text, re.IGNORECASE):
            return "day" if interval == "day" else "month"
    if period and period.since and period.until and (period.until - period.since).days <= 14:
        return "day"
    return "week"


def _number(text: str) -> int:
    named = {"three": 3, "five": 5, "ten": 10}
    return max(1, named.get(text.lower()) or int(text))
