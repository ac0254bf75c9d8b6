"""Any model of the sentence-transformers library, by name or folder. An extra: the library brings torch with it."""

import threading
from collections.abc import Sequence

import numpy as np

from runtime.clock import Deadline
from runtime.errors import Misconfigured
from search.documents import Vectors

MAX_CHARS = 100_000
"""Longer text is cut here before the model's own limit applies."""

_BATCH = 32


class SentenceTransformers:
    """A model on the CPU or the library's default device. Calls are made one at a time, as the library promises nothing to threads."""

    def __init__(self, name: str, *, threads: int = 0) -> None:
        """``name`` as the library takes it: a folder, or a model that it finds in its cache or on its hub.

        Raises:
            Misconfigured: the extra is not installed, or there is no such model.
        """
        try:
            from sentence_transformers import SentenceTransformer
            from torch import set_num_threads
        except ImportError as error:
            raise Misconfigured(
                f"WA_EMBEDDER=sentence-transformers:{name} needs an extra; install it with: pip install 'wisdomagent[sentence-transformers]'"
            ) from error
        if threads:
            set_num_threads(threads)
        self._name = name
        self._lock = threading.Lock()
        try:
            self._transformer = SentenceTransformer(name)
        except Exception as error:
            raise Misconfigured(
                f"WA_EMBEDDER=sentence-transformers:{name} names no model that can be loaded: {_first_line(error)}"
            ) from error
        self._dimension = int(self._computed(["dimension"]).shape[1])

    @property
    def model(self) -> str:
        """``sentence-transformers:`` and the name."""
        return f"sentence-transformers:{self._name}"

    @property
    def dimension(self) -> int:
        """Length of the model's vectors."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """See :class:`search.ports.Embedder`. Text is cut at the model's own limit; equal texts are computed once.

        Raises:
            DeadlineExceeded: the deadline passed between two batches.
        """
        if not texts:
            return np.empty((0, self._dimension), np.float32)
        distinct = list(dict.fromkeys(texts))
        by_length = sorted(range(len(distinct)), key=lambda row: len(distinct[row]))
        vectors = np.empty((len(distinct), self._dimension), np.float32)
        for start in range(0, len(distinct), _BATCH):
            if deadline is not None:
                deadline.check("computing vectors")
            rows = by_length[start : start + _BATCH]
            vectors[rows] = self._computed([distinct[row] for row in rows])
        row_of = {text: row for row, text in enumerate(distinct)}
        return vectors[[row_of[text] for text in texts]]

    def _computed(self, texts: list[str]) -> Vectors:
        sendable = [text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8") for text in texts]
        with self._lock:
            found = self._transformer.encode(
                sendable, batch_size=_BATCH, convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False
            )
        vectors: Vectors = np.asarray(found, np.float32)
        return vectors


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
