"""Text to terms, exactly as OpenSearch's ``english`` analyser does it, so that both engines count the same words.

UAX#29 words in one regular expression, possessive ``'s`` stripped, lower case, 33 stop words, Porter. ``word_classes.json`` holds the ranges of
code points of each word-break class, as Lucene 9 and 10 know them.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from search.porter import stem

__all__ = [
    "MAX_QUERY_TERMS",
    "MatchTerms",
    "Phrase",
    "content_terms",
    "match_terms",
    "query_terms",
    "stem",
    "term_stream",
    "tokens",
    "words",
]

MAX_QUERY_TERMS = 64
"""Distinct terms of one lexical query; the rest of a longer text is not searched for."""

LONGEST_TOKEN = 255
_MOST_JOINERS = 32
"""Leading underscores of one word; a ruled line of them is not worth reading twice."""

STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split()
)

QUESTION_WORDS = frozenset(
    "what which who whom whose when where why how many much am been being were do does did doing done has have had having can could may might "
    "must shall should would i me my mine we us our ours you your yours he him his she her hers its them theirs those any some please about "
    "from than so just also too very".split()
)
"""Words that shape a question without saying what it is about; a match does not insist on them."""


def _classes() -> dict[str, str]:
    """Each class as the inside of a bracket expression."""
    ranges = json.loads((Path(__file__).parent / "word_classes.json").read_text("ascii"))
    return {name: "".join(_bracketed(each) for each in line.split()) for name, line in ranges.items()}


def _bracketed(span: str) -> str:
    first, _, last = span.partition("-")
    return rf"\U{first:0>8}-\U{last:0>8}" if last else rf"\U{first:0>8}"


def _word_pattern(classes: dict[str, str]) -> re.Pattern[str]:
    after = f"[{classes['extend']}]*"
    any_letter = f"[{classes['letter']}{classes['hebrew']}]{after}"
    digit, kana = f"[{classes['digit']}]{after}", f"[{classes['katakana']}]{after}"
    joiners = f"(?:[{classes['joiner']}]{after})"
    inner_letter = f"[{classes['mid_letter']}]{after}(?={any_letter})"
    inner_digit = f"[{classes['mid_digit']}]{after}(?={digit})"
    hebrew = f"[{classes['hebrew']}]{after}"
    quoted = f"{hebrew}(?:'{after}|\"{after}{hebrew})"
    letters = f"(?:{quoted}|{any_letter}(?:(?:{joiners}+|{inner_letter}){any_letter}|(?!{quoted}){any_letter})*)"
    digits = f"{digit}(?:(?:{joiners}*|{inner_digit}){digit})*"
    run = f"(?:{kana}(?:{joiners}*{kana})*|(?:{letters}|{digits})+)"
    picture = f"[{classes['emoji']}](?:(?![\\uFE0E\\uFE0F])[{classes['extend']}])*\\uFE0F?"
    alternatives = (
        f"[#*]\\uFE0F?\\u20E3{after}",
        f"(?:(?<![{classes['joiner']}]){joiners}{{1,{_MOST_JOINERS}}}+)?{run}(?:{joiners}+{run})*{joiners}*",
        f"(?:[{classes['southeast']}]{after})+",
        f"[{classes['ideograph']}]{after}",
        f"(?:[{classes['regional']}]{after}){{2}}",
        f"(?:(?<!\\u200D)\\u200D+)?{picture}(?:(?:(?<=\\u200D)|\\u200D+){picture})*",
    )
    return re.compile("|".join(alternatives))


_WORD = _word_pattern(_classes())
_ASCII_LETTERS = r"[A-Za-z](?:(?:_*|[:.'](?=[A-Za-z]))[A-Za-z])*"
_ASCII_DIGITS = r"[0-9](?:(?:_*|[.,;'](?=[0-9]))[0-9])*"
_ASCII_WORD = re.compile(rf"(?:(?<!_)_+)?(?:{_ASCII_LETTERS}|{_ASCII_DIGITS})+(?:_+(?:{_ASCII_LETTERS}|{_ASCII_DIGITS})+)*_*")
_POSSESSIVE = re.compile("['\u2019\uff07][sS]\\Z")
_QUOTED = re.compile('["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]*)["\u201c\u201d\u201e\u00ab\u00bb]')


def words(text: str) -> list[tuple[str, int, int]]:
    """The lower-case words of ``text`` with their offsets in code points, stop words kept, nothing stemmed."""
    return [(_lower(word), start, start + len(word)) for word, start in _raw(text)]


def tokens(text: str) -> list[str]:
    """The terms of ``text`` in order, as the index holds them."""
    return [term for word in _spellings(text) if (term := _term(word)) is not None]


def term_stream(text: str) -> list[str | None]:
    """As :func:`tokens`, with None in the place of each stop word: what a phrase needs to know its gaps."""
    return [_term(word) for word in _spellings(text)]


def query_terms(text: str, limit: int = MAX_QUERY_TERMS) -> dict[str, int]:
    """The first ``limit`` distinct terms of a question, in order, with how often each occurs in it."""
    counts: dict[str, int] = {}
    for term in tokens(text):
        if term in counts or len(counts) < limit:
            counts[term] = counts.get(term, 0) + 1
    return counts


def content_terms(text: str) -> list[str]:
    """The terms of ``text`` without question words, pronouns and auxiliaries."""
    return [term for word in _spellings(text) if _lower(word) not in QUESTION_WORDS and (term := _term(word)) is not None]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms that must follow each other: each ``(term, place)`` counts places from the first term; a stop word leaves a gap."""

    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """What a document must hold: every term, and every phrase. Both empty: everything matches."""

    terms: tuple[str, ...]
    phrases: tuple[Phrase, ...]


