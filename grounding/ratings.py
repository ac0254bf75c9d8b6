"""Ratings that a question names: *a rating below 3*, *one-star reviews*, *rated 4 or more*, *not 5 stars*, *1 or 2 stars*."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPELLED = {word: float(number) for number, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_NUMBER = rf"(?<![\w.,])(?:\d+(?:\.\d+)?|{'|'.join(_SPELLED)})(?![\d]|[.,]\d|[^\W\d_])"
_ONE_NUMBER = re.compile(_NUMBER, re.IGNORECASE)
_UNIT = r"(?:\s*(?:/|out of)\s*(?:5|five)\b)?(?:[\s-]*(?:stars?\b|★+)(?:[\s-]+rat(?:ings?|ed)\b)?)?"
_VALUE = rf"{_NUMBER}{_UNIT}"
_LEAD = (
    r"(?:\b(?:gave|gives?|given|giving|left|leaves?|awarded|award|received?|got)\b\s+(?:(?:us|it|them|you|the|hotel|product|app|service|an?)\s+)*)?"
    r"(?:\b(?:(?:star[\s-]+)?ratings?|rated|rates?\s+(?:us|it|them|you)|"
    r"scores?|scored|stars)\b[\s:]+(?:(?:of|is|was|were|are|be|with|it|them|this|us|as|at|that|exactly|equal to)\s+)*)?"
)
_FILLERS = (
    "a|an|the|any|have|had|having|has|get|got|gotten|give|given|gave|receive|received|leave|left|award|awarded|rate|rated|ratings?|with|of|been|being|"
    "be|come|came|exactly|as|at|scored?|those|worth|us|it"
)
_EXCEPT = r"except(?:ing)?(?:\s+for)?|excluding|(?:anything\s+)?other\s+than|apart\s+from|anything\s+but|all\s+but"
_NOT = rf"(?P<not>(?:\b(?:not|never|without|{_EXCEPT}|non|lack(?:s|ing)?)|n['’]t)[\s-]+(?:(?:{_FILLERS})\s+){{0,4}})?"
_AT_LEAST = (
    r"(?:at\s+(?:the\s+very\s+)?least|(?:a\s+)?min(?:imum|\.)?(?:\s+of)?|no\s+(?:less|fewer|lower|worse)\s+than|"
    r"(?:more|greater|higher)\s+than\s+or\s+equal\s+to|equal\s+to\s+or\s+(?:more|greater|higher)\s+than|starting\s+(?:at|from)|from|>=|≥)"
)
_AT_MOST = (
    r"(?:at\s+(?:the\s+very\s+)?most|(?:a\s+)?max(?:imum|\.)?(?:\s+of)?|no\s+(?:more|greater|higher|better)\s+than|"
    r"(?:less|fewer|lower)\s+than\s+or\s+equal\s+to|equal\s+to\s+or\s+(?:less|fewer|lower)\s+than|up\s+to|<=|≤)"
)
_OVER = r"(?:(?:more|greater|higher|better|larger)\s+than|above|over|exceed(?:s|ed|ing)?|beyond|upwards\s+of|>)"
_UNDER = r"(?:(?:less|fewer|lower|worse|smaller)\s+than|below|under|beneath|<)"
_UPWARDS = r"(?:(?:or|and|&)\s+(?:more|above|higher|better|up(?:wards?)?|over|greater)\b|\+|at\s+(?:the\s+)?least\b|minimum\b)"
_DOWNWARDS = r"(?:(?:or|and|&)\s+(?:less|below|lower|worse|under|fewer|down(?:wards?)?)\b|at\s+(?:the\s+)?most\b|max(?:imum)?\b)"
_BEFORE = {"least": _AT_LEAST, "most": _AT_MOST, "over": _OVER, "under": _UNDER}
_BOUNDED = rf"(?:{'|'.join(_BEFORE.values())})\s*{_VALUE}"
_SHAPES = {
    "unclear": rf"\b(?:nearly|almost|about|around|roughly|approximately|close\s+to|"
    rf"fell\s+short\s+of|falls?\s+short\s+of|short\s+of|shy\s+of|north\s+of|south\s+of|within|as\s+\w+\s+as)\s+{_VALUE}"
    rf"|{_VALUE}\s*(?:or\s+so|tops|plus|ish)\b",
    "both": rf"{_BOUNDED}\s*,?\s*(?:and|but)\s+(?:also\s+)?{_BOUNDED}",
    "range": rf"(?:between|from|in\s+the\s+range(?:\s+of)?)\s+{_VALUE}\s*(?:and|to|through|-|–)\s*{_VALUE}|{_VALUE}\s*(?:-|–|to\s|through\s)\s*{_VALUE}",
    "least": rf"\bmin(?:imum|\.)?\s+(?:star\s+)?rating\s+(?:of\s+)?{_VALUE}|{_VALUE}\s*{_UPWARDS}{_UNIT}|{_AT_LEAST}\s*{_VALUE}",
    "most": rf"\bmax(?:imum|\.)?\s+(?:star\s+)?rating\s+(?:of\s+)?{_VALUE}|{_VALUE}\s*{_DOWNWARDS}{_UNIT}|{_AT_MOST}\s*{_VALUE}",
    "over": rf"{_OVER}\s*{_VALUE}",
    "under": rf"{_UNDER}\s*{_VALUE}",
    "each": rf"(?:either\s+|exactly\s+)?{_VALUE}(?:\s*(?:,|\bor\b|\band\b|/|\band/or\b|&)\s*(?:or\s+)?{_LEAD}(?:an?\s+)?{_VALUE})+",
    "exact": rf"(?:exactly\s+|precisely\s+)?{_VALUE}",
}
_PATTERNS = tuple((shape, re.compile(rf"{_NOT}{_LEAD}(?:{pattern})", re.IGNORECASE)) for shape, pattern in _SHAPES.items())
_ATOMS = tuple((shape, re.compile(rf"(?<!no ){pattern}\s*{_NUMBER}", re.IGNORECASE)) for shape, pattern in _BEFORE.items())
_ANCHOR = re.compile(r"\brat(?:ings?|ed)\b|stars?\b|★|\bscore[sd]?\b", re.IGNORECASE)
_AS_WORDS = re.compile(r"\b(?:mention|contain|say|quot)\w*\s+(?:an?\s+|the\s+)?(?:words?\s+)?\Z|[\"“]\Z", re.IGNORECASE)
"""Stars that documents speak of are words of theirs."""
_OR = re.compile(r"\s*(?:,\s*)?(?:and/or|or)\b", re.IGNORECASE)
_STEP = 1e-6
_AVERAGE = re.compile(r"\b(?:average|mean|median)\s+(?:star |customer |user )?(?:ratings?|stars|scores?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RatingRange:
    """Bounds, both inclusive, None where open."""

    low: float | None
    high: float | None

    @property
    def worded(self) -> str:
        """The range in words."""
        if self.low is not None and self.high is not None:
            return _between(self.low, self.high)
        bound = self.low if self.low is not None else self.high
        assert bound is not None
        written = round(bound, 3)
        if written != bound:
            return f"a rating {'above' if self.low is not None else 'below'} {written:g}"
        return f"a rating of {written:g} or {'more' if self.low is not None else 'less'}"

    @property
    def others(self) -> "tuple[RatingRange, ...]":
        """What is rated otherwise."""
        below = () if self.low is None else (RatingRange(None, self.low - _STEP if _whole(self.low) else round(self.low, 3)),)
        above = () if self.high is None else (RatingRange(self.high + _STEP if _whole(self.high) else round(self.high, 3), None),)
        return (*below, *above)


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings that a question names and the words it does so with; several ranges are alternatives, none is a wording that is not understood."""

    ranges: tuple[RatingRange, ...]
    texts: tuple[str, ...]


