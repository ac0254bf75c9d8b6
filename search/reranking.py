"""The fused list, reordered by named features. Pure: contributions add up to the score, ties by passage id, and no clock but the one passed in."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from search.agreement import agreements, rarity, terms_of
from search.analysis import MAX_QUERY_TERMS, content_terms, query_terms, tokens
from search.fusion import EVEN, LegWeights
from search.query_shape import QueryShape
from search.ranking import Candidate, Feature, Fused

WEIGHTS: Mapping[str, float] = {
    "relevance": 0.3,
    "strength": 0.9,
    "agreement": 1.25,
    "proximity": 0.25,
    "coverage": 0.1,
    "code": 2.0,
    "phrase": 1.0,
    "source": 0.02,
    "recency": 0.02,
}
"""What each feature counts; ``benchmarks/retrieval_quality.py`` measures the table. Source and recency only settle what is otherwise even."""

HALF_LIFE_DAYS = 180.0
_MAX_QUERY_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its final order; ``score`` is the sum of the contributions."""

    fused: Fused
    score: float
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """What the features look at: the question, the candidates with their terms, and how rare each term is among them."""

    query: str
    shape: QueryShape
    fused: tuple[Fused, ...]
    terms: tuple[tuple[str, ...], ...]
    counts: tuple[Mapping[str, int], ...]
    rare: Mapping[str, float]
    wording: float
    now: datetime

    @classmethod
    def of(cls, query: str, shape: QueryShape, fused: Sequence[Fused], weights: LegWeights, now: datetime | None) -> "Pool":
        """Analyse the passages once for all features."""
        terms = tuple(terms_of(_text(one.candidate)) for one in fused)
        counts = tuple(Counter(passage) for passage in terms)
        now = now or max(one.candidate.occurred_at for one in fused)
        return cls(query[:_MAX_QUERY_CHARS], shape, tuple(fused), terms, counts, rarity(counts), 2 * weights.lexical, now)


def rerank(
    query: str,
    shape: QueryShape,
    fused: Sequence[Fused],
    *,
    weights: LegWeights = EVEN,
    top_k: int | None = None,
    now: datetime | None = None,
) -> tuple[Ranked, ...]:
    """Reorder candidates that come best first; the first ``top_k`` of them, or all.

    ``relevance`` is the fused score, stretched to 1 for the best candidate and 0 for the last. ``strength`` is the scores of both legs, stretched
    alike and weighted by ``weights``: ranks alone do not tell a clear winner from a close one. ``agreement`` is how much a passage says what the
    best ones say; ``coverage`` the share of the question's words it holds, rare ones counting more; ``proximity`` the share of the question's
    neighbouring words that are near each other in it. The last two are multiplied by twice the lexical share of ``weights``: they matter as much
    as words matter to this question.
    ``code`` and ``phrase`` are 0 unless the question has some that at least one candidate holds; then they run from 1 (all held) to -1 (none).
    ``source`` is the source's weight above or below 0.5; ``recency`` halves every 180 days before ``now``, without which the newest candidate sets
    the time, so that the same store gives the same scores tomorrow.
    """
    if not fused:
        return ()
    pool = Pool.of(query, shape, fused, weights, now)
    columns = {name: measure(pool) for name, measure in _MEASURES.items()}
    scores = [math.fsum(WEIGHTS[name] * column[row] for name, column in columns.items()) for row in range(len(fused))]
    order = sorted(range(len(fused)), key=lambda row: (-scores[row], fused[row].candidate.passage.passage_id))[:top_k]
    return tuple(Ranked(fused[row], scores[row], _features(columns, row)) for row in order)


def _features(columns: Mapping[str, Sequence[float]], row: int) -> tuple[Feature, ...]:
    return tuple(Feature(name, column[row], WEIGHTS[name], WEIGHTS[name] * column[row]) for name, column in columns.items())


def _relevance(pool: Pool) -> list[float]:
    return _stretched([one.score for one in pool.fused])


