"""How much a passage says what the best-ranked passages say: relevance feedback over the words of the candidates themselves."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.analysis import tokens

VOICES = 20
SHARPNESS = 3
_ANALYSED_CHARS = 4_000


@lru_cache(maxsize=2048)
def terms_of(text: str) -> tuple[str, ...]:
    """The terms of a passage in order (of its first 4,000 characters), kept for the passages that were looked at last."""
    return tuple(tokens(text[:_ANALYSED_CHARS]))


def rarity(passages: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """How much each term tells the candidates apart: ``log(1 + n / count)`` over the candidates alone, so that what they all speak of still counts."""
    counted = Counter(term for passage in passages for term in passage)
    return {term: math.log(1 + len(passages) / count) for term, count in counted.items()}


def agreements(passages: Sequence[Mapping[str, int]], relevance: Sequence[float], rare: Mapping[str, float]) -> NDArray[np.float32]:
    """For each passage, shape (n,), in 0..1: the cosine between its terms and the weighted terms of the most relevant *other* passages.

    ``relevance`` in 0..1; the first 20 passages have a voice, weighted by the third power of their relevance, so that a clear winner is followed and
    a flat ranking is averaged. Terms are weighted by ``(1 + log count) · √rarity``.
    """
    if len(passages) < 2:
        return np.zeros(len(passages), np.float32)
    alike = _similarities(passages, rare)
    voices = np.zeros(len(passages), np.float32)
    voices[:VOICES] = np.clip(np.asarray(relevance[:VOICES], np.float32), 0, 1) ** SHARPNESS
    heard = alike @ voices
    own = voices * np.diag(alike)
    others = heard - own
    length = np.sqrt(np.maximum(voices @ heard - 2 * voices * others - voices * own, 1e-9))
    agreed: NDArray[np.float32] = np.clip(others / length, 0, 1).astype(np.float32)
    return agreed


def _similarities(passages: Sequence[Mapping[str, int]], rare: Mapping[str, float]) -> NDArray[np.float32]:
    place = {term: column for column, term in enumerate(rare)}
    table = np.zeros((len(passages), len(place)), np.float32)
    for row, passage in enumerate(passages):
        columns = [place[term] for term in passage]
        table[row, columns] = [1 + math.log(count) for count in passage.values()]
    table *= np.sqrt(np.fromiter(rare.values(), np.float32, len(rare)))
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    similar: NDArray[np.float32] = table @ table.T
    return similar
