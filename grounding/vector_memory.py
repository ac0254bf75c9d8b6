"""Sentences are read by several gates, the drafter and the verifier of one run: each is embedded once."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from runtime.clock import Deadline
from search.documents import Vector, Vectors
from search.ports import Embedder
from search.ranking import Hit

MAX_REMEMBERED = 12_000
"""Texts whose vectors are kept, about 18 MB with 384 dimensions; the one longest unused makes room."""

MAX_CHARS = 2_000
"""Longer texts are not kept."""


class RememberedVectors:
    """An embedder that computes a text it was lately asked for only once. Keeps nothing but texts and vectors; thread-safe."""

    def __init__(self, embedder: Embedder, *, capacity: int = MAX_REMEMBERED) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """See :class:`search.ports.Embedder`."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """See :class:`search.ports.Embedder`."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`."""
        known = self._known(texts)
        missing = tuple(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            known |= dict(zip(missing, self._embedder.embed(missing, deadline=deadline), strict=True))
            self._keep({text: known[text] for text in missing if len(text) <= MAX_CHARS})
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[text] for text in texts])

    def remember(self, hits: Sequence[Hit]) -> None:
        """Keep the vectors that the engine holds of what was found."""
        candidates = (hit.candidate for hit in hits)
        known = {each.passage.text: each.vector for each in candidates if each.vector is not None and len(each.passage.text) <= MAX_CHARS}
        self._keep(known)

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
        return found

    def _keep(self, vectors: dict[str, Vector]) -> None:
        with self._lock:
            self._kept |= vectors
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
