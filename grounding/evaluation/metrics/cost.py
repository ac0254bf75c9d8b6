"""Mean cost of one run: tokens of language models times the prices in the settings, in whatever currency those are. 0 where no model spoke; no source."""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return None if result.ended == "error" else (result.cost, 1.0)


METRIC = Metric("cost", "Cost a run", _part, "no run came to an end", higher_is_better=False, unit="cost")
