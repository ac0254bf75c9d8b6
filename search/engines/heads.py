"""Short forms of unit vectors that bound their products: the part that lies in the directions in which the vectors differ most, and how long the rest is.

For unit vectors *u* and *v* with short forms *h* and rests of length *r*, ``|u·v - h(u)·h(v)| <= r(u) · r(v)`` by the inequality of Cauchy and Schwarz.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.documents import Vector, Vectors

SHARE = 4
"""A short form has this fraction of the dimensions."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Directions, shape (dimension, dimension // 4), orthonormal columns."""

    directions: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Vectors) -> "Basis":
        """The leading eigenvectors of the vectors' second moments."""
        _, found = np.linalg.eigh(vectors.astype(np.float64).T @ vectors)
        leading = found[:, ::-1][:, : max(1, vectors.shape[1] // SHARE)]
        return cls(np.ascontiguousarray(leading, dtype=np.float32))

    @property
    def width(self) -> int:
        """Length of a short form."""
        return int(self.directions.shape[1])

    def heads(self, vectors: Vectors) -> tuple[Vectors, NDArray[np.float32]]:
        """Short forms, shape (n, width), and lengths of the rest, shape (n,)."""
        heads = vectors @ self.directions
        kept = np.einsum("ij,ij->i", heads, heads, dtype=np.float64)
        return heads, np.sqrt(np.maximum(0.0, 1.0 - kept)).astype(np.float32)

    def head(self, vector: Vector) -> tuple[Vector, np.float32]:
        """The same of one vector."""
        heads, rests = self.heads(vector[np.newaxis])
        return heads[0], rests[0]
