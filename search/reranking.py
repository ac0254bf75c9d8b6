"""The fused list, reordered by named features. Pure: contributions add up to the score, ties by passage id, and no clock but the one passed in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from search.analysis import MAX_QUERY_TERMS, content_terms, query_terms, tokens, words
from search.fusion import EVEN, LegWeights
from search.query_shape import QueryShape
from search.ranking import Candidate, Feature, Fused
from search.term_table import Floats, Ids, TermTable, ids_of, passage_terms

WEIGHTS: Mapping[str, float] = {
    "relevance": 0.3,
    "strength": 0.9,
    "agreement": 1.25,
    "proximity": 0.25,
    "coverage": 0.1,
    "keywords": 0.8,
    "code": 2.0,
    "phrase": 1.0,
    "source": 0.02,
    "recency": 0.02,
}
"""What each feature counts; ``benchmarks/retrieval_quality.py`` measures the table. Source and recency only settle what is otherwise even."""

HALF_LIFE_DAYS = 180.0
_MAX_QUERY_CHARS = 10_000
_FEW_WORDS = (2, 4)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its final order; ``score`` is the sum of the contributions."""

    fused: Fused
    score: float
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """What the features look at: the question, and the candidates with their terms. ``wording`` is twice the lexical share."""

    query: str
    shape: QueryShape
    fused: tuple[Fused, ...]
    terms: tuple[Ids, ...]
    table: TermTable
    wording: float
    now: datetime

    @classmethod
    def of(cls, query: str, shape: QueryShape, fused: Sequence[Fused], weights: LegWeights, now: datetime | None) -> "Pool":
        """Analyse the passages once for all features."""
        terms = tuple(passage_terms(_text(one.candidate)) for one in fused)
        now = now or max(one.candidate.occurred_at for one in fused)
        return cls(query[:_MAX_QUERY_CHARS], shape, tuple(fused), terms, TermTable(terms), 2 * weights.lexical, now)


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
    as words matter to this question. ``keywords`` is 1 where a passage holds every word of a question of two to four words: who types so few
    means all of them. In a longer question with as few content words it is the square of twice the lexical share instead, so that it does not
    overrule meaning among short messages.
    ``code`` and ``phrase`` are 0 unless the question has some that at least one candidate holds; then they run from 1 (all held) to -1 (none).
    ``source`` is the source's weight above or below 0.5; ``recency`` halves every 180 days before ``now``, without which the newest candidate sets
    the time, so that the same store gives the same scores tomorrow.
    """
    if not fused:
        return ()
    pool = Pool.of(query, shape, fused, weights, now)
    values = np.array([measure(pool) for measure in _MEASURES.values()], np.float64)
    scores = (np.array([[WEIGHTS[name]] for name in _MEASURES]) * values).sum(axis=0).tolist()  # term by term: equal candidates stay equal
    order = sorted(range(len(fused)), key=lambda row: (-scores[row], fused[row].candidate.passage.passage_id))[:top_k]
    return tuple(_ranked(fused[row], scores[row], values[:, row].tolist()) for row in order)


def _ranked(fused: Fused, score: float, values: Sequence[float]) -> Ranked:
    features = tuple(Feature(name, value, WEIGHTS[name], value * WEIGHTS[name]) for name, value in zip(_MEASURES, values, strict=True))
    return Ranked(fused, score, features)


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


def _agreement(pool: Pool) -> Floats:
    relevance, strength = WEIGHTS["relevance"], WEIGHTS["strength"]
    heard = [relevance * place + strength * score for place, score in zip(_relevance(pool), _strength(pool), strict=True)]
    loudest = max(heard)
    return pool.table.agreement([one / loudest for one in heard])


def _coverage(pool: Pool) -> Floats:
    asked = list(dict.fromkeys(content_terms(pool.query)))[:MAX_QUERY_TERMS] or list(query_terms(pool.query))
    return pool.wording * pool.table.coverage(ids_of(asked))


def _keywords(pool: Pool) -> Floats:
    asked = ids_of(sorted(set(content_terms(pool.query))))
    if not _FEW_WORDS[0] <= len(asked) <= _FEW_WORDS[1]:
        return np.zeros(len(pool.fused))
    typed = len(words(pool.query)) <= _FEW_WORDS[1]
    return pool.table.holding_all(asked) * (1.0 if typed else min(1.0, pool.wording**2))


def _proximity(pool: Pool) -> Floats:
    return pool.wording * pool.table.proximity(ids_of(tokens(pool.query)[:MAX_QUERY_TERMS]))


def _code(pool: Pool) -> list[float]:
    return _insisted([[code.strength(_text(one.candidate)) for one in pool.fused] for code in pool.shape.codes], len(pool.fused))


def _phrase(pool: Pool) -> list[float]:
    wanted = [phrase for quoted in pool.shape.phrases if len(phrase := ids_of(tokens(quoted)))]
    return _insisted([[float(_holds(terms, phrase)) for terms in pool.terms] for phrase in wanted], len(pool.fused))


def _insisted(rows: Sequence[Sequence[float]], size: int) -> list[float]:
    """One row per thing asked for, of strengths in 0..1; a thing that nobody has tells nothing."""
    told = [row for row in rows if any(row)]
    return [2 * sum(row[place] for row in told) / len(told) - 1 for place in range(size)] if told else [0.0] * size


def _holds(terms: Ids, phrase: Ids) -> bool:
    return len(terms) >= len(phrase) and bool((sliding_window_view(terms, len(phrase)) == phrase).all(axis=1).any())


def _source(pool: Pool) -> list[float]:
    return [2 * one.candidate.source.weight - 1 for one in pool.fused]


def _recency(pool: Pool) -> list[float]:
    ages = [(pool.now - one.candidate.occurred_at).total_seconds() / 86_400 for one in pool.fused]
    return [0.5 ** (max(0.0, age) / HALF_LIFE_DAYS) for age in ages]


def _text(candidate: Candidate) -> str:
    return f"{candidate.title}\n{candidate.passage.text}" if candidate.title else candidate.passage.text


_MEASURES: Mapping[str, Callable[[Pool], Sequence[float] | Floats]] = {
    "relevance": _relevance,
    "strength": _strength,
    "agreement": _agreement,
    "coverage": _coverage,
    "keywords": _keywords,
    "proximity": _proximity,
    "code": _code,
    "phrase": _phrase,
    "source": _source,
    "recency": _recency,
}
