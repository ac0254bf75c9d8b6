"""Mean share of drafted claims that the verifier supported, over runs that drafted any.

The share of claims supported by their sources, as faithfulness of RAGAS (Es et al. 2023, arXiv 2309.15217); here by the service's own verifier, so it says how
good drafts are, not how good the verifier is: that is measured on public sets.
"""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    return None if result.groundedness is None else (result.groundedness, 1.0)


METRIC = Metric("groundedness", "Groundedness", _part, "nothing was drafted")
