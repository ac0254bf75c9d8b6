"""Scores of a run: every metric over all cases, and over each slice by kind, language and difficulty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grounding.evaluation.metrics import METRICS
from grounding.evaluation.metrics.metric import Score
from grounding.evaluation.results import CaseResult

SLICED_BY = ("kind", "language", "difficulty")

Scores = Mapping[str, Score]
"""By the name of the metric, in the order they are shown."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The cases that share a value, and their scores."""

    by: str
    value: str
    cases: int
    scores: Scores


def scores_of(results: Sequence[CaseResult]) -> Scores:
    """Every metric over these cases."""
    return {metric.name: metric.score(results) for metric in METRICS}


def slices_of(results: Sequence[CaseResult]) -> tuple[Slice, ...]:
    """One slice for each value there is, ordered by what it is sliced by and then by value. A value shared by all cases makes no slice."""
    found = []
    for by in SLICED_BY:
        values = sorted({getattr(result, by) for result in results})
        for value in values if len(values) > 1 else ():
            members = [result for result in results if getattr(result, by) == value]
            found.append(Slice(by, value, len(members), scores_of(members)))
    return tuple(found)
