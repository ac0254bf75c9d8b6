"""Numbers with their units, and identifiers, read from text; and when one quantity bears out another."""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

from grounding.calendar_words import dates, times

Comparison = Literal["equal", "about", "more", "less", "range"]

_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_UNIT_WORDS = {
    "second": "sec secs second seconds s",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "d day days",
    "week": "wk wks week weeks",
    "month": "month months",
    "quarter": "quarter quarters",
    "year": "yr yrs year years",
    "decade": "decade decades",
    "time": "time times x ×",
    "percent": "% percent pct ％",
    "point": "pp",
    "eur": "€ eur euro euros",
    "usd": "$ usd us$ dollar dollars bucks",
    "gbp": "£ gbp pound pounds quid",
    "cent": "cent cents ¢",
    "penny": "pence penny p",
    "jpy": "¥ ￥ jpy yen 円",
    "cny": "cny rmb yuan 元",
    "inr": "₹ inr rupee rupees rs",
    "brl": "r$ brl real reais",
    "chf": "chf franc francs",
    "krw": "₩ krw won",
    "rub": "₽ rub rouble roubles ruble rubles",
    "pln": "pln zł zloty",
    "sek": "sek krona kronor",
    "nok": "nok",
    "dkk": "dkk",
    "cad": "cad",
    "aud": "aud",
    "mxn": "mxn",
    "try": "₺ try lira",
    "byte": "bytes byte",
    "kb": "kb",
    "mb": "mb megabyte megabytes",
    "gb": "gb gigabyte gigabytes gig gigs",
    "tb": "tb terabyte terabytes",
    "mm": "mm",
    "cm": "cm",
    "m": "m metre metres meter meters",
    "km": "km kms kilometre kilometres kilometer kilometers",
    "mile": "mile miles mi",
    "inch": "inch inches",
    "foot": "foot feet ft",
    "g": "g gram grams",
    "kg": "kg kgs kilo kilos kilogram kilograms",
    "lb": "lb lbs",
    "ml": "ml",
    "litre": "l litre litres liter liters",
    "degree": "° degree degrees °c °f celsius fahrenheit",
    "star": "star stars ★",
    "watt": "w watt watts",
    "volt": "v volt volts",
    "hz": "hz",
    "mbps": "mbps",
}
UNITS = {word: unit for unit, listed in _UNIT_WORDS.items() for word in listed.split()}
CURRENCIES = frozenset("eur usd gbp cent penny jpy cny inr brl chf krw rub pln sek nok dkk cad aud mxn try".split())
DURATIONS = frozenset(_SECONDS) | frozenset(_MONTHS)
_SIGNS = "€$£¥￥₹₩₽₺"

_SMALL = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {word: number * 10 for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_ORDINALS = {word: n for n, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), start=3)}
_WORDS = "|".join(sorted((*_SMALL, *_TENS, *_LARGE), key=len, reverse=True))

