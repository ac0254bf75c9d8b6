"""Which documents hold every word and phrase of a ``match``."""

import json
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from search.analysis import Phrase, match_terms
from search.engines.columns import Mask
from search.engines.shelf import ShelfView
from search.engines.vocabulary import term_numbers

_CHUNK = 2_000
Places = Sequence[tuple[int, int]]
"""A phrase with numbered terms: each term and its distance from the first."""


def matching(connection: sqlite3.Connection, view: ShelfView, among: Mask, match: str | None) -> Mask:
    """The documents of ``among`` that hold what ``match`` asks for; all of them when it asks for nothing."""
    wanted = match_terms(match or "")
    terms = dict.fromkeys([*wanted.terms, *(term for phrase in wanted.phrases for term, _ in phrase.places)])
    numbers = term_numbers(connection, view.tenant_no, terms)
    if len(numbers) < len(terms):
        return np.zeros_like(among)
    mask = among.copy()
    for number in numbers.values():
        mask &= _holding(view, number)
    for phrase in wanted.phrases:
        if len(phrase.places) > 1:
            mask = _with_phrase(connection, view, mask, _numbered(phrase, numbers))
    return mask


def _holding(view: ShelfView, term: int) -> Mask:
    mask = np.zeros_like(view.columns.live)
    mask[view.passage_docs[view.lexical.rows_with(term)]] = True
    return mask


def _numbered(phrase: Phrase, numbers: dict[str, int]) -> Places:
    return [(numbers[term], place) for term, place in phrase.places]


def _with_phrase(connection: sqlite3.Connection, view: ShelfView, among: Mask, phrase: Places) -> Mask:
    mask = np.zeros_like(among)
    rows = np.flatnonzero(among)
    for start in range(0, len(rows), _CHUNK):
        doc_nos = view.columns.doc_nos[rows[start : start + _CHUNK]].tolist()
        mask[view.columns.rows_of(_holders(connection, doc_nos, phrase))] = True
    return mask


def _holders(connection: sqlite3.Connection, doc_nos: list[int], phrase: Places) -> Iterator[int]:
    found = connection.execute(_STREAMS, (json.dumps(doc_nos),)).fetchall()
    streams = [np.frombuffer(terms, dtype=np.int32) for _, terms in found]
    owners = np.repeat(np.arange(len(found)), [len(stream) for stream in streams])
    flat = np.concatenate(streams) if streams else np.empty(0, np.int32)
    return (found[owner][0] for owner in np.unique(owners[_occurrences(flat, owners, phrase)]))


def _occurrences(flat: NDArray[np.int32], owners: NDArray[np.int64], phrase: Places) -> NDArray[np.int64]:
    """Where the phrase begins in streams laid end to end, never across two documents."""
    begin = np.flatnonzero(flat == phrase[0][0])
    for term, place in phrase[1:]:
        begin = begin[begin + place < len(flat)]
        begin = begin[(flat[begin + place] == term) & (owners[begin + place] == owners[begin])]
    return begin


_STREAMS = "SELECT d.doc_no, d.terms FROM json_each(?) j CROSS JOIN documents d ON d.doc_no = j.value"
