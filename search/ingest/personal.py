"""Where a text holds e-mail addresses, IBANs, card numbers and phone numbers. Each finder reads the text once, whatever is in it."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` is something of this kind."""

    start: int
    end: int
    kind: str


# Scripts written without blanks: there an address ends where the writing changes.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LOCAL = r"[^\s@＠%<>()\[\]{},;:\"'“”‘’«»„…/?&\\|、。，；：！？（）【】《》]"
_SPACED = rf"(?:(?![{_UNSPACED}]){_LOCAL}|%(?!40)[0-9a-fA-F]{{2}})"
_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e\u200c\u200d"
_LABEL = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}-])++"
_ANY_LABEL = rf"[\w{_MARKS}-]++"
_DOMAIN = rf"(?:{_LABEL}(?:[.．。]{_LABEL})++|(?=[{_UNSPACED}]){_ANY_LABEL}(?:[.．。]{_ANY_LABEL})++|\[[0-9a-fA-F:.]{{2,45}}\])"
_EMAIL = re.compile(
    rf"(?:\"[^\"\n]{{1,64}}\"|(?<!{_LOCAL}){_LOCAL}++(?<=[{_UNSPACED}])|(?<!(?![{_UNSPACED}]){_LOCAL}){_SPACED}++)(?:[@＠]|%40)(?!\d+x\.){_DOMAIN}"
)
_LAST_LABEL = re.compile(r"[.．。\[]([^.．。]*)\Z")


def emails(text: str) -> Iterator[Span]:
    """Addresses, of any script, also percent-encoded. What ends in digits is a version (``tool@1.2.3``)."""
    if "@" not in text and "＠" not in text and "%40" not in text:
        return
    for found in _EMAIL.finditer(text):
        last = _LAST_LABEL.search(found[0])
        if last is not None and (last[1].endswith("]") or not last[1].isdigit()):
            yield Span(found.start(), found.end(), "email")


_SEPARATED = r"[ \u00a0\u202f-]"
_IBAN_START = re.compile(r"(?<![^\W_])[A-Za-z]{2}[0-9]{2}(?=[ \u00a0\u202f-]?[A-Za-z0-9])")
_IBAN_REST = re.compile(rf"(?:{_SEPARATED}?[A-Za-z0-9]){{11,30}}+")
_STRUCTURE = re.compile(r"(\d+)!")


def ibans(text: str) -> Iterator[Span]:
    """International bank account numbers of a known country, of its length, whose check digits hold."""
    end = 0
    for begin in _IBAN_START.finditer(text):
        if begin.start() < end:
            continue
        length = _iban_length(begin[0][:2].upper())
        rest = _IBAN_REST.match(text, begin.end()) if length else None
        if length and rest is not None:
            stop = _after(text, begin.start(), length)
            if stop is not None and _iban_holds(text[begin.start() : stop]):
                end = stop
                yield Span(begin.start(), stop, "iban")


@lru_cache(512)
def _iban_length(country: str) -> int:
    """Characters of an IBAN of this country, 0 where it has none."""
    from stdnum import numdb

    (_, about), *_ = numdb.get("iban").info(country + "00")
    return 4 + sum(map(int, _STRUCTURE.findall(about["bban"]))) if "bban" in about else 0


def _after(text: str, start: int, length: int) -> int | None:
    """The end of so many letters and digits, separators not counted; None where more follow at once."""
    at = start
    while length and at < len(text):
        length -= text[at].isalnum()
        at += 1
    return None if length or text[at : at + 1].isalnum() else at


def _iban_holds(written: str) -> bool:
    from stdnum import iban

    plain = re.sub(_SEPARATED, "", written)
    return bool(iban.is_valid(plain, check_country=False))


_DIGIT_RUN = re.compile(rf"\d++(?:{_SEPARATED}{{1,3}}\d++)*+")
_GROUP = re.compile(r"\d+")
_LEAST_DIGITS, _MOST_DIGITS = 13, 19
_ISSUERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"4", (13, 16, 19)),
    (r"5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720", (16,)),
    (r"3[47]", (15,)),
    (r"6011|64[4-9]|65", (16, 17, 18, 19)),
    (r"30[0-5]|3095|3[689]", (14, 15, 16, 17, 18, 19)),
    (r"35(?:2[89]|[3-8]\d)", (16, 17, 18, 19)),
    (r"62|81", (16, 17, 18, 19)),
    (r"50|5[6-8]|6[0378]", (13, 14, 15, 16, 17, 18, 19)),
    (r"220[0-4]", (16, 17, 18, 19)),
)
_ISSUER_PATTERNS = tuple((re.compile(prefix), lengths) for prefix, lengths in _ISSUERS)


