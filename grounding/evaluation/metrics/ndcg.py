"""Normalised discounted cumulative gain of the first ten documents, binary grades: sum of 1/log2(place + 1) over relevant places, divided by the best possible.

Järvelin & Kekäläinen 2002 (ACM TOIS 20(4)).
"""

from math import log2

from grounding.evaluation.metrics.metric import Metric
from grounding.evaluation.metrics.ranking import DEPTH, WITHOUT, ranked


def ndcg(ranking: tuple[str, ...], relevant: frozenset[str]) -> float:
    """The measure of one ranking; ``relevant`` is not empty."""
    gain = sum(1 / log2(place + 1) for place, doc_id in enumerate(ranking[:DEPTH], 1) if doc_id in relevant)
    return gain / sum(1 / log2(place + 1) for place in range(1, min(DEPTH, len(relevant)) + 1))


METRIC = Metric("ndcg_at_10", "nDCG@10", ranked(ndcg), WITHOUT)
