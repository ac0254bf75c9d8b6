"""A document's text, cut into passages: the unit that is embedded, ranked and quoted."""

import re
import unicodedata
from collections.abc import Iterator

from search.documents import Document, Passage, passage_id

MAX_CHARS = 900
"""Longest passage in code points; about what the built-in embedder reads (256 word pieces)."""

_BLANK = re.compile(r"\s*")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_SENTENCE_END = re.compile(r"""[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+[」』”）]*""")
_LINE_END = re.compile(r"\n")
_WORD_END = re.compile(r"\s")
_BOUNDARIES = (_PARAGRAPH_END, _SENTENCE_END, _LINE_END, _WORD_END)
_JOINERS = "\u200d\ufe0e\ufe0f"
_LONGEST_CLUSTER = 32


def split(document: Document) -> tuple[Passage, ...]:
    """The passages of a document, in order, numbered from 0; ``text[start:end] == passage.text`` for each.

    Short text is one passage as it stands. Longer text is cut at the last paragraph end within reach, else sentence end, line end, space,
    and only then inside a word. Nothing but blank space lies between two passages. Takes time linear in the text.
    """
    return tuple(
        Passage(passage_id(document.doc_id, number), document.doc_id, number, start, end, document.text[start:end])
        for number, (start, end) in enumerate(_spans(document.text))
    )


def _spans(text: str) -> Iterator[tuple[int, int]]:
    if len(text) <= MAX_CHARS:
        yield 0, len(text)
        return
    start, last = _skip_blank(text, 0), len(text.rstrip())
    while start < last:
        end = _cut(text, start, last)
        yield start, start + len(text[start:end].rstrip())
        start = _skip_blank(text, end)


def _cut(text: str, start: int, last: int) -> int:
    remaining = last - start
    if remaining <= MAX_CHARS:
        return last
    reach = min(MAX_CHARS, remaining // 2 + MAX_CHARS // 4)  # near the end, two even passages instead of a crumb
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, start + reach // 3, start + reach + 1)]
        ends = [end for end in ends if end <= start + reach]
        if ends:
            return ends[-1]
    return _between_characters(text, start, start + reach)


def _between_characters(text: str, start: int, end: int) -> int:
    """``end``, moved back a little where it would tear an accent or an emoji sequence apart."""
    for cut in range(end, max(start + 1, end - _LONGEST_CLUSTER), -1):
        if not _clings(text[cut]) and text[cut - 1] != "\u200d":
            return cut
    return end


def _clings(character: str) -> bool:
    return character in _JOINERS or unicodedata.combining(character) != 0 or "\U0001f3fb" <= character <= "\U0001f3ff"


def _skip_blank(text: str, start: int) -> int:
    found = _BLANK.match(text, start)
    assert found is not None
    return found.end()
