"""Share of the relevant documents among the first ten, where at most ten are counted as wanted: R_cap@10 of BEIR (Thakur et al. 2021, arXiv 2104.08663)."""

from grounding.evaluation.metrics.metric import Metric
from grounding.evaluation.metrics.ranking import DEPTH, WITHOUT, ranked


def recall(ranking: tuple[str, ...], relevant: frozenset[str]) -> float:
    """The measure of one ranking; ``relevant`` is not empty."""
    return len(relevant.intersection(ranking[:DEPTH])) / min(DEPTH, len(relevant))


METRIC = Metric("recall_at_10", "Recall@10", ranked(recall), WITHOUT)
