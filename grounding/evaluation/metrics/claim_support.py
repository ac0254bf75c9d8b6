"""Mean support of the claims that left, each claim counted once; the verifier's score of how far the cited words carry the sentence.

An average of entailment scores over claims as in SummaC (Laban et al. 2022, arXiv 2111.09525). Like groundedness it is the verifier's own report.
"""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return (sum(result.supports), len(result.supports)) if result.supports else None


METRIC = Metric("claim_support", "Claim support", _part, "no claim left")
