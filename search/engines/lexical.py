"""BM25 in memory, by Lucene's formula to the last float.

Postings are sorted segments over immutable passage rows; new passages make a small segment, and small segments are merged as they add up. Removed
rows stay in the postings and are left out of every count, which is what Lucene does after a merge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.engines.growing import GrowingArray

K1 = np.float32(1.2)
B = np.float32(0.75)
_ONE = np.float32(1.0)
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

    def postings(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """The rows that hold the term and how often; empty where none does."""
        place = int(np.searchsorted(self.terms, term))
        if place == len(self.terms) or self.terms[place] != term:
            return self.rows[:0], self.counts[:0]
        span = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[span], self.counts[span]


@dataclass(frozen=True, slots=True)
class LexicalView:
    """The index at one moment. ``live`` marks the rows that count; ``passages`` of them hold ``total_length`` terms."""

    segments: tuple[Segment, ...]
    codes: NDArray[np.uint8]
    live: NDArray[np.bool_]
    passages: int
    total_length: int
    whole: bool

    def rows_with(self, term: int) -> NDArray[np.int32]:
        """The rows that hold the term, removed ones included."""
        return np.concatenate([segment.postings(term)[0] for segment in self.segments] or [np.empty(0, np.int32)])

    def scores(self, terms: Mapping[int, int]) -> NDArray[np.float32]:
        """BM25 of every row, shape (rows,), 0 where no term is shared. ``terms`` gives each term's count in the query."""
        sums = np.zeros(len(self.codes), dtype=np.float64)
        if self.passages:
            norms = self._inverse_norms()
            for term, times in terms.items():
                self._add(sums, term, times, norms)
        return sums.astype(np.float32)

    def _inverse_norms(self) -> NDArray[np.float32]:
        average = np.float32(self.total_length / self.passages)
        return _ONE / (K1 * ((_ONE - B) + B * LENGTHS.astype(np.float32) / average))

    def _add(self, sums: NDArray[np.float64], term: int, times: int, norms: NDArray[np.float32]) -> None:
        found = [segment.postings(term) for segment in self.segments]
        holding = sum(len(rows) if self.whole else int(np.count_nonzero(self.live[rows])) for rows, _ in found)
        weight = np.float32(times) * idf(holding, self.passages)
        for rows, counts in found:
            frequency = counts.astype(np.float32)
            sums[rows] += weight - weight / (_ONE + frequency * norms[self.codes[rows]])


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
        """Merge the newest segments while the one before them is not much larger: few segments, and each posting is moved seldom."""
        size, kept = 0, len(self._segments)
        while kept and (size == 0 or len(self._segments[kept - 1].rows) <= _MERGE_RATIO * size):
            kept -= 1
            size += len(self._segments[kept].rows)
        if len(self._segments) - kept > 1:
            self._segments[kept:] = [_merged(self._segments[kept:])]

    def view(self, live: NDArray[np.bool_]) -> LexicalView:
        """The index as it is now."""
        return LexicalView(tuple(self._segments), self._codes.view(), live, self._passages, self._total, whole=bool(live.all()))


def _segment(terms: NDArray[np.int32], rows: NDArray[np.int64]) -> Segment:
    keys = np.sort((terms.astype(np.int64) << 32) | rows)
    places = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.minimum(np.diff(np.append(places, len(keys))), _MOST_FREQUENT).astype(np.uint16)
    pairs = keys[places]
    return _grouped((pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32), counts)


def _merged(segments: Sequence[Segment]) -> Segment:
    terms = np.concatenate([np.repeat(segment.terms, np.diff(segment.starts)) for segment in segments])
    order = np.argsort(terms, kind="stable")
    rows = np.concatenate([segment.rows for segment in segments])[order]
    counts = np.concatenate([segment.counts for segment in segments])[order]
    return _grouped(terms[order], rows, counts)


def _grouped(terms: NDArray[np.int32], rows: NDArray[np.int32], counts: NDArray[np.uint16]) -> Segment:
    firsts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    starts = np.append(firsts, len(terms)).astype(np.int64)
    return Segment(terms[firsts], starts, rows, counts)
