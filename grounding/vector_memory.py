"""Sentences are read by several gates, the drafter and the verifier of one run: each is embedded once. Where they can do without, they do."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from runtime.clock import Deadline, halfway, within
from runtime.errors import Misconfigured, Unavailable
from search.documents import Vector, Vectors
from search.ports import Embedder
from search.ranking import Retrieval

MAX_REMEMBERED = 12_000
"""Texts whose vectors are kept, the one longest unused makes room: about 2 KB each with 384 dimensions and a sentence of a hundred characters, 24 MB in all,
and 40 MB more where every text is as long as may be."""

MAX_CHARS = 2_000
"""Longer texts are not kept."""


@dataclass(slots=True)
class Loss:
    """Why a body had to do without vectors; empty as long as it did not."""

    deadline: Deadline
    why: str = ""


_LOSS: ContextVar[Loss | None] = ContextVar("loss", default=None)


class RememberedVectors:
    """An embedder that computes a text it was lately asked for only once, for each model. Keeps nothing but texts and vectors; thread-safe."""

    def __init__(self, embedder: Embedder, *, capacity: int = MAX_REMEMBERED) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, str], Vector] = OrderedDict()
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
        """See :class:`search.ports.Embedder`. In the body of :meth:`dispensable` nothing is raised."""
        known = self._known(texts)
        missing = tuple(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            computed = self._computed(missing, deadline)
            known |= dict.fromkeys(missing, np.zeros(self.dimension, np.float32)) | computed
            self._keep({text: vector.copy() for text, vector in computed.items() if len(text) <= MAX_CHARS})  # a row alone, not its batch
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[text] for text in texts])

    @contextmanager
    def dispensable(self, deadline: Deadline) -> Iterator[Loss]:
        """In the body, a text whose vector cannot be had gets one of zeros, which is near nothing: every gate that asks for nearness becomes stricter.
        The embedder has half of the time that is left and is left alone once it failed, so that the words have the other half."""
        token = _LOSS.set(loss := Loss(deadline))
        try:
            yield loss
        finally:
            _LOSS.reset(token)

    def remember(self, found: Retrieval) -> None:
        """Keep the vector of the question, and those that the engine holds of what was found."""
        candidates = (hit.candidate for hit in found.hits)
        told = ((found.query, found.vector), *((each.passage.text, each.vector) for each in candidates))
        self._keep({text: vector for text, vector in told if vector is not None and len(text) <= MAX_CHARS})

    def _computed(self, texts: Sequence[str], deadline: Deadline | None) -> dict[str, Vector]:
        loss = _LOSS.get()
        if loss is None:
            return dict(zip(texts, self._embedder.embed(texts, deadline=deadline), strict=True))
        if loss.why:
            return {}
        try:
            with within(halfway(loss.deadline)):
                return dict(zip(texts, self._embedder.embed(texts, deadline=deadline), strict=True))
        except (Unavailable, Misconfigured) as error:
            loss.why = f"the embedder did not answer ({error})"
            return {}

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        model = self.model
        with self._lock:
            found = {text: self._kept[model, text] for text in texts if (model, text) in self._kept}
            for text in found:
                self._kept.move_to_end((model, text))
        return found

    def _keep(self, vectors: dict[str, Vector]) -> None:
        model = self.model
        with self._lock:
            self._kept |= {(model, text): vector for text, vector in vectors.items()}
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
