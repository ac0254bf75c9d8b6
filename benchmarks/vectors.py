"""Embedding many texts for a benchmark, with an optional file that keeps them between runs (outside the repository)."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from search.documents import Vector
from search.ports import Embedder

_BATCH = 256


class VectorShelf:
    """Text → vector. What a file holds is computed once for each embedder."""

    def __init__(self, embedder: Embedder, file: Path | None) -> None:
        self._embedder = embedder
        self._file = file
        self._vectors: dict[str, Vector] = self._kept()

    def __getitem__(self, text: str) -> Vector:
        return self._vectors[_key(text)]

    def __contains__(self, text: str) -> bool:
        return _key(text) in self._vectors

    def add(self, texts: Iterable[str]) -> None:
        """Embed those that are not there yet, short ones first, and keep the file up to date."""
        missing = sorted({text for text in texts if text not in self}, key=lambda text: (len(text), text))
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            self._vectors.update((_key(text), vector) for text, vector in zip(batch, self._embedder.embed(batch), strict=True))
        if missing and self._file:
            keys = sorted(self._vectors)
            np.savez(
                self._file,
                model=self._embedder.model,
                keys=np.array(keys),
                vectors=np.stack([self._vectors[key] for key in keys]).astype(np.float16),
            )

    def _kept(self) -> dict[str, Vector]:
        if self._file is None or not self._file.exists():
            return {}
        with np.load(self._file) as stored:
            if str(stored["model"]) != self._embedder.model:
                return {}
            return dict(zip(stored["keys"].tolist(), stored["vectors"].astype(np.float32), strict=True))


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
