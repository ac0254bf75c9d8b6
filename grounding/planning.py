"""What kind of question this is and what it names: pure rules, the same on every machine."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from grounding.attribute_names import attributes_in, key_in, of_writers, without_attributes, without_key
from grounding.channels import sources_in, without
from grounding.clauses import has_predicate
from grounding.countables import counting, within_theme
from grounding.frames import COMPLAINT_NOUNS, DOCUMENT_NOUNS, PERSON_NOUNS, PRAISE_NOUNS, REPORT_VERBS, has_any, subject_words
from grounding.intents import ASKING, Form, Intent, changes, form_of, intent_of, leaning_of, topic_changes
from grounding.naming import Vocabulary, accounts_in, named_in, names_theme
from grounding.opposites import QUALITIES
from grounding.periods import Period, period_in
from grounding.places import compared_times
from grounding.question_parts import Part, Place, Plan
from grounding.ratings import without_ratings
from grounding.small_talk import is_small_talk, without_courtesy
from grounding.spelling import respelled
from grounding.tallies import counts_documents, counts_most, ranks
from grounding.words import Word, words
from search.documents import Filters
from search.filters import day_start, local_day, narrowed

MAX_PARTS = 4


def plan(question: str, filters: Filters, vocabulary: Vocabulary, *, now: datetime, zone: ZoneInfo) -> Plan:
    """Take ``question`` apart. The vocabulary is asked only where a rule needs it."""
    asked = respelled(without_courtesy(question), (_FRAME,))
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
    asking = _referring([piece for piece in pieces if not is_small_talk(piece)])
    if len(asking) > MAX_PARTS or not all(subject_words(piece) and not _REFERS_BACK.search(piece) for piece in asking[1:]):
        return (question,)
    return tuple(piece if piece[-1] in "?？" else f"{piece}?" for piece in asking) if len(asking) > 1 else (question,)


def _referring(pieces: list[str]) -> list[str]:
    """Later pieces with what *it* or *they* stand for, which the first one names with an article: *and who owns it* → *who owns the gym*."""
    named = _NAMED_THING.search(pieces[0]) if pieces else None
    length = _length(words(named["rest"])) if named else 0
    if named is None or not length:
        return pieces
    thing = f"{named['article']} {named['rest'][:length]}"
    return [*pieces[:1], *(_PRONOUN.sub(thing, piece, count=1) if ASKING.match(piece) else piece for piece in pieces[1:])]


def _length(said: Sequence[Word]) -> int:
    """Where the name of a thing ends: in front of a verb, a stop word, or what is said of it."""
    ends = (at for at, word in enumerate(said) if not word.content or has_predicate(word.lower) or (at and word.lower in QUALITIES))
    end = next(ends, len(said))
    return said[end - 1].end if end else 0


_NAMED_THING = re.compile(r"\b(?P<article>the|my|our|your)\s+(?P<rest>.+)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_REFERS_BACK = re.compile(r"\b(?:it|they|them|he|she|this|that|these|those|ones?)\b", re.IGNORECASE)


def _part(text: str, filters: Filters, vocabulary: Vocabulary, now: datetime, zone: ZoneInfo) -> Part:
    today = local_day(now, zone)
    intent = _intent(text, vocabulary, today)
    times = compared_times(text, today) if intent is Intent.COMPARE else ()
    period = None if times else _period(text, intent, today, vocabulary)
    if period is not None:
        filters = _within(filters, period, zone)
    subject = _without(text, [each.text for each in (*times, *((period,) if period else ()))])
    places = tuple(Place(time.text, _within(filters, time, zone), time) for time in times)
    named = filters.account_ids is None and intent is not Intent.COMPARE
    accounts = accounts_in(subject, vocabulary.has_account) if named else ()
    account = accounts[0] if len(accounts) == 1 else None
    if account is not None:
        filters = replace(filters, account_ids=(account,))
        intent, subject = _of_account(intent, subject, account)
    if intent is Intent.EVIDENCE and not filters.attributes:
        filters, subject = _of_writers_with(filters, subject, vocabulary)
    part = Part(
        text,
        intent,
        form_of(subject),
        filters,
        leaning=leaning_of(text),
        period=period,
        time_zone=zone.key,
        account=account,
        places=places,
        subject=" ".join(subject.split()) if subject != text and words(subject) else text,
    )
    if intent not in (Intent.EVIDENCE, Intent.ACCOUNT):
        part = counting(part, subject, vocabulary)
    return within_theme(part, subject, vocabulary)


def _lists_numbers(text: str) -> bool:
    """*Tickets per plan*: documents, told apart, and no question."""
    return not ASKING.match(text) and bool(_APART.search(text)) and has_any(text, DOCUMENT_NOUNS | COMPLAINT_NOUNS)


_APART = re.compile(r"\b(?:per|by|for each)\b", re.IGNORECASE)
_FRAME = " ".join(sorted(DOCUMENT_NOUNS | PERSON_NOUNS | COMPLAINT_NOUNS))


def _of_writers_with(filters: Filters, text: str, vocabulary: Vocabulary) -> tuple[Filters, str]:
    """Limited to an attribute of those who wrote, where the question says so: *users in Berlin*, *free plan customers*; elsewhere it is part of the fact."""
    if not (has_any(text, PERSON_NOUNS | DOCUMENT_NOUNS) and has_any(text, REPORT_VERBS | COMPLAINT_NOUNS | PRAISE_NOUNS)):
        return filters, text
    named = [one for one in attributes_in(text, vocabulary.attributes()) if of_writers(text, one)]
    if len({one.attribute.key for one in named}) != len(named) or not named:
        return filters, text
    chosen = tuple((one.attribute.key, one.attribute.value) for one in named)
    return replace(filters, attributes=chosen), without_attributes(text, named)


def _without(text: str, named: Sequence[str]) -> str:
    for name in named:
        text = text.replace(name, " ")
    return text


def _intent(text: str, vocabulary: Vocabulary, today: date) -> Intent:
    """A theme that is *rising* is a trend; a price that is rising is something people write about. Messages are counted; how many people live in a town
    is a fact that some text may state."""
    intent = intent_of(text)
    if intent is Intent.EVIDENCE and changes(text) and named_in(text, vocabulary.themes()):
        return Intent.TREND
    if intent is Intent.EVIDENCE and topic_changes(text, lambda: _unlimited(text, intent, vocabulary, today)):
        return Intent.TREND
    if intent is Intent.EVIDENCE and ranks(text) and (key := key_in(text, vocabulary.attributes())) is not None:
        return Intent.TOP if counts_most(without_key(text, key), lambda told: names_theme(told, vocabulary.themes())) else intent
    if intent is Intent.EVIDENCE and _lists_numbers(text) and key_in(text, vocabulary.attributes()) is not None:
        return Intent.COUNT
    if intent in (Intent.COUNT, Intent.COMPARE, Intent.TREND):
        told = _unlimited(text, intent, vocabulary, today)
        return intent if counts_documents(told, lambda: names_theme(told, vocabulary.themes())) else Intent.EVIDENCE
    return intent


def _unlimited(text: str, intent: Intent, vocabulary: Vocabulary, today: date) -> str:
    """The question without the times, ratings, sources and attributes it is limited to."""
    times = compared_times(text, today) if intent is Intent.COMPARE else ()
    period = None if times else period_in(text, today)
    told = _without(text, [each.text for each in (*times, *((period,) if period else ()))])
    told = without_ratings(told)
    told = without(told, sources_in(told, vocabulary.sources()))
    return without_attributes(told, attributes_in(told, vocabulary.attributes()))


def of_one_account(part: Part, account: str) -> Part:
    """The part asked of the documents of one account."""
    intent, subject = _of_account(part.intent, part.subject, account)
    filters = replace(part.filters, account_ids=(account,))
    kept = " ".join(subject.split())
    return replace(part, intent=intent, form=form_of(kept), filters=filters, account=account, subject=kept if words(kept) else part.subject)


def _of_account(intent: Intent, text: str, account: str) -> tuple[Intent, str]:
    rest = re.sub(rf"\b(?:account|customer|client|company|tenant)\b|{re.escape(account)}(?:['’]s\b)?", " ", text, flags=re.IGNORECASE)
    nothing_else = intent is Intent.EVIDENCE and not subject_words(rest)
    return (Intent.ACCOUNT if nothing_else else intent), rest


def _period(text: str, intent: Intent, today: date, vocabulary: Vocabulary) -> Period | None:
    """A month in a question of fact is usually part of the fact (*ordered in June*); elsewhere it limits when documents were written. A year nobody wrote in
    is part of what the documents speak of (*What happened in 1979?*), unless it is asked what people wrote."""
    found = period_in(text, today)
    if found is None or intent is not Intent.EVIDENCE:
        return found
    rest = text.replace(found.text, " ")
    if not (found.relative or form_of(rest) is Form.BROAD or has_any(rest, REPORT_VERBS)):
        return None
    return found if not found.names_year or _of_writers(rest) or _written_then(found, vocabulary.dated()) else None


def _of_writers(text: str) -> bool:
    """Whether it is asked what people, or documents, say."""
    return has_any(text, PERSON_NOUNS | DOCUMENT_NOUNS) and has_any(text, REPORT_VERBS | COMPLAINT_NOUNS)


def _written_then(period: Period, dated: tuple[date, date] | None) -> bool:
    """Some document is of that time; a start long before the first one limits nothing, so it is no limit."""
    if dated is None:
        return True
    first, last = dated
    if period.until is None and period.since is not None:
        return first.year <= period.since.year + 1 and period.since <= last
    return (period.since is None or period.since <= last) and (period.until is None or period.until >= first)


def _within(filters: Filters, period: Period, zone: ZoneInfo) -> Filters:
    since = None if period.since is None else day_start(period.since, zone)
    before = None if period.until is None else day_start(period.until + timedelta(days=1), zone)
    return narrowed(filters, since, before)
