"""Exact nearest neighbours: unit vectors in blocks of one C-order float32 matrix, scored by a product, filtered by a mask.

Blocks never move, so growing copies nothing and the vectors are in memory once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.documents import Vector, Vectors

BLOCK_ROWS = 8_192
_FIRST_BLOCK_ROWS = 64
_SPARSE = 8
"""With fewer than one row in this many wanted, only those rows are scored."""

_ROUNDING = np.float32(1e-5)
"""More than float32 products can differ by the place of a row in its block."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DenseView:
    """The matrix at one moment: ``blocks`` hold rows ``starts[i]`` and on."""

    blocks: tuple[Vectors, ...]
    starts: tuple[int, ...]

    def nearest(self, vector: Vector, wanted: NDArray[np.bool_], count: int) -> tuple[Rows, Scores]:
        """At least the ``count`` wanted rows of highest cosine, with all their ties, unordered; a row's score does not depend on where it lies."""
        rows = np.flatnonzero(wanted)
        if not len(rows):
            return rows, np.empty(0, np.float32)
        scores = self._scored(rows, len(wanted), vector)
        if len(rows) > count:
            threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
            rows = rows[scores >= threshold - _ROUNDING]
        return rows, self._exactly(rows, vector)

    def _scored(self, rows: Rows, total: int, vector: Vector) -> Scores:
        if len(rows) * _SPARSE < total:
            return np.concatenate([part @ vector for part in self._parts(rows)])
        scores = np.empty(total, dtype=np.float32)
        for block, start in zip(self.blocks, self.starts, strict=True):
            np.dot(block, vector, out=scores[start : start + len(block)])
        return scores if len(rows) == total else scores[rows]

    def _exactly(self, rows: Rows, vector: Vector) -> Scores:
        """Each row by itself in double precision, rounded once: equal vectors have equal scores."""
        wide = vector.astype(np.float64)
        return np.concatenate([(part.astype(np.float64) * wide).sum(axis=1).astype(np.float32) for part in self._parts(rows)])

    def _parts(self, rows: Rows) -> Iterator[Vectors]:
        edges = np.searchsorted(rows, [*self.starts, np.iinfo(np.int64).max])
        for block, start, low, high in zip(self.blocks, self.starts, edges, edges[1:], strict=False):
            yield block[rows[low:high] - start]


class DenseIndex:
    """The growing matrix of one tenant. One writer; any number of readers through :meth:`view`."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[Vectors] = []
        self._starts: list[int] = []
        self._rows = 0

    def add(self, vectors: Vectors) -> None:
        """Append rows of shape (n, dimension)."""
        done = 0
        while done < len(vectors):
            room = self._room()
            taken = vectors[done : done + room]
            used = self._rows - self._starts[-1]
            self._blocks[-1][used : used + len(taken)] = taken
            self._rows += len(taken)
            done += len(taken)

    def _room(self) -> int:
        room = self._starts[-1] + len(self._blocks[-1]) - self._rows if self._blocks else 0
        if room == 0:
            room = min(BLOCK_ROWS, max(_FIRST_BLOCK_ROWS, self._rows))
            self._starts.append(self._rows)
            self._blocks.append(np.empty((room, self._dimension), dtype=np.float32))
        return room

    def view(self) -> DenseView:
        """The matrix as it is now."""
        filled = [block[: self._rows - start] for block, start in zip(self._blocks, self._starts, strict=True)]
        return DenseView(tuple(filled), tuple(self._starts))
