"""BM25 in memory, by Lucene's formula to the last float.

Postings are sorted segments over immutable passage rows; new passages make a small segment, and small segments are merged as they add up. Removed
rows stay in the postings and are left out of every count, which is what Lucene does after a merge.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from search.engines.growing import GrowingArray

K1 = np.float32(1.2)
B = np.float32(0.75)
Postings = tuple[NDArray[np.int32], NDArray[np.uint16]]
"""Rows that hold a term, ascending, and how often each holds it."""

_ONE = np.float32(1.0)
_LEAST = np.float32(1e-6)
_MOST_FREQUENT = np.iinfo(np.uint16).max
_MERGE_RATIO = 2


def _decoded_lengths() -> NDArray[np.int64]:
    """The 256 lengths that Lucene's one-byte norm can tell apart (``SmallFloat.byte4ToInt``): exact to 39."""
    lengths = list(range(24))
    for code in range(256 - 24):
        bits, shift = code & 7, (code >> 3) - 1
        lengths.append(24 + (bits if shift < 0 else (bits | 8) << shift))
    return np.array(lengths, dtype=np.int64)


LENGTHS = _decoded_lengths()


def length_codes(lengths: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Lucene's norm byte of each length."""
    return (np.searchsorted(LENGTHS, lengths, side="right") - 1).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings of some rows: for ``terms[i]`` (ascending), the entries ``starts[i]:starts[i + 1]`` of ``rows`` (ascending) and ``counts``."""

    terms: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def postings(self, term: int) -> Postings:
        """The rows that hold the term and how often; empty where none does."""
        place = int(np.searchsorted(self.terms, term))
        if place == len(self.terms) or self.terms[place] != term:
            return self.rows[:0], self.counts[:0]
        span = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[span], self.counts[span]


@dataclass(frozen=True, slots=True)
class HeldTerm:
    """What a term does to the rows that hold it: each gets ``weight - weight / divisor``, which is how Lucene arranges the formula
    (``divisor = 1 + count * norm``). ``holding`` of the rows count."""

    rows: NDArray[np.intp]
    divisors: NDArray[np.float32]
    holding: int


class Prepared:
    """The terms lately asked for, so that frequent words are not prepared for each question. Threads may share it: they would only do the same twice."""

    def __init__(self, most_postings: int = 1_000_000) -> None:
        self._most = most_postings
        self._held: dict[int, HeldTerm] = {}
        self._postings = 0

    def of(self, term: int, prepare: Callable[[int], HeldTerm]) -> HeldTerm:
        """The term as kept, or prepared now."""
        held = self._held.get(term)
        if held is None:
            held = prepare(term)
            if self._postings + len(held.rows) > self._most:
                self._held, self._postings = {}, 0
            self._held[term] = held
            self._postings += len(held.rows)
        return held


@dataclass(frozen=True, slots=True)
class LexicalView:
    """The index at one moment. ``live`` marks the rows that count; ``passages`` of them have words. ``norms`` is what a row's length makes of its
    counts; ``whole`` says that no row is removed."""

    segments: tuple[Segment, ...]
    norms: NDArray[np.float32]
    live: NDArray[np.bool_]
    passages: int
    whole: bool
    prepared: Prepared = field(default_factory=Prepared, compare=False)

    def rows_with(self, term: int) -> NDArray[np.int32]:
        """The rows that hold the term, removed ones included."""
        return np.concatenate([segment.postings(term)[0] for segment in self.segments] or [np.empty(0, np.int32)])

    def scores(self, terms: Mapping[int, int]) -> NDArray[np.float32]:
        """BM25 of every row, shape (rows,), 0 where no term is shared. ``terms`` gives each term's count in the query."""
        sums = np.zeros(len(self.norms), dtype=np.float64)
        for term, times in terms.items() if self.passages else ():
            held = self.prepared.of(term, self._prepare)
            weight = np.float32(times) * idf(held.holding, self.passages)
            part = weight / held.divisors
            np.subtract(weight, part, out=part)
            sums[held.rows] += part
        return sums.astype(np.float32)

    def _prepare(self, term: int) -> HeldTerm:
        found = [segment.postings(term) for segment in self.segments]
        rows = np.concatenate([rows for rows, _ in found] or [np.empty(0, np.int32)]).astype(np.intp)
        divisors = self.norms.take(rows)
        divisors *= np.concatenate([counts for _, counts in found] or [np.empty(0, np.uint16)])
        divisors += _ONE
        holding = len(rows) if self.whole else int(np.count_nonzero(self.live[rows]))
        return HeldTerm(rows, divisors, holding)


def idf(holding: int, passages: int) -> np.float32:
    """How much a term tells that ``holding`` of ``passages`` hold."""
    return np.float32(np.log(1.0 + (passages - holding + 0.5) / (holding + 0.5)))


class LexicalIndex:
    """The growing index of one tenant. One writer; any number of readers through :meth:`view`."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._lengths: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._codes: GrowingArray[np.uint8] = GrowingArray(np.uint8)
        self._passages = 0
        self._total = 0

    def add(self, streams: Sequence[NDArray[np.int32]]) -> None:
        """Append one row per stream of term numbers; negative numbers are places without a term."""
        first = len(self._lengths)
        flat = np.concatenate(streams) if streams else np.empty(0, np.int32)
        rows = np.repeat(np.arange(first, first + len(streams), dtype=np.int64), [len(stream) for stream in streams])
        real = flat >= 0
        flat, rows = flat[real], rows[real]
        lengths = np.bincount(rows - first, minlength=len(streams)).astype(np.int32)
        self._lengths.extend(lengths)
        self._codes.extend(length_codes(lengths))
        self._passages += int(np.count_nonzero(lengths))
        self._total += len(flat)
        if len(flat):
            self._segments.append(_segment(flat, rows))

    def remove(self, rows: NDArray[np.int64]) -> None:
        """Take rows out of the statistics; the caller's ``live`` mask takes them out of the results."""
        removed = self._lengths.view()[rows]
        self._passages -= int(np.count_nonzero(removed))
        self._total -= int(removed.sum())

    def settle(self) -> None:
        """Merge until each segment is more than twice the one after it: few segments, and each posting is moved seldom."""
        groups: list[list[Segment]] = []
        for segment in self._segments:
            groups.append([segment])
            while len(groups) > 1 and _size(groups[-2]) <= _MERGE_RATIO * _size(groups[-1]):
                newest = groups.pop()
                groups[-1] += newest
        self._segments = [_merged(group) if len(group) > 1 else group[0] for group in groups]

    def view(self, live: NDArray[np.bool_]) -> LexicalView:
        """The index as it is now."""
        return LexicalView(tuple(self._segments), self._inverse_norms(), live, self._passages, whole=bool(live.all()))

    def _inverse_norms(self) -> NDArray[np.float32]:
        average = np.float32(self._total / max(1, self._passages))
        by_code: NDArray[np.float32] = _ONE / (K1 * ((_ONE - B) + B * LENGTHS.astype(np.float32) / max(average, _LEAST)))
        return by_code[self._codes.view()]


def _size(segments: Sequence[Segment]) -> int:
    return sum(len(segment.rows) for segment in segments)


def _segment(terms: NDArray[np.int32], rows: NDArray[np.int64]) -> Segment:
    keys = np.sort((terms.astype(np.int64) << 32) | rows)
    places = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.minimum(np.diff(np.append(places, len(keys))), _MOST_FREQUENT).astype(np.uint16)
    pairs = keys[places]
    return _grouped((pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32), counts)


def _merged(segments: Sequence[Segment]) -> Segment:
    """One segment of several that follow each other in rows: each posting is put where its term has room, so nothing is sorted."""
    terms = np.unique(np.concatenate([segment.terms for segment in segments]))
    places = [np.searchsorted(terms, segment.terms) for segment in segments]
    lengths = [np.diff(segment.starts) for segment in segments]
    totals = np.zeros(len(terms), dtype=np.int64)
    for place, length in zip(places, lengths, strict=True):
        totals[place] += length
    starts = np.concatenate(([0], np.cumsum(totals)))
    rows, counts = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.uint16)
    room = starts[:-1].copy()
    for segment, place, length in zip(segments, places, lengths, strict=True):
        target = np.arange(len(segment.rows)) + np.repeat(room[place] - segment.starts[:-1], length)
        rows[target], counts[target] = segment.rows, segment.counts
        room[place] += length
    return Segment(terms, starts, rows, counts)


def _grouped(terms: NDArray[np.int32], rows: NDArray[np.int32], counts: NDArray[np.uint16]) -> Segment:
    firsts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    starts = np.append(firsts, len(terms)).astype(np.int64)
    return Segment(terms[firsts], starts, rows, counts)