def cards(text: str) -> Iterator[Span]:
    """Payment card numbers: digits in one piece or in groups of 3 to 6, of an issuer's prefix and length, whose check digit holds."""
    for run in _DIGIT_RUN.finditer(text):
        groups = [(run.start() + group.start(), run.start() + group.end()) for group in _GROUP.finditer(run[0])]
        yield from _cards_among(text, groups)


def _cards_among(text: str, groups: Sequence[tuple[int, int]]) -> Iterator[Span]:
    at = 0
    while at < len(groups):
        until = _card_from(text, groups, at)
        if until is None:
            at += 1
        else:
            yield Span(groups[at][0], groups[until][1], "card")
            at = until + 1


def _card_from(text: str, groups: Sequence[tuple[int, int]], at: int) -> int | None:
    """The last group of the longest card number that begins with this one."""
    digits, best = "", None
    if _goes_on(text[max(0, groups[at][0] - 2) : groups[at][0]][::-1]):
        return None
    for place in range(at, len(groups)):
        start, end = groups[place]
        if len(digits) + end - start > _MOST_DIGITS or (place > at and not _in_groups(groups[at:place])):
            break
        digits += "".join(str(unicodedata.decimal(digit)) for digit in text[start:end])
        if len(digits) >= _LEAST_DIGITS and _is_card(digits) and not _goes_on(text[end : end + 2]):
            best = place
    return best


def _goes_on(beside: str) -> bool:
    """Whether a number is part of more than itself: of a word, or of a longer number with a point or comma."""
    return beside[:1].isalnum() or beside[:1] == "_" or (beside[:1] in (".", ",") and beside[1:].isdigit())


def _in_groups(groups: Sequence[tuple[int, int]]) -> bool:
    return all(3 <= end - start <= 6 for start, end in groups)


def _is_card(digits: str) -> bool:
    from stdnum import luhn

    known = any(len(digits) in lengths and prefix.match(digits) for prefix, lengths in _ISSUER_PATTERNS)
    return known and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


_PLUS = re.compile(r"[+＋]")
_MAYBE_PHONE = re.compile(r"[+＋(]?\d[\d\s().\-–‐/]{5,}")
_CALLS = re.compile(
    r"(?:tel|phone|fon|fax|mobil\w*|cell|call|text|dial|whatsapp|sms|ring|handy|móvil|portable|appel\w*|llam\w*)\W{0,3}\w{0,4}\W{0,3}\Z",
    re.IGNORECASE,
)
_NAMED_NUMBER = re.compile(r"(?:[#№/_=]|\b(?:no|nr|id|ref|order|ticket|invoice|case|number|article|sku)\W{0,3})\Z", re.IGNORECASE)
_BEFORE = 24


def phones(text: str, region: str) -> Iterator[Span]:
    """Phone numbers of a known numbering plan: those that begin with +, and with a ``region`` those written as people there do.

    Without + a number in one piece counts only when it begins with 0 or something before it speaks of calling, and never behind what
    names another number (``order``, ``#``).
    """
    if not (_PLUS.search(text) or (region and _MAYBE_PHONE.search(text))):
        return
    from phonenumbers import Leniency, PhoneNumberMatcher

    for found in PhoneNumberMatcher(text, region or None, Leniency.VALID, max_tries=len(text) + 1):
        if found.raw_string[:1] in "+＋" or _reads_as_phone(text, found.start, found.raw_string):
            yield Span(found.start, found.end, "phone")


def _reads_as_phone(text: str, start: int, written: str) -> bool:
    before = text[max(0, start - _BEFORE) : start]
    if _NAMED_NUMBER.search(before):
        return bool(_CALLS.search(before))
    return not written.isdigit() or written.startswith("0") or bool(_CALLS.search(before))
