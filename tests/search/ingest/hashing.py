"""An embedder that needs no model: the same words give the same vector, on every machine."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from runtime.clock import Deadline
from search.documents import Vectors


class HashingEmbedder:
    """Adds up one fixed random direction per word; remembers how many texts it was asked for."""

    model = "hashing-32"
    dimension = 32

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`."""
        if deadline is not None:
            deadline.check("embedding")
        self.texts += texts
        rows = np.stack([self._one(text) for text in texts]) if texts else np.zeros((0, self.dimension))
        return rows.astype(np.float32)

    def _one(self, text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        total = np.sum([self._direction(word) for word in text.lower().split() or [text]], axis=0)
        unit: np.ndarray[tuple[int], np.dtype[np.float64]] = total / np.linalg.norm(total)
        return unit

    @staticmethod
    @cache
    def _direction(word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(HashingEmbedder.dimension)
