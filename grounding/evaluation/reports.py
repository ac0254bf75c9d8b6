"""What one evaluation found, and against what it was held."""

from dataclasses import dataclass, replace
from datetime import datetime

from grounding.evaluation.diffing import Diff, Side, diff
from grounding.evaluation.gate import ScoreGate, Verdict, failing_cases, judge
from grounding.evaluation.metrics.refusals import Cells, cells
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import Scores, Slice, scores_of, slices_of


@dataclass(frozen=True, slots=True)
class Subject:
    """What was evaluated: which set, on how many documents in which state (``generation``), with which engine and embedder.

    ``digest`` is the set's, ``selected`` says which of its cases were asked where not all were.
    """

    set_name: str
    digest: str
    documents: int
    generation: int
    engine: str
    embedder: str
    selected: str = ""


@dataclass(frozen=True, slots=True)
class EvalReport:
    """One run over a set. ``results`` are in the order of the set, and left out where reports are listed; ``verdict`` is None where there was no gate."""

    report_id: str
    subject: Subject
    created_at: datetime
    seconds: float
    cases: int
    exact: int
    errors: int
    cells: Cells
    scores: Scores
    slices: tuple[Slice, ...]
    results: tuple[CaseResult, ...]
    verdict: Verdict | None = None

    @property
    def outcome(self) -> str:
        """``passed`` or ``failed`` by the gate, ``ungated`` without one."""
        return "ungated" if self.verdict is None else "passed" if self.verdict.passed else "failed"

    @property
    def side(self) -> Side:
        """The report as one side of a comparison."""
        return Side.of(self.report_id, self.subject.digest, self.scores, self.results)


def report_of(report_id: str, subject: Subject, created_at: datetime, seconds: float, results: tuple[CaseResult, ...]) -> EvalReport:
    """A report with all its scores, not yet held against a gate."""
    return EvalReport(
        report_id=report_id,
        subject=subject,
        created_at=created_at,
        seconds=seconds,
        cases=len(results),
        exact=sum(result.exact for result in results),
        errors=sum(result.ended == "error" for result in results),
        cells=cells(results),
        scores=scores_of(results),
        slices=slices_of(results),
        results=results,
    )


def judged(report: EvalReport, gate: ScoreGate | None, baseline: EvalReport | None) -> EvalReport:
    """The report held against a gate, a baseline, or both; as it is without either. A baseline without a gate forbids nothing and shows what changed."""
    if gate is None and baseline is None:
        return report
    against = None if baseline is None else compared(baseline, report)
    return replace(report, verdict=judge(gate or ScoreGate(), report.scores, report.results, against))


def compared(before: EvalReport, after: EvalReport) -> Diff:
    """What changed from one report to another."""
    return diff(before.side, after.side)


def with_results(report: EvalReport, results: tuple[CaseResult, ...]) -> EvalReport:
    """A listed report made whole again."""
    verdict = report.verdict
    if verdict is not None:
        regressed = verdict.diff.regressed if verdict.diff else ()
        verdict = replace(verdict, failing=failing_cases(results, verdict.known, regressed))
    return replace(report, results=results, verdict=verdict)
