"""What a question counts: documents of a theme, documents that hold words, of some sources, ratings or accounts."""

import re
from collections.abc import Callable
from dataclasses import replace

from grounding.frames import SENTIMENT_WORDS, has_any, subject_words
from grounding.intents import MAJORITY, SHARE, Form, Intent
from grounding.naming import Named, Vocabulary, named_in, sources_in
from grounding.periods import Period
from grounding.quantities import codes
from grounding.question_parts import Dimension, Part, Side
from grounding.ratings import ratings_in
from grounding.words import Word, words
from search.aggregation import Interval

_COUNTING_WORDS = re.compile(
    r"\b(?:top|first|the)\s+\d{1,2}\b|\bcontact(?:s|ed|ing)? (?:the |our )?support\b|\baccording to\b|\bchang(?:e|es|ed|ing)\b|\b(?:sources?|channels?)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"\b(?:top|first|the)\s+(\d{1,2}|three|five|ten)\b", re.IGNORECASE)
_BETWEEN_SIDES = re.compile(r"\s*\b(?:than(?: about| of| on| for)?|versus|vs\.?|compared (?:to|with)|or|and|with|to)\b\s*", re.IGNORECASE)
_OR = re.compile(r"\s+\b(?:or|and/or)\b\s+", re.IGNORECASE)
_DISTINCT = re.compile(
    r"\bhow many (?:different |distinct |unique )?(?:themes?|topics?|sources?|channels?|accounts?|customers?|clients?)\s+"
    r"(?:are there|do we have|have we|exist|are in)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_DIMENSION = re.compile(
    r"\b(?:which|what|top|by|per|list|many|different)\s+(?:\d+\s+)?(source|channel|account|customer|client)s?\b|\A\s*(who)\b", re.IGNORECASE
)


def counting(part: Part, text: str, vocabulary: Vocabulary) -> Part:
    """The part with what it counts; ``text`` is its question without account and time. A comparison without two sides is a matter of evidence."""
    part, text = _rated(part, text)
    part, text = _from_sources(part, text, vocabulary)
    themes = named_in(text, vocabulary.themes())
    part, text = _of_account(part, text, themes, vocabulary.has_account)
    if part.intent is Intent.COMPARE:
        sides = _two_sides(text, themes)
        return replace(part, sides=sides, intent=Intent.COMPARE if sides else Intent.EVIDENCE)
    limit = _LIMIT.search(text)
    sides = _sides(_COUNTING_WORDS.sub(" ", text), themes, part.intent)
    return replace(
        part,
        sides=sides,
        dimension=_dimension(text),
        interval=_interval(text, part.period),
        limit=_number(limit.group(1)) if limit else part.limit,
        share=bool(SHARE.search(text)),
        majority=bool(MAJORITY.search(text)),
        distinct=not sides and bool(_DISTINCT.search(text)),
        uncountable=not sides and part.intent is not Intent.TOP and has_any(text, SENTIMENT_WORDS),
    )


def within_theme(part: Part, text: str, vocabulary: Vocabulary) -> Part:
    """A question for everything that is said about one theme, when a theme is all it names: it is answered from the documents of that theme, whatever
    words they use."""
    open_question = part.form is Form.TOPIC and part.intent is Intent.EVIDENCE
    ranking = part.intent is Intent.TOP and part.dimension == "theme"
    if not (open_question or ranking) or part.filters.theme_ids is not None or not subject_words(text):
        return part
    themes = named_in(text, vocabulary.themes())
    loose = _loose_words(_COUNTING_WORDS.sub(" ", text), {stem for theme in themes for stem in theme.stems}) if themes else []
    if len(themes) != 1 or loose or _QUOTED.search(text) or codes(text):
        return part
    name = themes[0].name
    filters = replace(part.filters, theme_ids=(name,))
    return replace(part, intent=Intent.EVIDENCE, form=Form.BROAD, filters=filters, theme=name, sides=(Side(name, None, name),))


def _rated(part: Part, text: str) -> tuple[Part, str]:
    """The part limited to the ratings its question names, and the question without them."""
    rating = ratings_in(text)
    if rating is None or part.filters.rating_min is not None or part.filters.rating_max is not None:
        return part, text
    filters = replace(part.filters, rating_min=rating.low, rating_max=rating.high)
    return replace(part, filters=filters, rating=rating), text.replace(rating.text, " ")


def _from_sources(part: Part, text: str, vocabulary: Vocabulary) -> tuple[Part, str]:
    sources = sources_in(text, vocabulary.sources()) if part.filters.sources is None else ()
    if not sources:
        return part, text
    filters = replace(part.filters, sources=tuple(source.name for source in sources))
    return replace(part, filters=filters), _without_stems(text, sources)


def _of_account(part: Part, text: str, themes: tuple[Named, ...], has_account: Callable[[str], bool]) -> tuple[Part, str]:
    """An account that is named without the word *account*, as in *how many tickets did north write*."""
    if part.filters.account_ids is not None:
        return part, text
    named = {stem for theme in themes for stem in theme.stems}
    for word in _loose_words(text, named)[:_ACCOUNTS_TRIED]:
        name = text[word.start : word.end]
        if has_account(name):
            filters = replace(part.filters, account_ids=(name,))
            return replace(part, filters=filters, account=name), text[: word.start] + " " + text[word.end :]
    return part, text


_ACCOUNTS_TRIED = 4


def _loose_words(text: str, named: set[str] | frozenset[str]) -> list[Word]:
    """Subject words outside quotation marks and codes that name no theme."""
    taken = [(match.start(), match.end()) for match in _QUOTED.finditer(text)] + [(code.start, code.end) for code in codes(text)]
    return [word for word in subject_words(text) if word.stem not in named and not any(start <= word.start < end for start, end in taken)]


def _sides(text: str, themes: tuple[Named, ...], intent: Intent) -> tuple[Side, ...]:
    """What is counted, one side for most questions; alternatives are counted one by one."""
    if intent is Intent.COUNT and _OR.search(text):
        halves = [_side(half, tuple(theme for theme in themes if theme.stems <= _stems(half))[:1]) for half in _OR.split(text)]
        if all(halves):
            return tuple(half for half in halves if half)
    side = _side(text, themes[:1])
    return (side,) if side else ()


def _side(text: str, themes: tuple[Named, ...]) -> Side | None:
    """What is counted in ``text``, or None for all documents. Quotations and codes are looked for as they stand."""
    named: frozenset[str] = themes[0].stems if themes else frozenset()
    quoted = _QUOTED.findall(text)
    spelled = [text[code.start : code.end] for code in codes(_QUOTED.sub(" ", text))]
    plain = _QUOTED.sub(lambda match: " " * len(match.group()), text)
    phrases = [f'"{phrase}"' for phrase in dict.fromkeys((*quoted, *(code for code in spelled if code in plain)))]
    rest = dict.fromkeys(word.lower for word in _loose_words(text, named))
    match = " ".join([*phrases, *rest]) or None
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
    asked = _DIMENSION.search(text)
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
