"""Two rankings made one. Pure: the same legs give the same order, ties by passage id, and contributions that add up to the score."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from search.query_shape import QueryShape
from search.ranking import Fused, LegHit

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
        [2 * weights.lexical / (k + hit.rank) for hit in lexical],
        [2 * weights.vector / (k + hit.rank) for hit in vector],
    )


def weighted(lexical: Sequence[LegHit], vector: Sequence[LegHit], weights: LegWeights = EVEN) -> tuple[Fused, ...]:
    """Min-max fusion: each leg's scores are stretched to 0..1 between its worst and best hit, weighted and added."""
    return _fused(lexical, vector, _stretched(lexical, weights.lexical), _stretched(vector, weights.vector))


def _stretched(leg: Sequence[LegHit], weight: float) -> list[float]:
    scores = [hit.score for hit in leg]
    worst, best = min(scores, default=0.0), max(scores, default=0.0)
    return [weight * ((score - worst) / (best - worst) if best > worst else 1.0) for score in scores]


def _fused(
    lexical: Sequence[LegHit], vector: Sequence[LegHit], from_lexical: Sequence[float], from_vector: Sequence[float]
) -> tuple[Fused, ...]:
    words = {hit.candidate.passage.passage_id: (hit, part) for hit, part in zip(lexical, from_lexical, strict=True)}
    meaning = {hit.candidate.passage.passage_id: (hit, part) for hit, part in zip(vector, from_vector, strict=True)}
    scores = {passage_id: part for passage_id, (_, part) in words.items()}
    for passage_id, (_, part) in meaning.items():
        scores[passage_id] = scores.get(passage_id, 0.0) + part
    order = sorted(scores, key=lambda passage_id: (-scores[passage_id], passage_id))
    return tuple(_one(words.get(passage_id), meaning.get(passage_id)) for passage_id in order)


def _one(word: tuple[LegHit, float] | None, sense: tuple[LegHit, float] | None) -> Fused:
    """Either of the two is there."""
    found = word or sense
    assert found is not None
    from_words, from_meaning = (word[1] if word else 0.0), (sense[1] if sense else 0.0)
    return Fused(
        candidate=found[0].candidate,
        score=from_words + from_meaning,
        lexical_score=word[0].score if word else None,
        lexical_rank=word[0].rank if word else None,
        lexical_contribution=from_words,
        vector_score=sense[0].score if sense else None,
        vector_rank=sense[0].rank if sense else None,
        vector_contribution=from_meaning,
    )
