"""Where sentences and clauses begin and end in text as people really type it; offsets count code points."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` in code points, never empty."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words the span covers."""
        return text[self.start : self.end]

    def hull(self, other: "Span") -> "Span":
        """The shortest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


LONGEST_SENTENCE = 600
"""Code points after which a run without any full stop is cut, at a space where there is one."""

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st no nr nos vs eg ie approx ca cf fig vol pp inc ltd co corp dept est max min tel ext sr sra av avda dna "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun bzw usw zb evtl ggf inkl exkl mme mlle ref".split()
)
_BULLET = re.compile(r"[ \t]*(?:[-*•‣▪◦–—]|\d{1,2}[.)])[ \t]+")
_WIDE_STOP = "。！？｡．؟۔।"
_EMOJI = r"\U0001F300-\U0001FAFF\u2600-\u27BF\u2B50\uFE0F\u200D"
_STOP = re.compile(
    rf"[{_WIDE_STOP}]+[」』）”’\"')\]]*"
    r"|[.!?…]+[\"'”’»)\]]*"
    rf"|[{_EMOJI}]+(?=\s+[A-ZÀ-Þ])"
)
_WORD_BEFORE = re.compile(r"(\w[\w.]*)\Z")
_NEWLINE = re.compile(r"\n")


def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of ``text`` in order, without surrounding space or bullets.

    Lines are sentences of their own unless the next one clearly goes on; a text without any stop is one sentence, cut every
    ``LONGEST_SENTENCE`` code points. Text of nothing but space has none.
    """
    found: list[Span] = []
    for block in _blocks(text):
        for span in _within(text, block):
            found.extend(_cut(text, span))
    return tuple(found)


def _blocks(text: str) -> Iterator[Span]:
    """Runs of lines that belong together."""
    start = 0
    for newline in _NEWLINE.finditer(text):
        if not _goes_on(text, newline.start(), newline.end()):
            yield Span(start, newline.start())
            start = newline.end()
    yield Span(start, len(text))


def _goes_on(text: str, end: int, following: int) -> bool:
    """A wrapped line: no stop before the break, and a small letter right after it."""
    before, after = text[end - 1 : end], text[following : following + 1]
    return bool(before) and (before.isalnum() or before == ",") and after.islower() and not _BULLET.match(text, following)


def _within(text: str, block: Span) -> Iterator[Span]:
    bullet = _BULLET.match(text, block.start, block.end)
    start = bullet.end() if bullet else block.start
    for stop in _STOP.finditer(text, start, block.end):
        if any(map(str.isalnum, text[start : stop.start()])) and _ends_sentence(text, stop, block.end):
            yield Span(start, stop.end())
            start = stop.end()
    yield Span(start, block.end)


def _ends_sentence(text: str, stop: re.Match[str], limit: int) -> bool:
    mark = stop.group()
    if stop.end() >= limit or mark[0] in _WIDE_STOP:
        return True
    after = text[stop.end()]
    if mark[0] not in ".!?…":
        return True
    if not after.isspace():
        return _glued(text, stop)
    following = text[stop.end() : stop.end() + 8].lstrip()[:1]
    if mark.startswith(("..", "…")):
        return not following.islower()
    return mark[0] != "." or not _abbreviation(text, stop.start(), following)


def _glued(text: str, stop: re.Match[str]) -> bool:
    """``late.Then``: the space was forgotten. ``Node.js`` and ``3.5`` go on."""
    before, after = text[max(0, stop.start() - 2) : stop.start()], text[stop.end() : stop.end() + 2]
    if stop.group()[0] in "!?":
        return after[:1].isalpha() and before[-1:].isalpha()
    return len(before) == len(after) == 2 and before.isalpha() and before.islower() and after[0].isupper() and after[1].islower()


def _abbreviation(text: str, end: int, following: str) -> bool:
    match = _WORD_BEFORE.search(text, max(0, end - 24), end)
    word = match.group(1) if match else ""
    plain = word.replace(".", "").lower()
    if plain in {"am", "pm", "etc"}:
        return following.islower() or following.isdigit()
    initial = len(word) == 1 and word.isalpha() and word.isupper() and word != "I"
    return initial or plain in _ABBREVIATIONS or ("." in word and plain.isalpha() and len(plain) <= 4)


def _cut(text: str, span: Span) -> Iterator[Span]:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        space = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        at = space if space > 0 else start + LONGEST_SENTENCE
        yield Span(start, at)
        start = at + (space > 0)
    if end > start:
        yield Span(start, end)
