"""Two rankings made one. Pure: the same legs give the same order, ties by passage id, and contributions that add up to the score."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from search.query_shape import QueryShape
from search.ranking import Candidate, Fused, LegHit

EXACT_SHARE = 0.75
"""Lexical share of a question with codes or quoted phrases."""

SHORT_CHARS, SHORT_SHARE = 100, 0.2
LONG_CHARS, LONG_SHARE = 400, 0.5
_LENGTHS_OF = 20


@dataclass(frozen=True, slots=True)
class LegWeights:
    """How much each leg counts; both are in 0..1 and add up to 1."""

    lexical: float
    vector: float


EVEN = LegWeights(0.5, 0.5)


def leg_weights(shape: QueryShape, lexical: Sequence[LegHit], vector: Sequence[LegHit]) -> LegWeights:
    """Weights from what the question and the passages look like.

    Codes and quoted phrases are a matter of letters. Otherwise it depends on how much text there is to share words with: a paraphrase of a
    one-line message has few words in common with it, one of a passage of several sentences has many. The lexical share grows from 0.2 for
    passages of up to 100 characters to 0.5 from 400 on (median over the best of both legs).
    """
    best = [*lexical[:_LENGTHS_OF], *vector[:_LENGTHS_OF]]
    if shape.exact or not best:
        return LegWeights(EXACT_SHARE, 1 - EXACT_SHARE) if shape.exact else EVEN
    length = median(len(hit.candidate.passage.text) for hit in best)
    grown = min(1.0, max(0.0, (length - SHORT_CHARS) / (LONG_CHARS - SHORT_CHARS)))
    share = SHORT_SHARE + (LONG_SHARE - SHORT_SHARE) * grown
    return LegWeights(share, 1 - share)


def rrf(lexical: Sequence[LegHit], vector: Sequence[LegHit], k: int = 60, weights: LegWeights = EVEN) -> tuple[Fused, ...]:
    """Reciprocal rank fusion: ``2 · weight / (k + rank)`` of each leg, which with even weights is the plain ``Σ 1 / (k + rank)``."""
    return _fused(
        lexical,
        vector,
        {hit.candidate.passage.passage_id: 2 * weights.lexical / (k + hit.rank) for hit in lexical},
        {hit.candidate.passage.passage_id: 2 * weights.vector / (k + hit.rank) for hit in vector},
    )


def weighted(lexical: Sequence[LegHit], vector: Sequence[LegHit], weights: LegWeights = EVEN) -> tuple[Fused, ...]:
    """Min-max fusion: each leg's scores are stretched to 0..1 between its worst and best hit, weighted and added."""
    return _fused(lexical, vector, _stretched(lexical, weights.lexical), _stretched(vector, weights.vector))


def _stretched(leg: Sequence[LegHit], weight: float) -> dict[str, float]:
    if not leg:
        return {}
    worst, best = min(hit.score for hit in leg), max(hit.score for hit in leg)
    width = best - worst
    return {hit.candidate.passage.passage_id: weight * ((hit.score - worst) / width if width > 0 else 1.0) for hit in leg}


def _fused(
    lexical: Iterable[LegHit], vector: Iterable[LegHit], from_lexical: Mapping[str, float], from_vector: Mapping[str, float]
) -> tuple[Fused, ...]:
    words = {hit.candidate.passage.passage_id: hit for hit in lexical}
    meaning = {hit.candidate.passage.passage_id: hit for hit in vector}

    def one(passage_id: str, candidate: Candidate) -> Fused:
        word, sense = words.get(passage_id), meaning.get(passage_id)
        parts = from_lexical.get(passage_id, 0.0), from_vector.get(passage_id, 0.0)
        return Fused(
            candidate=candidate,
            score=parts[0] + parts[1],
            lexical_score=word.score if word else None,
            lexical_rank=word.rank if word else None,
            lexical_contribution=parts[0],
            vector_score=sense.score if sense else None,
            vector_rank=sense.rank if sense else None,
            vector_contribution=parts[1],
        )

    both = {passage_id: hit.candidate for leg in (words, meaning) for passage_id, hit in leg.items()}
    return tuple(sorted((one(passage_id, candidate) for passage_id, candidate in both.items()), key=best_first))


def best_first(fused: Fused) -> tuple[float, str]:
    """Sort key: score descending, then passage id ascending."""
    return -fused.score, fused.candidate.passage.passage_id