_DIGITS = re.compile(
    r"(?<![\w.,])(?P<sign>[-−]?)(?P<before>r\$|us\$|[€$£¥￥₹₩₽₺]|(?:eur|usd|gbp|chf|jpy|inr|cad|aud|rs)\b\.?)?\s?"
    r"(?P<number>\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*|[½¼¾⅓⅔])"
    r"(?P<scale>k|m|bn|mn|million|billion|thousand)?(?P<ordinal>st|nd|rd|th)?"
    r"(?P<unit>\s?(?:%|％|[€$£¥￥₹₩₽₺°★×¢円元](?!\d)|°[cf])|\s?-?[^\W\d_]+\.?)?",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    rf"(?<![\w-])(?P<number>(?:(?:half\s+)?(?:a|one)\s+)?(?:dozen)|(?:{_WORDS})(?:(?:\s+and\s+|[\s-]+)(?:{_WORDS}))*|a\s+(?:hundred|thousand|million)|once(?!\s+(?:again|more|the|an?|it|i|you|he|she|we|they|my|your|this|that|upon|in)\b)|twice|thrice"
    rf"|{'|'.join(_ORDINALS)})(?![\w])(?P<unit>\s+[^\W\d_]+)?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"(?<!\w)(?:an?|one|a single)\s+(?P<unit>second|minute|hour|day|week|month|quarter|year|decade|cent|dollar|euro|pound|star)(?!\w)",
    re.IGNORECASE,
)
_BEFORE = (
    (
        "more",
        re.compile(
            r"(?:more than|over|at least|above|exceed(?:s|ed|ing)?|longer than|upwards of|minimum of|greater than)\s*\Z", re.IGNORECASE
        ),
    ),
    (
        "less",
        re.compile(
            r"(?:less than|under|at most|below|up to|fewer than|within|maximum of|no more than|not more than|smaller than)\s*\Z",
            re.IGNORECASE,
        ),
    ),
    ("about", re.compile(r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|ca\.?|some|circa|~)\s*\Z", re.IGNORECASE)),
)
_RANGE = re.compile(r"\s*(?:-|–|—|to|or|bis)\s*\Z", re.IGNORECASE)
_CODE = re.compile(
    r"(?<![\w@/.-])(?:"
    r"v\.?\d+(?:\.\d+)*\w*"  # v2.3.1
    r"|\d+(?:\.\d+){2,}\w*"  # 10.15.7
    r"|[A-Z]{2,}[ _#-]?\d+(?:[-_.]\w+)*"  # ERR-4012, ERR 4012, SAVE20
    r"|(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[^\W_][\w]*(?:[-_][\w]+)*"  # anything of letters and digits
    r"|\#\d[\w-]*"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|https?://\S{1,500}|www\.\S{1,500}"
    r")(?![\w@])",
)
_CODE_LOOSE = re.compile(r"[\s_#.-]")
_NO_CODE = re.compile(r"\d+(?:st|nd|rd|th|s|k|m|bn|x)(?:-[a-z]+)*|\d+(?:-\d+)?(?:-[a-z]{3,})+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written. ``values`` holds every way to read it (``1.234`` has two); ``unit`` is canonical, ``""`` without one;
    ``noun`` is the word counted, when the unit is none we know."""

    values: frozenset[Fraction]
    unit: str
    noun: str
    comparison: Comparison
    start: int
    end: int

    def borne_out_by(self, said: "Quantity") -> bool:
        """Whether ``said`` states this. Durations are converted only where that is exact; months and days do not convert."""
        if not _units_agree(self, said):
            return False
        pairs = [(mine * _factor(self.unit, said.unit), theirs) for mine in self.values for theirs in said.values]
        return any(_compares(self.comparison, said.comparison, mine, theirs) for mine, theirs in pairs)

    def same_kind(self, said: "Quantity") -> bool:
        """Whether both measure the same thing, whatever their values."""
        return _family(self.unit) == _family(said.unit) and (bool(self.unit) or self.noun == said.noun)


def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of ``text`` in order of place, without those that belong to dates, times of day or identifiers."""
    taken = [(date.start, date.end) for date in dates(text)]
    taken += [(time.start, time.end) for time in times(text)]
    taken += [(code.start, code.end) for code in codes(text)]
    found: list[Quantity] = []
    for quantity in _candidates(text):
        if not _overlaps(quantity.start, quantity.end, taken):
            found.append(quantity)
            taken.append((quantity.start, quantity.end))
    return _with_ranges(text, sorted(found, key=lambda quantity: quantity.start))


def _candidates(text: str) -> Iterator[Quantity]:
    for match in _DIGITS.finditer(text):
        yield from _from_digits(text, match)
    for match in _SPELLED.finditer(text):
        yield from _from_words(text, match)
    for match in _ARTICLE.finditer(text):
        unit = UNITS[match["unit"].lower()]
        yield Quantity(frozenset({Fraction(1)}), unit, "", _comparison(text, match.start()), match.start(), match.end())


def _overlaps(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in taken)


def _from_digits(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    values = number_readings(match["number"])
    if not values:
        return
    scale = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "million": 1_000_000, "bn": 10**9, "billion": 10**9}
    written, after = (match["scale"] or ""), (match["unit"] or "")
    unit, noun, end = _unit(after, match.end() - len(after))
    if match["before"]:
        unit, noun = UNITS[match["before"].lower().rstrip(".")], ""
    if match["ordinal"]:
        unit, noun = "ordinal", ""
    if written == "m" and not match["before"]:
        written, unit, noun, end = "", "m", "", match.end("scale")
    factor = scale.get(written.lower(), 1) * (-1 if match["sign"] and not _word_ends(text, match.start("sign")) else 1)
    yield Quantity(frozenset(value * factor for value in values), unit, noun, _comparison(text, match.start()), match.start(), end)


def _word_ends(text: str, at: int) -> bool:
    return at > 0 and (text[at - 1].isalnum() or (text[at - 1].isspace() and text[at + 1 : at + 2].isspace()))


def _unit(after: str, at: int) -> tuple[str, str, int]:
    """Canonical unit, counted noun, and where the quantity ends."""
    word = after.strip().strip("-.").lower()
    if not word:
        return "", "", at
    if word in UNITS and not (word in {"s", "p", "x", "try", "real", "won", "rs", "d", "v", "w"} and after[:1].isspace()):
        return UNITS[word], "", at + len(after)
    return "", word, at


def _from_words(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    written = match["number"].lower()
    after = match["unit"] or ""
    unit, noun, end = _unit(after, match.end() - len(after))
    if written in _TIMES:
        value, unit, noun, end = Fraction(_TIMES[written]), "time", "", match.end("number")
    elif written in _ORDINALS:
        value, unit, noun, end = Fraction(_ORDINALS[written]), "ordinal", "", match.end("number")
    else:
        value = _spelled_value(written)
    if written == "one" and unit in {"", "time"}:
        return  # "this one", "no one", "one of them", "one time"
    yield Quantity(frozenset({value}), unit, noun, _comparison(text, match.start()), match.start(), end)


def _spelled_value(written: str) -> Fraction:
    if "dozen" in written:
        return Fraction(6 if written.startswith("half") else 12)
    total, current = 0, 0
    for word in re.split(r"[\s-]+", written):
        if word in _LARGE:
            current = max(current, 1) * _LARGE[word]
            if _LARGE[word] >= 1000:
                total, current = total + current, 0
        else:
            current += _SMALL.get(word, _TENS.get(word, 0))
    return Fraction(total + current)


def number_readings(written: str) -> frozenset[Fraction]:
    """Every value digits with separators may stand for: two for ``1.234``, one for ``1.234,50``, ``1,234.50`` and ``4.90``."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", unicodedata.normalize("NFKC", written)) if len(written) > 1 else written
    if len(plain) == 1 and not plain.isdecimal():
        return frozenset({Fraction(unicodedata.numeric(plain)).limit_denominator(100)})
    signs = [sign for sign in plain if sign in ".,"]
    if len(set(signs)) == 2:
        last = signs[-1]
        other = "," if last == "." else "."
        return _exact(plain.replace(other, "").replace(last, ".")) if signs.count(last) == 1 else frozenset()
    if not signs:
        return _exact(plain)
    groups = re.split(r"[.,]", plain)
    thousands = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3 and groups[0] != "0"
    readings: frozenset[Fraction] = _exact("".join(groups)) if thousands else frozenset()
    return readings | (_exact(".".join(groups)) if len(groups) == 2 else frozenset())


def _exact(plain: str) -> frozenset[Fraction]:
    try:
        return frozenset({Fraction(Decimal(plain))}) if len(plain) <= 40 else frozenset()
    except InvalidOperation:
        return frozenset()


def _comparison(text: str, start: int) -> Comparison:
    before = text[max(0, start - 24) : start]
    for name, pattern in _BEFORE:
        if pattern.search(before):
            return name  # type: ignore[return-value]
    return "equal"


def _with_ranges(text: str, found: list[Quantity]) -> tuple[Quantity, ...]:
    """``3 to 5 days``: both ends of a range are marked, and the first takes the unit of the second."""
    marked = list(found)
    for index, (first, second) in enumerate(itertools.pairwise(found)):
        if first.unit in {"", second.unit} and _RANGE.fullmatch(text[first.end : second.start]):
            for at, quantity in ((index, first), (index + 1, second)):
                marked[at] = Quantity(quantity.values, second.unit, second.noun, "range", quantity.start, quantity.end)
    return tuple(marked)


def _family(unit: str) -> str:
    if unit in _SECONDS or unit in _MONTHS:
        return "duration"
    return "money" if unit in CURRENCIES else unit


def _factor(mine: str, theirs: str) -> Fraction:
    for table in (_SECONDS, _MONTHS):
        if mine in table and theirs in table:
            return Fraction(table[mine], table[theirs])
    return Fraction(1)


def _units_agree(mine: Quantity, said: Quantity) -> bool:
    if mine.unit == said.unit:
        return True
    if mine.unit in DURATIONS and said.unit in DURATIONS:
        return (mine.unit in _SECONDS) == (said.unit in _SECONDS)
    if not mine.unit:
        return not mine.noun or said.unit in {"", "time"} or mine.noun in _LOOSE_NOUNS
    return not said.unit and mine.unit == "time"


_LOOSE_NOUNS = frozenset("of and or in on at for to from by with after before when while but per as is was were are instead".split())


def _compares(mine: Comparison, said: Comparison, claimed: Fraction, stated: Fraction) -> bool:
    if mine in {"more", "less"}:
        beyond = stated > claimed if mine == "more" else stated < claimed
        return (claimed == stated and mine == said) or (said in {"equal", mine} and beyond)
    return claimed == stated and (said in {mine, "equal"} or (mine == "about" and said != "range"))


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier, version or address: opaque, equal or not. ``key`` is free of case and inner signs."""

    key: str
    start: int
    end: int


def codes(text: str) -> tuple[Code, ...]:
    """The identifiers of ``text`` in order: ``SAVE20``, ``ERR-4012``, ``v2.3.1``, ``#1042``, addresses."""
    return tuple(Code(code_key(match.group()), match.start(), match.end()) for match in _CODE.finditer(text) if not _measure(match.group()))


def code_key(written: str) -> str:
    """What makes two spellings of one identifier equal: ``ERR 4012``, ``err-4012`` and ``ERR_4012`` are."""
    return _CODE_LOOSE.sub("", written).casefold() if "@" not in written and "/" not in written else written.casefold().rstrip(".,;)")


def _measure(written: str) -> bool:
    """``10am``, ``5GB``, ``3rd``, ``EUR 49``: a number with its unit, not an identifier."""
    if _NO_CODE.fullmatch(written):
        return True
    tail = re.fullmatch(r"[\d.,]+-?([^\W\d_]+)", written)
    if tail and (tail[1].lower() in UNITS or tail[1].lower() in {"am", "pm", "h", "oclock"}):
        return True
    head = re.fullmatch(r"([^\W\d_]+)[ -]?[\d.,]+", written)
    return bool(head) and head is not None and head[1].lower() in UNITS and head[1].isupper()
