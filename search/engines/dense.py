"""Exact nearest neighbours: unit vectors in blocks of one C-order float32 matrix, filtered by a mask.

Blocks never move, so growing copies nothing. Beside each block lie the short forms of its vectors, a quarter of its size: they tell which few rows can
be among the nearest at all, and only those are scored in full.
"""

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.documents import Vector, Vectors
from search.engines.heads import Basis

BLOCK_ROWS = 8_192
_FIRST_BLOCK_ROWS = 64
_SPARSE = 8
"""With fewer than one row in this many wanted, only those rows are scored."""

_LEARNED_FROM = 4_096
"""Rows from which the directions of the short forms are learned; fewer rows are scored in full."""

_SAMPLED = 16
"""One score in so many is looked at to guess where the best begin."""

_ROUNDING = np.float32(1e-5)
"""More than float32 products can differ by the place of a row in its block."""

_AT_ONCE = 1_024 * 384
"""Elements multiplied in one call: few enough that the linear algebra library stays on the thread that asked. Its own threads wait for one another, which
costs many times the product as soon as anything else runs on the machine."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DenseView:
    """The matrix at one moment: ``blocks`` hold rows ``starts[i]`` and on; ``heads`` and ``rests`` their short forms, once there is a ``basis``."""

    blocks: tuple[Vectors, ...]
    starts: tuple[int, ...]
    basis: Basis | None = None
    heads: tuple[Vectors, ...] = ()
    rests: tuple[Scores, ...] = ()

    def row(self, row: int) -> Vector:
        """The vector of a row, copied: whoever keeps it does not keep its block."""
        block = bisect.bisect_right(self.starts, row) - 1
        vector: Vector = self.blocks[block][row - self.starts[block]].copy()
        return vector

    def nearest(self, vector: Vector, wanted: NDArray[np.bool_], count: int) -> tuple[Rows, Scores]:
        """At least the ``count`` wanted rows of highest cosine, with all their ties, unordered; a row's score does not depend on where it lies."""
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return rows, np.empty(0, np.float32)
        if len(rows) > count:
            rows = self._possible(rows, len(wanted), vector, count)
        return rows, self._exactly(rows, vector)

    def _possible(self, rows: Rows, total: int, vector: Vector, count: int) -> Rows:
        """Those of ``rows`` that can be among the ``count`` nearest."""
        if self.basis is not None and len(rows) * _SPARSE >= total:
            rows = self._bounded(rows, total, vector, count, self.basis)
        scores = self._scored(rows, total, vector)
        return rows[scores >= _nth(scores, count) - _ROUNDING]

    def _bounded(self, rows: Rows, total: int, vector: Vector, count: int, basis: Basis) -> Rows:
        """The rows whose score may reach that of the ``count``-th among those with the best short forms."""
        head, rest = basis.head(vector)
        scores = _products(self.heads, self.starts, head, total)
        near = scores if len(rows) == total else scores[rows]
        promising = rows[near >= _about_nth(near, count)]
        reached = _nth(np.concatenate([part @ vector for part in self._parts(promising)]), count)
        slack = np.concatenate(self.rests)
        slack *= rest
        scores += slack
        return rows[(scores if len(rows) == total else scores[rows]) >= reached - 2 * _ROUNDING]

    def _scored(self, rows: Rows, total: int, vector: Vector) -> Scores:
        if len(rows) * _SPARSE < total:
            return np.concatenate([part @ vector for part in self._parts(rows)])
        scores = _products(self.blocks, self.starts, vector, total)
        return scores if len(rows) == total else scores[rows]

    def _exactly(self, rows: Rows, vector: Vector) -> Scores:
        """Each row by itself in double precision, rounded once: equal vectors have equal scores."""
        wide = vector.astype(np.float64)
        return np.concatenate([(part.astype(np.float64) * wide).sum(axis=1).astype(np.float32) for part in self._parts(rows)])

    def _parts(self, rows: Rows) -> Iterator[Vectors]:
        edges = np.searchsorted(rows, [*self.starts, np.iinfo(np.int64).max])
        for block, start, low, high in zip(self.blocks, self.starts, edges, edges[1:], strict=False):
            yield block[rows[low:high] - start]


def _nth(scores: Scores, count: int) -> np.float32:
    """The ``count``-th highest, or the lowest where there are fewer."""
    place = max(0, len(scores) - count)
    found: np.float32 = np.partition(scores, place)[place]
    return found


def _about_nth(scores: Scores, count: int) -> np.float32:
    """A score that at least ``count`` reach and not many more, judged by a sample."""
    guess = _nth(scores[::_SAMPLED], 2 * count // _SAMPLED + 1)
    return guess if np.count_nonzero(scores >= guess) >= count else _nth(scores, count)


def _products(blocks: Sequence[Vectors], starts: Sequence[int], vector: Vector, total: int) -> Scores:
    scores = np.empty(total, dtype=np.float32)
    size = max(1, _AT_ONCE // len(vector))
    for block, start in zip(blocks, starts, strict=True):
        for first in range(0, len(block), size):
            part = block[first : first + size]
            np.dot(part, vector, out=scores[start + first : start + first + len(part)])
    return scores


class DenseIndex:
    """The growing matrix of one tenant. One writer; any number of readers through :meth:`view`."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[Vectors] = []
        self._starts: list[int] = []
        self._rows = 0
        self._basis: Basis | None = None
        self._heads: list[Vectors] = []
        self._rests: list[Scores] = []

    def add(self, vectors: Vectors) -> None:
        """Append rows of shape (n, dimension)."""
        done = 0
        while done < len(vectors):
            room = self._room()
            taken = vectors[done : done + room]
            used = self._rows - self._starts[-1]
            self._blocks[-1][used : used + len(taken)] = taken
            if self._basis is not None:
                self._heads[-1][used : used + len(taken)], self._rests[-1][used : used + len(taken)] = self._basis.heads(taken)
            self._rows += len(taken)
            done += len(taken)
        if self._basis is None and self._rows >= _LEARNED_FROM:
            self._learn()

    def _learn(self) -> None:
        """Directions from the rows there are, and the short forms of these."""
        filled = self.view().blocks
        self._basis = Basis.of(np.concatenate(filled))
        for block, known in zip(self._blocks, filled, strict=True):
            self._add_head_room(len(block))
            self._heads[-1][: len(known)], self._rests[-1][: len(known)] = self._basis.heads(known)

    def _add_head_room(self, rows: int) -> None:
        assert self._basis is not None
        self._heads.append(np.empty((rows, self._basis.width), dtype=np.float32))
        self._rests.append(np.empty(rows, dtype=np.float32))

    def _room(self) -> int:
        room = self._starts[-1] + len(self._blocks[-1]) - self._rows if self._blocks else 0
        if room == 0:
            room = min(BLOCK_ROWS, max(_FIRST_BLOCK_ROWS, self._rows))
            self._starts.append(self._rows)
            self._blocks.append(np.empty((room, self._dimension), dtype=np.float32))
            if self._basis is not None:
                self._add_head_room(room)
        return room

    def view(self) -> DenseView:
        """The matrix as it is now."""
        return DenseView(self._filled(self._blocks), tuple(self._starts), self._basis, self._filled(self._heads), self._filled(self._rests))

    def _filled(self, blocks: Sequence[NDArray[np.float32]]) -> tuple[NDArray[np.float32], ...]:
        return tuple(block[: self._rows - start] for block, start in zip(blocks, self._starts, strict=False))