def averages(question: str) -> bool:
    """Whether ``question`` wants the ratings of documents averaged."""
    return bool(_AVERAGE.search(question))


def ratings_in(question: str) -> Rated | None:
    """The ratings that ``question`` names. *Below 3* leaves 3 out; *not 5* is what is rated lower, and what is rated higher."""
    found = sorted(_mentions(question), key=lambda each: each[1].start())
    if not found:
        return None
    texts = tuple(match.group() for _, match in found)
    single = len(found) == 1
    clear = single or all(shape == "exact" and not match["not"] for shape, match in found)
    if not clear or (single and _OR.match(question, found[0][1].end())):
        return Rated((), texts)
    return Rated(tuple(dict.fromkeys(one for each in found for one in _ranges(*each))), texts)


def without_ratings(question: str) -> str:
    """The question without the ratings that it names."""
    rated = ratings_in(question)
    for told in rated.texts if rated else ():
        question = question.replace(told, " ", 1)
    return question


def _mentions(question: str) -> Iterator[tuple[str, re.Match[str]]]:
    """What is said of ratings, each place once and by the first shape that it has."""
    taken: list[tuple[int, int]] = []
    for shape, pattern in _PATTERNS:
        for match in pattern.finditer(question):
            free = not any(match.start() < end and start < match.end() for start, end in taken)
            if free and _ANCHOR.search(match.group()) and not _AS_WORDS.search(question[: match.start()]):
                taken.append(match.span())
                yield shape, match