def _strength(pool: Pool) -> list[float]:
    words = _stretched([one.lexical_score for one in pool.fused])
    meaning = _stretched([one.vector_score for one in pool.fused])
    share = pool.wording / 2
    return [share * word + (1 - share) * sense for word, sense in zip(words, meaning, strict=True)]


def _stretched(scores: Sequence[float | None]) -> list[float]:
    """0 for the lowest score and where there is none, 1 for the highest."""
    known = [score for score in scores if score is not None]
    if not known:
        return [0.0] * len(scores)
    worst, best = min(known), max(known)
    return [0.0 if score is None else (score - worst) / (best - worst) if best > worst else 1.0 for score in scores]


def _agreement(pool: Pool) -> list[float]:
    relevance, strength = WEIGHTS["relevance"], WEIGHTS["strength"]
    heard = [relevance * place + strength * score for place, score in zip(_relevance(pool), _strength(pool), strict=True)]
    return [float(value) for value in agreements(pool.counts, [one / max(heard) for one in heard], pool.rare)]


def _coverage(pool: Pool) -> list[float]:
    asked = list(dict.fromkeys(content_terms(pool.query)))[:MAX_QUERY_TERMS] or list(query_terms(pool.query))
    rare = {term: pool.rare[term] for term in asked if term in pool.rare}
    total = sum(rare.values())
    return [pool.wording * sum(rare[term] for term in rare if term in counts) / total if total else 0.0 for counts in pool.counts]


def _proximity(pool: Pool) -> list[float]:
    asked = tokens(pool.query)[:MAX_QUERY_TERMS]
    pairs = {frozenset(pair) for pair in pairwise(asked)}
    return [pool.wording * len(pairs & _near(terms, frozenset(asked))) / len(pairs) if pairs else 0.0 for terms in pool.terms]


def _near(terms: Sequence[str], asked: frozenset[str]) -> set[frozenset[str]]:
    """The pairs of asked terms that stand side by side, in either order, or with one other term between them."""
    places = [(place, term) for place, term in enumerate(terms) if term in asked]
    near = [*pairwise(places), *zip(places, places[2:], strict=False)]
    return {frozenset((left, right)) for (start, left), (end, right) in near if end - start <= 2}


def _code(pool: Pool) -> list[float]:
    return _insisted([[code.strength(_text(one.candidate)) for one in pool.fused] for code in pool.shape.codes], len(pool.fused))


def _phrase(pool: Pool) -> list[float]:
    wanted = [phrase for quoted in pool.shape.phrases if (phrase := tuple(tokens(quoted)))]
    return _insisted([[float(_holds(terms, phrase)) for terms in pool.terms] for phrase in wanted], len(pool.fused))


def _insisted(rows: Sequence[Sequence[float]], size: int) -> list[float]:
    """One row per thing asked for, of strengths in 0..1; a thing that nobody has tells nothing."""
    told = [row for row in rows if any(row)]
    return [2 * sum(row[place] for row in told) / len(told) - 1 for place in range(size)] if told else [0.0] * size


def _holds(terms: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(terms[start : start + size]) == phrase for start in range(len(terms) - size + 1))


def _source(pool: Pool) -> list[float]:
    return [2 * one.candidate.source.weight - 1 for one in pool.fused]


def _recency(pool: Pool) -> list[float]:
    ages = [(pool.now - one.candidate.occurred_at).total_seconds() / 86_400 for one in pool.fused]
    return [0.5 ** (max(0.0, age) / HALF_LIFE_DAYS) for age in ages]


def _text(candidate: Candidate) -> str:
    return f"{candidate.title}\n{candidate.passage.text}" if candidate.title else candidate.passage.text


_MEASURES: Mapping[str, Callable[[Pool], list[float]]] = {
    "relevance": _relevance,
    "strength": _strength,
    "agreement": _agreement,
    "coverage": _coverage,
    "proximity": _proximity,
    "code": _code,
    "phrase": _phrase,
    "source": _source,
    "recency": _recency,
}
