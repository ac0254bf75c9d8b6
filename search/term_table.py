"""The words of some passages side by side: which passage holds which term, how rare a term is among them, who says what the others say."""

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from search.analysis import tokens

VOICES, SHARPNESS = 20, 3
_ANALYSED_CHARS = 4_000

Ids = NDArray[np.uint32]
Floats = NDArray[np.float64]


@lru_cache(maxsize=4096)
def passage_terms(text: str) -> Ids:
    """The terms of a text (of its first 4,000 characters) in order, kept for the passages that were looked at last."""
    return ids_of(tokens(text[:_ANALYSED_CHARS]))


def ids_of(terms: Iterable[str]) -> Ids:
    """A number for each term, the same in every process."""
    return np.array([_number(term) for term in terms], np.uint32)


@lru_cache(maxsize=131_072)
def _number(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


class TermTable:
    """Passages by terms, stored as one row per pair of passage and term that occurs."""

    def __init__(self, passages: Sequence[Ids]) -> None:
        self._passages = tuple(passages)
        self._order = np.concatenate([*passages, np.empty(0, np.uint32)])
        self._order_owners = np.repeat(np.arange(len(passages)), [len(passage) for passage in passages])
        pairs, times = np.unique(self._order_owners.astype(np.uint64) << np.uint64(32) | self._order, return_counts=True)
        self._owners = (pairs >> np.uint64(32)).astype(np.intp)
        self._terms, self._columns, counts = np.unique(pairs.astype(np.uint32), return_inverse=True, return_counts=True)
        self._rarity = np.log1p(len(passages) / np.maximum(counts, 1))
        self._weights = self._unit(1 + np.log(times))

    def _unit(self, weights: Floats) -> Floats:
        scaled = weights * np.sqrt(self._rarity[self._columns])
        lengths = np.sqrt(np.bincount(self._owners, scaled**2, len(self._passages)))
        unit: Floats = scaled / np.maximum(lengths, 1e-9)[self._owners]
        return unit

    def agreement(self, relevance: Sequence[float]) -> Floats:
        """For each passage, shape (n,), in 0..1: the cosine between its terms and the weighted terms of the most relevant *other* passages.

        The first 20 passages have a voice, weighted by the third power of ``relevance`` (in 0..1), so that a clear winner is followed and a flat ranking
        is averaged. Terms are weighted by ``(1 + log count) · √log(1 + n / passages with it)``: what all speak of still counts.
        """
        voices = np.zeros(len(self._passages))
        voices[:VOICES] = np.clip(relevance[:VOICES], 0, 1) ** SHARPNESS
        said = np.bincount(self._columns, self._weights * voices[self._owners], len(self._terms))
        heard = np.bincount(self._owners, self._weights * said[self._columns], len(self._passages))
        own = voices * (np.bincount(self._owners, minlength=len(self._passages)) > 0)
        others = np.sqrt(np.maximum(said @ said - 2 * own * heard + own**2, 1e-9))
        agreed: Floats = np.clip((heard - own) / others, 0, 1)
        return agreed

    def coverage(self, asked: Ids) -> Floats:
        """For each passage, shape (n,), in 0..1: the share of the asked terms it holds, each weighted by its rarity; terms nobody holds do not count."""
        wanted = np.isin(self._terms, asked)
        rare = np.where(wanted, self._rarity, 0.0)
        total = rare.sum()
        held: Floats = np.bincount(self._owners, rare[self._columns], len(self._passages)) / max(total, 1e-9)
        return held

    def holding_all(self, asked: Ids) -> Floats:
        """For each passage, shape (n,): 1 where it holds every one of the asked terms (distinct, at least one), else 0."""
        held = np.bincount(self._owners, np.isin(self._terms, asked)[self._columns], len(self._passages))
        every: Floats = (held == len(asked)).astype(np.float64)
        return every

    def proximity(self, asked: Ids) -> Floats:
        """For each passage, shape (n,), in 0..1: the share of the question's neighbouring terms that stand side by side in it, in either order, or
        with one other term between them."""
        wanted = np.unique(_pairs(asked[:-1], asked[1:]))
        if not len(wanted):
            return np.zeros(len(self._passages))
        order, owners = self._order, self._order_owners
        places = np.flatnonzero(np.isin(order, asked))
        near = np.concatenate([_near(order, owners, places, apart) for apart in (1, 2)], axis=1)
        held = np.unique(near[:, np.isin(near[1], wanted)], axis=1)
        shares: Floats = np.bincount(held[0].astype(np.int64), minlength=len(self._passages)) / len(wanted)
        return shares


def _near(order: Ids, owners: NDArray[np.int64], places: NDArray[np.int64], apart: int) -> NDArray[np.uint64]:
    """Owner and pair, shape (2, n), of terms at ``places`` that many hits apart and at most two places from each other."""
    left, right = places[:-apart], places[apart:]
    close = (right - left <= 2) & (owners[left] == owners[right])
    left, right = left[close], right[close]
    return np.stack([owners[left].astype(np.uint64), _pairs(order[left], order[right])])


def _pairs(left: Ids, right: Ids) -> NDArray[np.uint64]:
    """One number for each unordered pair."""
    low, high = np.minimum(left, right).astype(np.uint64), np.maximum(left, right).astype(np.uint64)
    return (low << np.uint64(32)) | high
