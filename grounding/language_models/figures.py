"""Figures of any script and number words of several languages: what a model wrote may hold none that its passages do not.

The verifier reads English number words and western figures with their units; this is the coarse net before it, for everything else.
"""

import re
import unicodedata
from collections.abc import Iterator

_FIGURE = re.compile(r"\d+(?:[.,'’\u066b\u066c]\d+)*")
_SEPARATOR = re.compile(r"[.,'’\u066b\u066c]")
_CJK = re.compile(
    r"[〇零一二两兩三四五六七八九十百千万萬億亿]+(?=\s?(?:[个個名位件条條次天日月年週周时時分秒元円倍成歳岁人回台本枚割%％]|つ|ヶ|か))"
)
_CJK_DIGITS = {sign: number for number, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_CJK_TENS = {"十": 10, "百": 100, "千": 1000}
_CJK_LARGE = {"万": 10_000, "萬": 10_000, "億": 100_000_000, "亿": 100_000_000}
_LISTED = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
    "ar": "اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "en": "two three four five six seven eight nine ten eleven twelve",
}
_VALUES = {word: str(value) for listed in _LISTED.values() for value, word in enumerate(listed.split(), 2)} | {
    "hundert": "100", "cent": "100", "cien": "100", "ciento": "100", "cento": "100", "cem": "100", "honderd": "100", "сто": "100", "hundred": "100",
    "tausend": "1000", "mille": "1000", "mil": "1000", "duizend": "1000", "тысяча": "1000", "thousand": "1000", "две": "2", "duas": "2",
    "zweimal": "2", "dreimal": "3", "dutzend": "12", "douzaine": "12", "docena": "12", "million": "1000000", "millionen": "1000000", "millón": "1000000",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def figures(text: str) -> frozenset[str]:
    """Every number in ``text`` as western digits without separators."""
    return frozenset((*_written(text), *_spelled(text), *_chinese(text)))


def _written(text: str) -> Iterator[str]:
    for match in _FIGURE.finditer(unicodedata.normalize("NFKC", text)):
        digits = _SEPARATOR.sub("", match.group())
        yield "".join(str(unicodedata.digit(sign)) for sign in digits).lstrip("0") or "0"


def _spelled(text: str) -> Iterator[str]:
    return (_VALUES[word] for match in _WORD.finditer(text) if (word := match.group().lower()) in _VALUES)


def _chinese(text: str) -> Iterator[str]:
    return (str(_value(match.group())) for match in _CJK.finditer(text))


def _value(signs: str) -> int:
    total = part = digit = 0
    for sign in signs:
        if sign in _CJK_DIGITS:
            digit = digit * 10 + _CJK_DIGITS[sign]
        elif sign in _CJK_TENS:
            part, digit = part + (digit or 1) * _CJK_TENS[sign], 0
        else:
            total, part, digit = total + ((part + digit) or 1) * _CJK_LARGE[sign], 0, 0
    return total + part + digit