def _ranges(shape: str, match: re.Match[str]) -> tuple[RatingRange, ...]:
    """The alternatives of one place; none where it is not understood."""
    told = match.group()
    values = _values(told)
    if shape == "unclear" or (match["not"] and shape in ("each", "both")):
        return ()
    if shape == "each":
        return tuple(RatingRange(value, value) for value in values)
    one = _meeting(told) if shape == "both" else _range(shape, values)
    if one is None:
        return ()
    return one.others if match["not"] else (one,)


def _values(told: str) -> tuple[float, ...]:
    """The numbers of a place, without the five that they are out of."""
    plain = re.sub(r"(?:/|out of)\s*(?:5|five)\b(?!\s*/)", " ", told, flags=re.IGNORECASE) if re.search(r"out of|\d/5\b", told) else told
    written = (each.lower() for each in _ONE_NUMBER.findall(plain))
    return tuple(_SPELLED[each] if each in _SPELLED else float(each) for each in written)


def _range(shape: str, values: tuple[float, ...]) -> RatingRange | None:
    if shape == "range":
        return RatingRange(*sorted(values)) if len(values) == 2 else None
    if len(values) != 1:
        return None
    bound = values[0]
    return {
        "least": RatingRange(bound, None),
        "most": RatingRange(None, bound),
        "over": RatingRange(bound + _STEP, None),
        "under": RatingRange(None, bound - _STEP),
        "exact": RatingRange(bound, bound),
    }[shape]


def _meeting(told: str) -> RatingRange | None:
    """What two bounds leave, one from each side: *more than 2 and less than 5*."""
    found = [(shape, match) for shape, pattern in _ATOMS for match in pattern.finditer(told)]
    ranges = [one for shape, match in found if (one := _range(shape, _values(match.group())))]
    lows, highs = [one.low for one in ranges if one.low is not None], [one.high for one in ranges if one.high is not None]
    return RatingRange(lows[0], highs[0]) if len(lows) == len(highs) == 1 and lows[0] <= highs[0] else None


def _whole(bound: float) -> bool:
    return round(bound, 3) == bound


def _between(low: float, high: float) -> str:
    if low == high:
        return f"a rating of {low:g}"
    if _whole(low) and _whole(high):
        return f"a rating from {low:g} to {high:g}"
    first = f"of {low:g} or more" if _whole(low) else f"above {round(low, 3):g}"
    last = f"of {high:g} or less" if _whole(high) else f"below {round(high, 3):g}"
    return f"a rating {first} and {last}"
