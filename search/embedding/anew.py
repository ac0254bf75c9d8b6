"""Passages of documents that are written already, embedded with another model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from search.documents import DocumentWrite
from search.ports import Embedder


def embedded_anew(writes: Sequence[DocumentWrite], embedder: Embedder) -> list[DocumentWrite]:
    """The same writes with vectors of this embedder; a text that is there several times is embedded once."""
    texts = [text for write in writes for text in embedded_texts(write)]
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    vectors = embedder.embed(list(place))[[place[text] for text in texts]]
    bounds = np.cumsum([0, *(len(write.passages) for write in writes)])
    return [replace(write, vectors=vectors[bounds[n] : bounds[n + 1]]) for n, write in enumerate(writes)]


def embedded_texts(write: DocumentWrite) -> Iterator[str]:
    """What is embedded of each passage: as at ingest, the title before it."""
    title = write.document.title
    return (f"{title}\n{passage.text}" if title else passage.text for passage in write.passages)
