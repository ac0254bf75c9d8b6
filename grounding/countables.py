"""What a question counts: documents of a theme, documents that hold words, of some sources, ratings or accounts."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from grounding.attribute_names import attributes_in, key_in, without_attributes, without_key
from grounding.channels import Mention, sources_in, without
from grounding.frames import FRAME_WORDS, SENTIMENT_WORDS, has_any, subject_words
from grounding.intents import GROUPED, MAJORITY, SHARE, TREND_WORDS, Form, Intent
from grounding.languages import LANGUAGE_NAMES
from grounding.naming import Named, Vocabulary, accounts_in, joined_in, named_in
from grounding.periods import Period
from grounding.places import of_accounts, of_attributes, of_ratings, of_sources
from grounding.quantities import codes
from grounding.question_parts import Dimension, Part, Side, Uncountable
from grounding.ratings import RatingRange, ratings_in, without_ratings
from grounding.sending import without_sending
from grounding.words import Word, words
from search.aggregation import Interval
from search.documents import Filters

_COUNTING_WORDS = re.compile(
    r"\b(?:top|first|the)\s+\d{1,2}\b|\bcontact(?:s|ed|ing)? (?:the |our )?support\b|\baccording to\b|\bchang(?:e|es|ed|ing)\b|\b(?:sources?|channels?)\b"
    r"|\b(?:different|distinct|unique|aged)\b",
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
_ACCOUNTS = re.compile(
    r"\bhow many (?:(?:different|distinct|unique|individual) (?:accounts?|customers?|clients?|users?|reviewers?|people|buyers?)|accounts)\b",
    re.IGNORECASE,
)
"""Those who wrote are wanted rather than what they wrote."""
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_QUOTED_WORDS = re.compile(rf"(?<!theme )(?<!topic ){_QUOTED.pattern}")
"""Quotation marks ask for these words, and for the theme of that name only where they call it a theme."""
_JOINED = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)+\b")
"""Joined words are a thing even where each of them says nothing by itself: *top-up*."""

_ABOUT = re.compile(r"\b(?:about|mention(?:s|ed|ing)?|regarding|concerning)\s+([^?.!]*\w)", re.IGNORECASE)
"""What documents are said to be about is counted word for word where it is made of nothing but words of the frame, and never taken for all documents."""

_WANTED = re.compile(
    r"\b(?:want(?:s|ed)?|needs?|needed|wish(?:es|ed)?|(?<=would )like)\b(?: to(?: know| hear| learn| find out)?\b)?", re.IGNORECASE
)
"""How something is wanted; what is wanted is behind it."""
_LACKING = re.compile(
    r"(?:\bnot|n['’]t|\bnever)\s+(?:\w+\s+)?"
    r"(?:about|mention\w*|contain\w*|concern\w*|regarding|related?|with|from|in|on|by|via|through|say|have (?:the|a|any) theme)\b"
    r"|\bwithout (?:mentioning|(?:a |any |the )?themes?\b)|\b(?:have|has|carry|carries|with) no themes?\b",
    re.IGNORECASE,
)
"""Documents that do not have something are counted beside those that do."""
_DENIAL = re.compile(r"\b(?:do|does|did|are|is|were|was)?(?:n['’]t|\s*\bnot)\b|\bnever\b|\bwithout\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|without|no|none|nobody|neither|nor|cannot|hardly|non|lack(?:s|ed|ing)?|fail(?:s|ed|ing)?\s+to)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_FROM = re.compile(r"(?:\bnot|n['’]t)\s+(?:\w+\s+)?(?:from|in|on|by|via|through)\b", re.IGNORECASE)
_NUMBERED = r"(?:\d+(?:[.,]\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|a\s+hundred)\b"
_BOUND = re.compile(
    rf"\b(?:(?:more|less|fewer|greater|higher|lower|longer|older|younger|better|worse|bigger|larger|smaller)\s+than|at\s+least|at\s+most|up\s+to|"
    rf"over|under|above|below|between|exceed(?:s|ed|ing)?|(?:min|max)(?:imum)?(?:\s+of)?)\s+(?:[€$£]\s?)?{_NUMBERED}"
    rf"|(?<![\w.,-]){_NUMBERED}(?:\s+[\w-]+)?\s+(?:or|and)\s+(?:more|less|fewer|above|below|over|under|higher|lower|older|younger|longer)\b",
    re.IGNORECASE,
)
"""A number that is bounded, which no words of documents say."""
_STARRED = frozenset("rating rated unrated star stars starred".split())
_TAIL = re.compile(r"\b(?:about|mention\w*|contain\w*|regarding|concerning|the\s+words?|the\s+term)\b[^?.!]*", re.IGNORECASE)
"""What documents hold, word for word."""
_FELT = re.compile(
    rf"\b(?:is|are|was|were|be|being|feels?|felt|feeling|seems?|sounds?|gets?|got|became|become)\s+(?:\w+\s+)?(?:{'|'.join(sorted(SENTIMENT_WORDS))})\b",
    re.IGNORECASE,
)
_SAID_OF = re.compile(
    r"\b(?:is|are|was|were|be|been|come|comes|came|sent|written)\s+(?:(?:from|in|on|at|with|of|by|via|through)\s+)?(?:(?:the|our|a)\s+)?\Z",
    re.IGNORECASE,
)
_EXCLUDES = re.compile(r"\bbut (?:not|no|without)\b|\bexcept\b|\bexcluding\b|\bother than\b", re.IGNORECASE)
_BY_LANGUAGE = re.compile(
    rf"\b(?:in|written in)\s+(?:{'|'.join(LANGUAGE_NAMES)})\b|\b(?:{'|'.join(LANGUAGE_NAMES)})[ -]language\b", re.IGNORECASE
)
_DIMENSION = re.compile(
    r"\b(?:which|what|top|by|per|list|many|different)\s+(?:\d+\s+)?(source|channel|account|customer|client)s?\b|\A\s*(who)\b", re.IGNORECASE
)


def counting(part: Part, text: str, vocabulary: Vocabulary) -> Part:
    """The part with what it counts; ``text`` is its question without account and time. A comparison without two sides is a matter of evidence."""
    part, text, told = _rated(part, text)
    part, text, sources = _from_sources(part, text, vocabulary)
    part, text = _with_attributes(part, text, vocabulary)
    themes = named_in(_QUOTED_WORDS.sub(" ", text), vocabulary.themes())
    part, text = _of_account(part, text, themes, vocabulary.has_account)
    denying = any({"not", "fail"} & theme.every_stem for theme in themes)
    lacking = part.intent is Intent.COUNT and bool(_LACKING.search(told)) and not denying
    part = part if part.uncountable or denying else replace(part, uncountable=_denial(part, told, lacking=lacking))
    text = _DENIAL.sub(" ", text) if lacking else text
    text = _WANTED.sub(" ", without_sending(text))
    text = TREND_WORDS.sub(" ", text) if part.intent is Intent.TREND else text
    if part.intent is Intent.COMPARE:
        return _compared(part, text, themes)
    limit = _LIMIT.search(text)
    sides = _sides(_COUNTING_WORDS.sub(" ", text), themes, part.intent)
    accounts = bool(_ACCOUNTS.search(text)) and not (part.places or lacking) and len(sides) < 2
    share, majority = bool(SHARE.search(text)), bool(MAJORITY.search(text))
    return replace(
        part,
        sides=sides,
        dimension="account" if accounts else _dimension(text),
        interval=_interval(text, part.period),
        limit=_number(limit.group(1)) if limit else part.limit,
        share=share,
        majority=majority,
        share_of=_share_of(part, sources, sides) if share or majority else None,
        lacking=lacking,
        distinct=accounts or (not sides and bool(_DISTINCT.search(text))),
        grouped=part.intent is Intent.COUNT and bool(part.by_attribute or GROUPED.search(text)),
        uncountable="exclusion" if lacking and sides and _NOT_FROM.search(told) else _uncountable(part, text, sides, themes),
    )


def _denial(part: Part, told: str, *, lacking: bool) -> Uncountable:
    """Whether the question denies something and does not just ask which documents lack it."""
    plain = _QUOTED.sub(" ", told)
    if part.intent is not Intent.COUNT or _EXCLUDES.search(plain):
        return ""
    return "denial" if len(_DENIED.findall(plain)) > int(lacking) else ""


def _uncountable(part: Part, text: str, sides: tuple[Side, ...], themes: tuple[Named, ...]) -> Uncountable:
    """What the question wants counted by and no document is stored with."""
    if part.uncountable:
        return part.uncountable
    if any(word in _STARRED for side in sides if side.theme is None for word in side.label.split()) and not _TAIL.search(text):
        return "ratings"
    if part.intent is Intent.COUNT and sides and _BOUND.search(_QUOTED.sub(" ", text)):
        return "bounds"
    if _BY_LANGUAGE.search(text) and (not sides or all(side.theme is None and '"' not in (side.match or "") for side in sides)):
        return "language"
    if part.intent is Intent.COUNT and _EXCLUDES.search(_QUOTED.sub(" ", text)):
        return "exclusion"
    return "feelings" if part.intent is not Intent.TOP and _feeling(text, sides, themes) else ""


def _feeling(text: str, sides: tuple[Side, ...], themes: tuple[Named, ...]) -> bool:
    """Whether documents are wanted by how their writers feel; what documents hold about feelings, and the name of a theme, are counted as such."""
    named = {stem for theme in themes for stem in theme.every_stem}
    plain = _QUOTED.sub(" ", text)
    asked = plain if not sides or _FELT.search(plain) else _TAIL.sub(" ", plain)
    return any(word.lower in SENTIMENT_WORDS and word.stem not in named for word in words(asked))


def _compared(part: Part, text: str, themes: tuple[Named, ...]) -> Part:
    """Places are compared by what is counted in each; without places, two themes or words are."""
    if part.places:
        sides = _sides(_COUNTING_WORDS.sub(" ", text), themes, Intent.COMPARE)
        one = len(themes) < 2
        return replace(part, sides=sides) if one else replace(part, intent=Intent.EVIDENCE, places=())
    sides = _two_sides(text, themes)
    return replace(part, sides=sides, intent=Intent.COMPARE if sides else Intent.EVIDENCE)


def _share_of(part: Part, sources: tuple[Mention, ...], sides: tuple[Side, ...]) -> Literal["source", "account"] | None:
    """Whether the share is that of a source or an account: *what share came by email*, but not *what share of emails is about refunds*."""
    if sources and not part.places and (not sides or sources[0].told):
        return "source"
    return "account" if part.account and not sides and not sources else None


def within_theme(part: Part, text: str, vocabulary: Vocabulary) -> Part:
    """A question for everything that is said about one theme, when a theme is all it names: it is answered from the documents of that theme, whatever
    words they use."""
    open_question = part.form is Form.TOPIC and part.intent is Intent.EVIDENCE
    ranking = part.intent is Intent.TOP and part.dimension == "theme" and part.by_attribute is None
    if not (open_question or ranking) or part.filters.theme_ids is not None or not subject_words(text):
        return part
    themes = named_in(text, vocabulary.themes())
    told = _COUNTING_WORDS.sub(" ", _WANTED.sub(" ", text))
    loose = _loose_words(told, {stem for theme in themes for stem in theme.every_stem}) if themes else []
    if len(themes) != 1 or loose or _QUOTED.search(text) or codes(text):
        return part
    name = themes[0].name
    filters = replace(part.filters, theme_ids=(name,))
    return replace(part, intent=Intent.EVIDENCE, form=Form.BROAD, filters=filters, theme=name, sides=(Side(name, None, name),))


def _rated(part: Part, text: str) -> tuple[Part, str, str]:
    """The part limited to the ratings its question names, several of them counted apart; and the text and the whole question without them."""
    rated = None if part.filters.rating_min is not None or part.filters.rating_max is not None else ratings_in(text)
    if rated is None:
        return part, text, part.question
    if len(rated.ranges) == 1:
        part = _within_rating(part, rated.ranges[0])
    elif not rated.ranges or part.places or part.intent not in (Intent.COUNT, Intent.COMPARE):
        part = replace(part, uncountable="ratings")
    else:
        part = replace(part, places=of_ratings(part.filters, rated.ranges))
    return part, without_ratings(text), without_ratings(part.question)


def _within_rating(part: Part, rating: RatingRange) -> Part:
    """The part, and what it compares, limited to a range of ratings."""

    def limited(filters: Filters) -> Filters:
        return replace(filters, rating_min=rating.low, rating_max=rating.high)

    places = tuple(replace(place, filters=limited(place.filters)) for place in part.places)
    return replace(part, filters=limited(part.filters), rating=rating, places=places)


def _from_sources(part: Part, text: str, vocabulary: Vocabulary) -> tuple[Part, str, tuple[Mention, ...]]:
    """The part limited to the sources its question names, or comparing them."""
    compared = part.intent is Intent.COMPARE and not part.places
    sources = sources_in(text, vocabulary.sources(), compared=compared) if part.filters.sources is None else ()
    if not sources:
        return part, text, ()
    places = of_sources(part.filters, sources) if compared else ()
    if places:
        return replace(part, places=places), without(text, sources), sources
    named = tuple(dict.fromkeys(source.name for source in sources))
    limited = tuple(replace(place, filters=replace(place.filters, sources=named)) for place in part.places)
    return replace(part, filters=replace(part.filters, sources=named), places=limited), without(text, sources), sources


def _with_attributes(part: Part, text: str, vocabulary: Vocabulary) -> tuple[Part, str]:
    """The part limited to the attributes its question names; several values of one are counted apart. A theme of that name is meant rather than a value."""
    known = vocabulary.attributes()
    if not known.seen:
        return part, text
    key = key_in(text, known)
    if key is not None:
        part, text = replace(part, by_attribute=key), without_key(text, key)
    themes = {theme.stems for theme in named_in(text, vocabulary.themes())}
    given = {name for name, _ in part.filters.attributes}
    named = [one for one in attributes_in(text, known) if one.attribute.key not in given and not (one.bare and one.stems in themes)]
    if not named:
        return part, text
    told, text = text, without_attributes(text, named)
    places = () if part.places else of_attributes(part.filters, [one.attribute for one in named])
    if places and part.intent not in (Intent.COUNT, Intent.COMPARE):
        return part, told
    if places:
        return replace(part, places=places), text
    chosen = tuple(dict.fromkeys((one.attribute.key, one.attribute.value) for one in named))
    limited = tuple(
        replace(place, filters=replace(place.filters, attributes=(*place.filters.attributes, *chosen))) for place in part.places
    )
    filters = replace(part.filters, attributes=(*part.filters.attributes, *chosen))
    said = tuple((one.attribute.key, one.attribute.value) for one in named if _SAID_OF.search(told[: one.start]))
    return replace(part, filters=filters, places=limited, attributes=said or chosen, told=bool(said)), text


def _of_account(part: Part, text: str, themes: tuple[Named, ...], has_account: Callable[[str], bool]) -> tuple[Part, str]:
    """An account that is named without the word *account*, as in *how many tickets did north write*; several that are compared."""
    if part.filters.account_ids is not None:
        return part, text
    compared = part.intent is Intent.COMPARE
    named = {stem for theme in themes for stem in theme.every_stem}
    tried = [*joined_in(_QUOTED.sub(" ", text)), *(text[word.start : word.end] for word in _loose_words(text, named))]
    known = list(dict.fromkeys((*(accounts_in(text, has_account) if compared else ()), *filter(has_account, tried[:_ACCOUNTS_TRIED]))))
    for name in known:
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", " ", text)
    if compared and not part.places and (places := of_accounts(part.filters, known)):
        return replace(part, places=places), text
    return (_limited(part, known[0]), text) if known else (part, text)


def _limited(part: Part, account: str) -> Part:
    """The part, and what it compares, limited to the documents of an account."""
    places = tuple(replace(place, filters=replace(place.filters, account_ids=(account,))) for place in part.places)
    return replace(part, filters=replace(part.filters, account_ids=(account,)), account=account, places=places)


_ACCOUNTS_TRIED = 5


def _loose_words(text: str, named: set[str] | frozenset[str]) -> list[Word]:
    """Subject words outside quotation marks and codes that name no theme."""
    taken = [(match.start(), match.end()) for match in _QUOTED.finditer(text)] + [(code.start, code.end) for code in codes(text)]
    return [word for word in subject_words(text) if word.stem not in named and not any(start <= word.start < end for start, end in taken)]


def _sides(text: str, themes: tuple[Named, ...], intent: Intent) -> tuple[Side, ...]:
    """What is counted, one side for most questions; alternatives are counted one by one, but not those in the name of a theme (*lost or stolen cards*)."""
    if (
        intent is Intent.COUNT
        and _OR.search(text)
        and all(any(theme.stems <= _stems(half) for half in _OR.split(text)) for theme in themes)
    ):
        halves = [_side(half, tuple(theme for theme in themes if theme.stems <= _stems(half))[:1]) for half in _OR.split(text)]
        if all(halves):
            return tuple(half for half in halves if half)
    side = _side(text, themes[:1])
    if side is None and intent is Intent.COUNT and (named := _ABOUT.search(text)) and has_any(named[1], FRAME_WORDS):
        side = Side(None, f'"{named[1].strip()}"', named[1].strip())
    return (side,) if side else ()


def _side(text: str, themes: tuple[Named, ...]) -> Side | None:
    """What is counted in ``text``, or None for all documents. Quotations and codes are looked for as they stand."""
    named: frozenset[str] = themes[0].every_stem if themes else frozenset()
    quoted = _QUOTED.findall(text)
    spelled = [text[code.start : code.end] for code in codes(_QUOTED.sub(" ", text))]
    plain = _QUOTED.sub(lambda match: " " * len(match.group()), text)
    joined = [found[0] for found in _JOINED.finditer(plain) if not subject_words(found[0]) and not _stems(found[0]) <= named]
    phrases = [f'"{phrase}"' for phrase in dict.fromkeys((*quoted, *(code for code in spelled if code in plain), *joined))]
    rest = dict.fromkeys(word.lower for word in _loose_words(text, named))
    match = " ".join([*phrases, *rest]) or None
    if not themes and match is None:
        return None
    return Side(themes[0].name if themes else None, match, " ".join([*joined, *(word.lower for word in subject_words(text))]))


def _two_sides(text: str, themes: tuple[Named, ...]) -> tuple[Side, ...]:
    if len(themes) > 1:
        return tuple(Side(theme.name, None, theme.name) for theme in themes[:4])
    tail = re.sub(r"\bbetween\b", " ", text, flags=re.IGNORECASE)
    pieces = _BETWEEN_SIDES.split(tail)
    if not all(any(theme.stems <= _stems(piece) for piece in pieces) for theme in themes):
        return ()  # what looks like two sides is within the name of a theme
    sides = [side for piece in pieces if (side := _side(piece, tuple(t for t in themes if t.stems <= _stems(piece))))]
    return tuple(dict.fromkeys(sides)) if len(sides) == 2 else ()


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in words(text))


def _dimension(text: str) -> Dimension:
    asked = _DIMENSION.search(text)
    if asked is None:
        return "theme"
    if asked.group(2):
        return "account"
    return "source" if asked.group(1).lower() in ("source", "channel") else "account"


def _interval(text: str, period: Period | None) -> Interval:
    for interval, pattern in (
        ("day", r"\bdaily\b|\b(?:per|by|each|every|which|what) day\b"),
        ("month", r"\bmonthly\b|\b(?:per|by|each|every|which|what) month\b"),
    ):
        if re.search(pattern, text, re.IGNORECASE):
            return "day" if interval == "day" else "month"
    if period and period.since and period.until and (period.until - period.since).days <= 14:
        return "day"
    return "week"


def _number(text: str) -> int:
    named = {"three": 3, "five": 5, "ten": 10}
    return max(1, named.get(text.lower()) or int(text))
