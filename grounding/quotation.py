"""Claims that repeat a document word for word, and quotations cut so that they say something else."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grounding.addressing import speaks_to_the_machine
from grounding.answers import Because
from grounding.polarity import denials_elsewhere, in_english
from grounding.reading import read
from grounding.sentences import Span, sentences
from grounding.windows import Witness
from grounding.words import words
from search.documents import Passage
from search.identity import normalised

_RESTRICTION = re.compile(
    r"\s*[,;]?\s*(?:only|unless|until|except|if|but (?:not|only|never)|without|when|provided|as long as)\b", re.IGNORECASE
)
_INNER = re.compile(r"\d[.,]\d")
_MARKS = "\"'“”„‘’«»「」『』 \t\n"


@dataclass(frozen=True, slots=True)
class Quotation:
    """Where a document says exactly the claim, and why that does not count if it does not."""

    start: int
    end: int
    text: str
    because: Because


def quotation(claim: str, witness: Witness) -> Quotation | None:
    """The best place where ``witness`` says ``claim``: word for word, or a whole sentence that is equal once normalised."""
    found = [*_exact(claim.strip(_MARKS), witness), *_normalised(claim, witness)]
    honest = [place for place in found if not place.because]
    return next(iter(honest or found), None)


def _exact(claim: str, witness: Witness) -> Iterator[Quotation]:
    if not any(map(str.isalnum, claim)):
        return
    for passage in witness.passages:
        at = passage.text.find(claim)
        while at >= 0:
            end = at + len(claim)
            if not _cuts_a_word(passage.text, at, end):
                yield Quotation(passage.start + at, passage.start + end, claim, _distortion(passage, Span(at, end)))
                break
            at = passage.text.find(claim, at + 1)


def _cuts_a_word(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if text[start].isdigit() and (before[-1:] in set("-−$€£#") or _INNER.fullmatch(before + "0")):
        return True
    if text[end - 1].isdigit() and (after[:1] == "%" or _INNER.fullmatch("0" + after)):
        return True
    return _joined(before[-1:], text[start]) or _joined(text[end - 1], after[:1])


def _joined(before: str, after: str) -> bool:
    """Both belong to one word; scripts without spaces are never joined."""
    return bool(before) and before.isalnum() and after.isalnum() and max(before, after) < "\u3040"


def _distortion(passage: Passage, quoted: Span) -> Because:
    """What the words left out of the quoted sentences take from its meaning."""
    for span in sentences(passage.text):
        if span.end <= quoted.start or span.start >= quoted.end:
            continue
        kept = Span(max(span.start, quoted.start), min(span.end, quoted.end))
        because = _cut(span.of(passage.text), Span(kept.start - span.start, kept.end - span.start))
        if because:
            return because
    return ""


def _cut(sentence: str, kept: Span) -> Because:
    before, after = sentence[: kept.start], sentence[kept.end :]
    if not any(map(str.isalnum, before + after)):
        return ""
    if speaks_to_the_machine(sentence):
        return "overlap"
    whole = {word.start: tone for word, tone in zip(read(sentence).words, read(sentence).tones, strict=True)}
    part = read(kept.of(sentence))
    changed = any(whole.get(word.start + kept.start, tone) != tone for word, tone in zip(part.words, part.tones, strict=True))
    foreign = not in_english(read(sentence).words)
    denied = foreign and any(denials_elsewhere(side, words(side)) for side in (before, after))
    return "negation" if changed or denied or _RESTRICTION.match(after) else ""


def _normalised(claim: str, witness: Witness) -> Iterator[Quotation]:
    wanted = _plain(claim)
    if not wanted:
        return
    for passage in witness.passages:
        if _plain(passage.text) == wanted:
            yield Quotation(passage.start, passage.end, passage.text, "")
    for window in witness.windows:
        if _plain(window.text) == wanted:
            yield Quotation(window.start, window.end, window.text, "")


_plain = functools.lru_cache(maxsize=8_192)(normalised)
"""Remembered, because each sentence of the evidence is held against each draft."""
