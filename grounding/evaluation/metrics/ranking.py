"""Cases that measure retrieval: those that name the documents that answer and ask for no number, judged on what ``ask`` found, also where it refused."""

from collections.abc import Callable

from grounding.evaluation.metrics.metric import Part
from grounding.evaluation.results import CaseResult

DEPTH = 10
WITHOUT = "no case names the documents that answer it"


def ranked(measure: Callable[[tuple[str, ...], frozenset[str]], float]) -> Callable[[CaseResult], Part | None]:
    """The part of a case under a measure of its first ten documents and the relevant ones."""

    def part(result: CaseResult) -> Part | None:
        expected = result.expected
        if not expected.documents or expected.count is not None or expected.series or result.ended == "error":
            return None
        return (measure(result.ranking[:DEPTH], frozenset(expected.documents)), 1.0)

    return part
