"""Share of the documents that answer which are cited, at most ten of them counted as wanted; the mean over cases that name their documents.

Recall with a cap as R_cap@k of BEIR (Thakur et al. 2021, arXiv 2104.08663): an answer is short, and need not cite the fortieth document that says the same.
A case that was refused or raised an error cites nothing and has 0.
"""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult

CAP = 10


def _part(result: CaseResult) -> Part | None:
    wanted = frozenset(result.expected.documents)
    if not wanted or result.expected.count is not None or result.expected.series:
        return None
    return (min(CAP, len(wanted & frozenset(result.citations))) / min(CAP, len(wanted)), 1.0)


METRIC = Metric("citation_recall", "Citation recall", _part, "no case names the documents that answer it")
