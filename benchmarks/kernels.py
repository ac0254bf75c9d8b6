"""The kernels whose growth the docs claim, each prepared at a size."""

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from benchmarks.complexity import Kernel, words
from search.analysis import tokens
from search.documents import Document, Source
from search.engines.dense import DenseIndex
from search.engines.lexical import LexicalIndex
from search.identity import normalised
from search.passages import split

Call = Callable[[], object]

_WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def _analyse(size: int) -> Call:
    text = words(size)
    return lambda: tokens(text)


def _split(size: int) -> Call:
    document = Document("d", Source("benchmark"), words(size), _WHEN)
    return lambda: split(document)


def _split_unbroken(size: int) -> Call:
    document = Document("d", Source("benchmark"), "z" * size, _WHEN)
    return lambda: split(document)


def _normalise(size: int) -> Call:
    text = words(size)
    return lambda: normalised(text)


def _streams(size: int) -> list[NDArray[np.int32]]:
    rng = np.random.default_rng(size)
    return [rng.zipf(1.3, size=12).clip(max=20_000).astype(np.int32) for _ in range(size)]


def _bm25_build(size: int) -> Call:
    streams = _streams(size)
    return lambda: LexicalIndex().add(streams)


def _bm25_query(size: int) -> Call:
    index = LexicalIndex()
    index.add(_streams(size))
    view = index.view(np.ones(size, dtype=bool))
    return lambda: view.scores({1: 1, 2: 1, 50: 1, 300: 1})


def _vector_query(size: int) -> Call:
    """Vectors without any structure, for which short forms rule nothing out: the worst case. All sizes are beyond the one from which there are any."""
    rng = np.random.default_rng(size)
    vectors = rng.normal(size=(size, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = DenseIndex(384)
    index.add(vectors)
    view, wanted = index.view(), np.ones(size, dtype=bool)
    return lambda: view.nearest(vectors[0], wanted, 100)


KERNELS: tuple[Kernel, ...] = (
    Kernel("analyse text", "O(characters)", 1.25, (2_000, 8_000, 32_000, 128_000), _analyse),
    Kernel("split text", "O(characters)", 1.25, (2_000, 8_000, 32_000, 128_000), _split),
    Kernel("split unbroken text", "O(characters)", 1.25, (20_000, 80_000, 320_000, 1_280_000), _split_unbroken),
    Kernel("normalise text", "O(characters)", 1.25, (2_000, 8_000, 32_000, 128_000), _normalise),
    Kernel("bm25 build", "O(postings)", 1.4, (2_000, 8_000, 32_000, 128_000), _bm25_build),
    Kernel("bm25 query", "O(postings)", 1.25, (2_000, 8_000, 32_000, 128_000), _bm25_query),
    Kernel("vector query", "O(passages)", 1.35, (32_000, 64_000, 128_000, 256_000), _vector_query),
)
