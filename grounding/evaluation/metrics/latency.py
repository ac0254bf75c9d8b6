"""Seconds of wall clock of one run of ``ask``: quantiles by nearest rank (Hyndman & Fan 1996, definition 1), over runs that raised no error."""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return None if result.ended == "error" else (result.seconds, 1.0)


METRICS = tuple(
    Metric(
        f"latency_p{percent}",
        f"Latency p{percent}",
        _part,
        "no run came to an end",
        higher_is_better=False,
        unit="seconds",
        quantile=percent / 100,
    )
    for percent in (50, 95, 99)
)
