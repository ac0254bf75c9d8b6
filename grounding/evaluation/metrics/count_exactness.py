"""Share of cases with expected numbers in which every one of them is proven exactly: a near miss is a miss.

Exact match of numbers as in DROP (Dua et al. 2019, arXiv 1903.00161), on proven values in place of text.
A case that was refused, raised an error or proves no number is not exact.
"""

from grounding.evaluation.metrics.metric import Metric, Part, share
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    if result.expected.count is None and not result.expected.series:
        return None
    wrong = any(problem.check in ("count", "series") for problem in result.problems)
    return share(result.ended == "answered" and not wrong)


METRIC = Metric("count_exactness", "Counts exact", _part, "no case expects a number")
