"""Which attributes of documents a question names: *from Berlin*, *critical tickets*, *on the free plan*."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grounding.attributes import Attribute, Attributes
from grounding.frames import COMPLAINT_NOUNS, DOCUMENT_NOUNS, PERSON_NOUNS, PRAISE_NOUNS, subject_words
from grounding.naming import spoken, stems_of
from grounding.words import STOP_WORDS, words

_QUOTED = re.compile(r"[\"“”][^\"“”]*[\"“”]")
_BETWEEN_KEY_AND_VALUE = r"(?:\s*[:=]\s*|\s+(?:(?:is|was|are|were|of|called|named|level|number|no\.?)\s+)?)"
_ORIGIN = re.compile(
    r"\b(?:from|in|at|on|by|via|through|within|with|for|of|using|aged|than|to|versus|vs\.?)\s+(?:(?:the|our|a|an)\s+)?\Z", re.IGNORECASE
)
_MENTIONED = re.compile(
    r"\b(?:about|mention\w*|contain\w*|regarding|concerning|say|says|said|word|words|term)\s+(?:(?:the|our|a|an)\s+)?\Z", re.IGNORECASE
)
_IS = re.compile(r"\b(?:is|are|was|were|be)\s+(?:not\s+)?(?:marked\s+|rated\s+)?(?:as\s+)?\Z", re.IGNORECASE)
_CALLED = DOCUMENT_NOUNS | PERSON_NOUNS | COMPLAINT_NOUNS | PRAISE_NOUNS
_DOCUMENTS_AND_PERSONS = DOCUMENT_NOUNS | PERSON_NOUNS
_LINKS = frozenset("and or than versus vs to with compared from in at on by the our".split())


@dataclass(frozen=True, slots=True)
class Named:
    """An attribute that a question names, and where. ``sure`` unless only its standing beside another of its name tells that it is meant; ``bare`` without
    its name."""

    attribute: Attribute
    start: int
    end: int
    sure: bool
    bare: bool

    @property
    def stems(self) -> frozenset[str]:
        """Stems of the value's words."""
        return stems_of(self.attribute.spelled)


def attributes_in(text: str, known: Attributes) -> tuple[Named, ...]:
    """The attributes that ``text`` names, in its order, one for each place. A value counts where its name stands beside it (*free plan*), where it says where
    documents come from (*from Berlin*), what they are (*critical tickets*, *are critical*), or beside one that does (*Berlin or Hamburg*)."""
    plain = _QUOTED.sub(lambda match: " " * len(match.group()), text)
    found = [named for attribute in known.seen for named in _places(plain, attribute)]
    found.sort(key=lambda named: (named.start, -named.end, not named.sure, -named.attribute.documents))
    apart: list[Named] = []
    for named in found:
        rival = next((at for at, other in enumerate(apart) if named.start < other.end and other.start < named.end), None)
        if rival is None:
            apart.append(named)
        elif _better(named, apart[rival]):
            apart[rival] = named
    sure = [named for named in apart if named.sure or _against(plain, named, apart)]
    return tuple(sorted((*sure, *_variants(sure, found)), key=lambda named: named.start))


def without_attributes(text: str, named: Sequence[Named]) -> str:
    """The text without them."""
    for one in sorted(named, key=lambda each: -each.start):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def of_writers(text: str, named: Named) -> bool:
    """Whether the attribute is one of documents or of those who wrote them: *users in Berlin*, *Berlin reviews*."""
    before, behind = words(_ORIGIN.sub(" ", text[: named.start])), words(text[named.end :])
    opened = _ORIGIN.search(text[: named.start]) is not None
    told = _DOCUMENTS_AND_PERSONS
    return (opened and bool(before) and before[-1].lower in told) or (bool(behind) and behind[0].lower in told)


