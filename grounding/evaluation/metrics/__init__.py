"""The metrics, one a module, in the order they are shown."""

from grounding.evaluation.metrics import (
    citation_precision,
    citation_recall,
    claim_support,
    cost,
    count_exactness,
    error_rate,
    exact_rate,
    groundedness,
    hallucination_rate,
    latency,
    ndcg,
    recall,
    reciprocal_rank,
    refusals,
    tokens,
)
from grounding.evaluation.metrics.metric import Metric

METRICS: tuple[Metric, ...] = (
    exact_rate.METRIC,
    hallucination_rate.METRIC,
    refusals.PRECISION,
    refusals.RECALL,
    refusals.OVER_REFUSAL,
    refusals.REASON_ACCURACY,
    citation_precision.METRIC,
    citation_recall.METRIC,
    groundedness.METRIC,
    claim_support.METRIC,
    count_exactness.METRIC,
    ndcg.METRIC,
    recall.METRIC,
    reciprocal_rank.METRIC,
    error_rate.METRIC,
    *latency.METRICS,
    tokens.METRIC,
    cost.METRIC,
)

BY_NAME = {metric.name: metric for metric in METRICS}
