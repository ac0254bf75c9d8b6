"""Mean of one over the place of the first relevant document among the first ten, 0 without one: MRR as in TREC-8 question answering (Voorhees 1999)."""

from grounding.evaluation.metrics.metric import Metric
from grounding.evaluation.metrics.ranking import DEPTH, WITHOUT, ranked


def reciprocal_rank(ranking: tuple[str, ...], relevant: frozenset[str]) -> float:
    """The measure of one ranking."""
    return next((1 / place for place, doc_id in enumerate(ranking[:DEPTH], 1) if doc_id in relevant), 0.0)


METRIC = Metric("mrr_at_10", "MRR@10", ranked(reciprocal_rank), WITHOUT)
