"""What changed between two evaluations: every metric, and the cases that were exact in one of them only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grounding.evaluation.metrics import METRICS
from grounding.evaluation.metrics.metric import Measured, Metric, Score, Undefined
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import Scores

ABSENT = Undefined("that evaluation did not measure it")


@dataclass(frozen=True, slots=True)
class Change:
    """One metric before and after. ``delta`` is after minus before, ``worsening`` how much of it is for the worse (negative: better); both None unless both
    are measured."""

    metric: str
    before: Score
    after: Score
    delta: float | None
    worsening: float | None


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes. Cases are named by id; ``regressed`` were exact before and are not now. ``same_set`` is False when the sets are not equal, and then
    only cases that are in both are compared one by one."""

    before_id: str
    after_id: str
    same_set: bool
    changes: tuple[Change, ...]
    regressed: tuple[str, ...]
    fixed: tuple[str, ...]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two evaluations, as far as it is compared."""

    report_id: str
    digest: str
    scores: Scores
    exact: Mapping[str, bool]

    @classmethod
    def of(cls, report_id: str, digest: str, scores: Scores, results: Sequence[CaseResult]) -> "Side":
        """The side of a report."""
        return cls(report_id, digest, scores, {result.case_id: result.exact for result in results})


def diff(before: Side, after: Side) -> Diff:
    """What changed from ``before`` to ``after``."""
    both = [case_id for case_id in after.exact if case_id in before.exact]
    return Diff(
        before_id=before.report_id,
        after_id=after.report_id,
        same_set=before.digest == after.digest,
        changes=tuple(_change(metric, before.scores.get(metric.name, ABSENT), after.scores.get(metric.name, ABSENT)) for metric in METRICS),
        regressed=tuple(case_id for case_id in both if before.exact[case_id] and not after.exact[case_id]),
        fixed=tuple(case_id for case_id in both if after.exact[case_id] and not before.exact[case_id]),
        only_before=tuple(case_id for case_id in before.exact if case_id not in after.exact),
        only_after=tuple(case_id for case_id in after.exact if case_id not in before.exact),
    )


def _change(metric: Metric, before: Score, after: Score) -> Change:
    if isinstance(before, Undefined) or isinstance(after, Undefined):
        return Change(metric.name, before, after, None, None)
    assert isinstance(before, Measured)
    delta = after.value - before.value
    return Change(metric.name, before, after, delta, -delta if metric.higher_is_better else delta)
