"""Which sources a question names as where documents came from: *by email*, *through the app*, *chat messages*."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from grounding.frames import DOCUMENT_NOUNS, REPORT_VERBS, subject_words
from grounding.intents import TREND_WORDS
from grounding.naming import stems_of
from grounding.sending import IS_SENDING, WRITTEN
from grounding.words import Word, words

Role = Literal["by", "modifier", "noun"]
"""*messages by email*, *email messages*, *emails*."""

_QUOTED = re.compile(r"[\"“”][^\"“”]*[\"“”]")
_BY = frozenset("by via through from over per using".split())
_AT = frozenset("in on at".split())
"""*In the app* may also be where something happened; it is a source only where nothing else stands before it that could have happened there."""
_DETERMINERS = frozenset("the our a an your".split())
_LABELS = frozenset("source sources channel channels".split())
_TOPICAL = frozenset(
    "about regarding concerning mention mentions mentioning contain contains get got gets getting have has had receive received".split()
)
_BETWEEN = frozenset(
    "or and than versus vs to with compared by via through from over per using in on at the our a an come came sent".split()
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A source in the text: what is called so, as what, and where its words stand. ``told`` marks one that is said of the documents (*came by email*)."""

    name: str
    role: Role
    spans: tuple[tuple[int, int], ...]
    told: bool = False


def sources_in(text: str, names: Iterable[str], *, compared: bool = False) -> tuple[Mention, ...]:
    """The sources that ``text`` names, in its order. The name of one word counts where it is said to be a source, or stands beside one
    that is (*by chat or app*); two names that are set against each other count wherever they stand, when ``compared``. Quotations name none."""
    plain, listed = _QUOTED.sub(lambda match: " " * len(match.group()), text), tuple(names)
    found = words(plain)
    sure = [mention for name in listed if (mention := _mention(plain, found, name))]
    if compared or sure:
        sure = _with_others(found, sure, listed)
    return tuple(sorted(_longest(sure), key=lambda mention: mention.spans))


def without(text: str, mentions: Sequence[Mention]) -> str:
    """The text with the sources taken out; where a source stood for the documents themselves (*emails*), they are called so."""
    spans = sorted(((start, end, mention.role) for mention in mentions for start, end in mention.spans), reverse=True)
    for start, end, role in spans:
        text = text[:start] + ("documents" if role == "noun" else " ") + text[end:]
    return text


def _mention(text: str, found: Sequence[Word], name: str) -> Mention | None:
    stems = stems_of(name)
    if len(stems) > 1:
        spans = tuple((word.start, word.end) for word in found if word.stem in stems)
        return Mention(name, "modifier", spans) if stems <= {word.stem for word in found} else None
    for at, word in enumerate(found):
        role = _role(text, found, at) if word.stem in stems else None
        if role is not None:
            begin = found[_before(found, at) - 1].start if role == "by" else word.start
            return Mention(name, role, ((begin, word.end),), told=role == "by" and _told(found, at))
    return None


def _role(text: str, found: Sequence[Word], at: int) -> Role | None:
    before = _before(found, at)
    following = found[at + 1] if at + 1 < len(found) and not text[found[at].end : found[at + 1].start].strip() else None
    if (before and found[before - 1].lower in _LABELS) or (following and following.lower in _LABELS):
        return "modifier"
    if following and _is_compound(following):
        return None
    preposition = found[before - 1].lower if before else ""
    if preposition in _BY or (preposition in _AT and (before == at or _open(found, before - 1))):
        return "by"
    if following and following.lower in WRITTEN:
        return None if preposition in _TOPICAL else "modifier"
    return (
        "noun"
        if preposition in {"many", "more", "fewer", "less"} or (preposition == "of" and before > 1 and _counts(found, before))
        else None
    )


def _before(found: Sequence[Word], at: int) -> int:
    """The place of the word and its determiner."""
    return at - 1 if at and found[at - 1].lower in _DETERMINERS else at


def _is_compound(word: Word) -> bool:
    """Whether the word behind a name makes another thing of it (*email address*)."""
    content = word.lower not in WRITTEN and not TREND_WORDS.fullmatch(word.lower) and bool(subject_words(word.lower))
    return content and word.lower not in IS_SENDING and not word.lower.endswith(("ing", "ed"))


def _open(found: Sequence[Word], preposition: int) -> bool:
    """Whether documents, what people do with them or how their number changes stand before *in the app*."""
    before = found[preposition - 1].lower if preposition > 0 else ""
    return before in IS_SENDING | REPORT_VERBS | DOCUMENT_NOUNS or bool(TREND_WORDS.fullmatch(before))


def _counts(found: Sequence[Word], before: int) -> bool:
    return found[before - 2].lower in {"number", "count", "share", "percentage", "percent", "proportion", "fraction"}


def _told(found: Sequence[Word], at: int) -> bool:
    before = _before(found, at) - 2
    return before >= 0 and found[before].lower in IS_SENDING | {"is", "are", "was", "were", "come", "been"}


def _with_others(found: Sequence[Word], sure: list[Mention], names: Sequence[str]) -> list[Mention]:
    """Also names that stand beside one another with nothing between them but what sets one against the other."""
    single = {next(iter(stems_of(name))): name for name in names if len(stems_of(name)) == 1}
    places = [at for at, word in enumerate(found) if word.stem in single]
    taken = {mention.name for mention in sure}
    beside = dict.fromkeys(at for pair in pairwise(places) if _set_against(found, *pair) for at in pair)
    bare = [
        Mention(single[found[at].stem], "by", ((found[at].start, found[at].end),)) for at in beside if single[found[at].stem] not in taken
    ]
    return [*sure, *bare]


def _set_against(found: Sequence[Word], first: int, second: int) -> bool:
    between = [word.lower for word in found[first + 1 : second] if word.lower not in WRITTEN]
    return (
        bool(between)
        and all(word in _BETWEEN for word in between)
        and any(word in {"or", "and", "than", "versus", "vs", "to", "with"} for word in between)
    )


def _longest(mentions: Sequence[Mention]) -> list[Mention]:
    """Without names inside longer ones."""
    return [one for one in mentions if not any(one is not other and stems_of(one.name) < stems_of(other.name) for other in mentions)]
