"""The four cells of refusing: **a** unanswerable and refused, **b** unanswerable and answered, **c** answerable and refused, **d** answerable and answered.

Precision a/(a+c), recall a/(a+b), over-refusal c/(c+d), reason accuracy right/a among cases that name a reason; detection measures as in van Rijsbergen 1979
(ch. 7), cells as in RefusalBench (arXiv 2510.10390). Cases that raised an error are in no cell.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grounding.evaluation.metrics.metric import Metric, Part, share
from grounding.evaluation.results import CaseResult


@dataclass(frozen=True, slots=True)
class Cells:
    """Counts of the four cells."""

    unanswerable_refused: int
    unanswerable_answered: int
    answerable_refused: int
    answerable_answered: int


def cells(results: Iterable[CaseResult]) -> Cells:
    """How many cases are in each cell."""
    counts = {(answered, ended): 0 for answered in (False, True) for ended in ("refused", "answered")}
    for result in results:
        if result.ended != "error":
            counts[result.expected.answered, result.ended] += 1
    return Cells(counts[False, "refused"], counts[False, "answered"], counts[True, "refused"], counts[True, "answered"])


def _precision(result: CaseResult) -> Part | None:
    return share(not result.expected.answered) if result.ended == "refused" else None


def _recall(result: CaseResult) -> Part | None:
    return None if result.expected.answered or result.ended == "error" else share(result.ended == "refused")


def _over_refusal(result: CaseResult) -> Part | None:
    return share(result.ended == "refused") if result.expected.answered and result.ended != "error" else None


def _reason(result: CaseResult) -> Part | None:
    if result.ended != "refused" or result.expected.answered or not result.expected.reasons:
        return None
    return share(result.reason in result.expected.reasons)


PRECISION = Metric("refusal_precision", "Refusal precision", _precision, "nothing was refused")
RECALL = Metric("refusal_recall", "Refusal recall", _recall, "no case expects a refusal")
OVER_REFUSAL = Metric("over_refusal", "Over-refusal", _over_refusal, "no case expects an answer", higher_is_better=False)
REASON_ACCURACY = Metric("reason_accuracy", "Refusal reason", _reason, "no refusal that was expected for a reason took place")
