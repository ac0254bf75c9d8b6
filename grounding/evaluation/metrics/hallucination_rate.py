"""Share of answers that assert what they must not: an answer where nothing answers, a wrong number, a forbidden text, a quote that does not stand in its
document, a sentence without ground.

After the share of hallucinated responses of RAGTruth (Niu et al. 2024, arXiv 2401.00396). Over answers only, so that refusing everything leaves it
undefined instead of perfect.
"""

from grounding.evaluation.metrics.metric import Metric, Part, share
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return share(result.invented) if result.ended == "answered" else None


METRIC = Metric("hallucination_rate", "Hallucination", _part, "nothing was answered", higher_is_better=False)