def match_terms(match: str) -> MatchTerms:
    """The terms outside quotation marks (content words only), and the quoted phrases. An unpaired mark quotes nothing."""
    phrases = [phrase for quoted in _QUOTED.findall(match) if (phrase := _phrase(quoted)).places]
    loose = dict.fromkeys(content_terms(_QUOTED.sub(" ", match)))
    return MatchTerms(tuple(loose), tuple(dict.fromkeys(phrases)))


def _phrase(text: str) -> Phrase:
    placed = [(term, place) for place, term in enumerate(term_stream(text)) if term is not None]
    first = placed[0][1] if placed else 0
    return Phrase(tuple((term, place - first) for term, place in placed))


def _spellings(text: str) -> list[str]:
    found: list[str] = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    return found if max(map(len, found), default=0) <= LONGEST_TOKEN else [word for word, _ in _raw(text)]


def _raw(text: str) -> list[tuple[str, int]]:
    pattern = _ASCII_WORD if text.isascii() else _WORD
    found: list[tuple[str, int]] = []
    for match in pattern.finditer(text):
        if match.end() - match.start() <= LONGEST_TOKEN:
            found.append((match[0], match.start()))
        else:
            found += _pieces(pattern, text, match.start(), match.end())
    return found


def _pieces(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[tuple[str, int]]:
    """A word beyond the longest token, read again as if the text ended there."""
    pieces = []
    while start < end:
        begun = pattern.search(text, start, min(start + LONGEST_TOKEN, end))
        if begun is None:
            start += LONGEST_TOKEN
            continue
        whole = pattern.match(text, begun.start(), min(begun.start() + LONGEST_TOKEN, end)) or begun
        pieces.append((whole[0], whole.start()))
        start = whole.end()
    return pieces


def _lower(word: str) -> str:
    """Letter by letter, as Java does it: no final sigma, and one letter stays one letter."""
    return word.lower() if word.isascii() else "".join(letter.lower()[0] for letter in word)


@lru_cache(maxsize=131_072)
def _term(word: str) -> str | None:
    word = _lower(_POSSESSIVE.sub("", word))
    return None if word in STOP_WORDS else stem(word)