def key_in(text: str, known: Attributes) -> str | None:
    """The name of an attribute by which ``text`` wants something told apart: *which city*, *by plan*, *per region*."""
    for key in known.keys:
        called = _pattern(spoken(key))
        if re.search(
            rf"\b(?:which|what|by|per|(?:for|in|of|from) (?:each|every)|each|top(?: \d+)?)\s+{called}(?:e?s)?(?![\w-])", text, re.IGNORECASE
        ):
            return key
        plural = re.sub(r"y\Z", "ies", called)
        if re.search(rf"\b(?:which|what|top(?: \d+)?)\s+{plural}(?![\w-])", text, re.IGNORECASE):
            return key
    return None


def without_key(text: str, key: str) -> str:
    """The text without the name of the attribute."""
    called = _pattern(spoken(key))
    called = rf"(?:{called}(?:e?s)?|{re.sub(r'y$', 'ies', called)})"
    return re.sub(
        rf"\b(?:by|per|(?:for|in|of|from) (?:each|every)|each)\s+{called}(?![\w-])|(?<![\w-]){called}(?![\w-])",
        " ",
        text,
        count=1,
        flags=re.IGNORECASE,
    )


def _pattern(name: str) -> str:
    return r"[\s_-]+".join(re.escape(piece) for piece in re.split(r"[\s_]+", name) if piece)


def _places(text: str, attribute: Attribute) -> list[Named]:
    value = attribute.spelled
    first = re.split(r"[\s_-]+", value.lower().lstrip("_-"))[0]
    if first not in text.lower():
        return []
    key, body = _pattern(spoken(attribute.key)), _pattern(value)
    whole = re.compile(
        rf"(?<![\w.-])(?:(?P<before>{key}){_BETWEEN_KEY_AND_VALUE})?(?P<value>{body})(?P<after>\s+{key})?(?![\w-]|\.\w)", re.IGNORECASE
    )
    return [
        Named(attribute, match.start(), match.end(), _meant(text, match, attribute), not (match["before"] or match["after"]))
        for match in whole.finditer(text)
        if _may_be(match, attribute)
    ]


def _may_be(match: re.Match[str], attribute: Attribute) -> bool:
    """Words of the frame and plain numbers name an attribute only beside its key; a stop word only as it is written (*US*)."""
    if match["before"] or match["after"]:
        return True
    if not isinstance(attribute.value, str) or attribute.value.isdigit():
        return False
    if match["value"].lower() in STOP_WORDS:
        return match["value"] == attribute.value and not attribute.value.islower()
    return bool(subject_words(match["value"])) or not any(word.lower.isalpha() for word in words(match["value"]))


def _meant(text: str, match: re.Match[str], attribute: Attribute) -> bool:
    before, behind = text[: match.start()], words(text[match.end() :])
    if _MENTIONED.search(before):
        return bool(match["before"] or match["after"])
    if match["before"] or match["after"] or _ORIGIN.search(before):
        return True
    follows = behind[0].lower if behind else ""
    if follows in _CALLED:
        return True
    return bool(_IS.search(before)) and (not follows or follows in STOP_WORDS) and attribute.documents > 0


def _better(named: Named, other: Named) -> bool:
    return (named.end - named.start, named.sure, named.attribute.documents) > (
        other.end - other.start,
        other.sure,
        other.attribute.documents,
    )


def _against(text: str, named: Named, others: Sequence[Named]) -> bool:
    """Whether it stands beside another value of the same name with nothing between but what sets one against the other."""
    for other in others:
        if other is named or other.attribute.key != named.attribute.key:
            continue
        between = text[min(named.end, other.end) : max(named.start, other.start)]
        said = [word.lower for word in words(between) if word.lower not in _CALLED]
        if said and all(word in _LINKS or word.startswith("compar") for word in said):
            return True
    return False


def _variants(sure: Sequence[Named], found: Sequence[Named]) -> list[Named]:
    """The same value written otherwise (*Berlin*, *berlin*) in other documents."""
    return [
        other
        for named in sure
        for other in found
        if (other.start, other.end, other.attribute.key) == (named.start, named.end, named.attribute.key)
        and other.attribute != named.attribute
    ]
