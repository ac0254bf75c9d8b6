"""Mean tokens of one run: evidence read, and what was sent to and received from language models. Counted by the run itself; no source."""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return None if result.ended == "error" else (float(result.tokens), 1.0)


METRIC = Metric("tokens", "Tokens a run", _part, "no run came to an end", higher_is_better=False, unit="tokens")
