"""Share of citations that name a document which answers the question.

Citation precision of Liu et al. 2023 (arXiv 2304.09848), with the case's own documents as the judgement in place of a rater. Over answers to cases that name
their documents; each citation counts once.
"""

from grounding.evaluation.metrics.metric import Metric, Part
from grounding.evaluation.results import CaseResult


def _part(result: CaseResult) -> Part | None:
    if result.ended != "answered" or not result.expected.documents or not result.citations:
        return None
    right = frozenset(result.expected.documents)
    return (sum(doc_id in right for doc_id in result.citations), len(result.citations))


METRIC = Metric("citation_precision", "Citation precision", _part, "no answer to a case with documents cites anything")
