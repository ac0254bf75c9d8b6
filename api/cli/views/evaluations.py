"""Evaluations as text: a report, lists of reports, sets and schedules, and what changed between two."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import heading, minute
from api.cli.visible import one_line
from grounding.evaluation.diffing import Diff
from grounding.evaluation.gate import FailingCase, Verdict, failing_cases
from grounding.evaluation.metrics import BY_NAME
from grounding.evaluation.metrics.metric import Measured
from grounding.evaluation.reports import EvalReport
from grounding.evaluation.set_store import SetSummary
from grounding.evaluation.wording import SLICE_METRICS, cell_rows, headline, interval_text, score_text, signed, subject_lines
from worker.evaluations.schedules import Schedule


def report_view(report: EvalReport) -> RenderableType:
    """One report."""
    return Group(*_report(report))


def reports_view(reports: Sequence[EvalReport]) -> RenderableType:
    """Reports, newest first."""
    if not reports:
        return Text("no evaluation yet")
    columns = (
        Column("report", style="cyan"),
        Column("at"),
        Column("set"),
        Column("cases", right=True),
        Column("exact", right=True),
        Column("outcome"),
    )
    rows = tuple(
        (each.report_id, minute(each.created_at), one_line(each.subject.set_name, 40), str(each.cases), str(each.exact), each.outcome)
        for each in reports
    )
    return Grid(columns, rows, minimum=80)


def diff_view(diff: Diff) -> RenderableType:
    """What changed."""
    return Group(*_diff(diff))


def sets_view(sets: Sequence[SetSummary]) -> RenderableType:
    """Sets by name."""
    columns = (Column("set", style="cyan"), Column("cases", right=True), Column("digest"), Column("kept"))
    rows = tuple(
        (one_line(each.name, 60), str(each.cases), each.digest, minute(each.kept_at) if each.kept_at else "comes with it") for each in sets
    )
    return Grid(columns, rows, minimum=60)


def schedules_view(schedules: Sequence[Schedule]) -> RenderableType:
    """Schedules and how far they are."""
    if not schedules:
        return Text("nothing is scheduled")
    columns = (
        Column("schedule", style="cyan"),
        Column("set"),
        Column("every", right=True),
        Column("next"),
        Column("done", right=True),
        Column("last report"),
    )
    rows = tuple(
        (
            one_line(each.schedule_id, 60),
            one_line(each.set_name, 40),
            "once" if each.every_s is None else f"{each.every_s:g} s",
            minute(each.next_at) if each.next_at else "ended",
            str(each.progress.done),
            one_line(each.last_error or each.last_report_id or "–", 100),
        )
        for each in schedules
    )
    return Grid(columns, rows, minimum=90)


def _report(report: EvalReport) -> Iterator[RenderableType]:
    yield Text(headline(report), style="bold green" if report.outcome == "passed" else "bold red" if report.outcome == "failed" else "bold")
    yield Text(" · ".join(f"{name.lower()} {one_line(value)}" for name, value in subject_lines(report)), style="dim")
    yield Text("")
    if report.verdict is not None:
        yield from _verdict(report.verdict)
    yield heading("Scores")
    rows = tuple(
        (BY_NAME[name].title, score_text(name, score), interval_text(name, score), str(score.n) if isinstance(score, Measured) else "")
        for name, score in report.scores.items()
    )
    yield Grid((Column("metric"), Column("value", right=True), Column("95 % interval", flexible=True), Column("cases", right=True)), rows)
    yield heading("Refusals")
    cells = tuple((what, str(refused), str(answered)) for what, refused, answered in cell_rows(report))
    yield Grid((Column("the question is"), Column("refused", right=True), Column("answered", right=True)), cells)
    yield from _slices(report)
    yield from _failing(report.verdict.failing if report.verdict else failing_cases(report.results))


def _verdict(verdict: Verdict) -> Iterator[RenderableType]:
    if verdict.rulings:
        yield heading("Gate")
        rows = tuple(("passed" if ruling.passed else "FAILED", ruling.demand, ruling.message) for ruling in verdict.rulings)
        yield Grid((Column(""), Column("demand"), Column("why", flexible=True)), rows)
    if verdict.fixed:
        yield Text(f"known failures that hold by now: {', '.join(verdict.fixed)}", style="green")
    if verdict.diff is not None:
        yield from _diff(verdict.diff)


def _diff(diff: Diff) -> Iterator[RenderableType]:
    yield heading(f"Changes from {diff.before_id} to {diff.after_id}")
    if not diff.same_set:
        yield Text("the sets are not equal; only cases that are in both are compared one by one", style="yellow")
    rows = tuple(
        (
            BY_NAME[each.metric].title,
            score_text(each.metric, each.before),
            score_text(each.metric, each.after),
            signed(each.delta, each.metric),
        )
        for each in diff.changes
    )
    yield Grid((Column("metric"), Column("before", right=True), Column("after", right=True), Column("change", right=True)), rows)
    for title, names in (("no longer exact", diff.regressed), ("exact now", diff.fixed)):
        if names:
            yield Text(f"{title}: {', '.join(one_line(name, 60) for name in names)}")


def _slices(report: EvalReport) -> Iterator[RenderableType]:
    if not report.slices:
        return
    yield heading("Slices")
    columns = (
        Column("by"),
        Column("value"),
        Column("cases", right=True),
        *(Column(BY_NAME[name].title.lower(), right=True) for name in SLICE_METRICS),
    )
    rows = tuple(
        (each.by, one_line(each.value, 40), str(each.cases), *(score_text(name, each.scores[name]) for name in SLICE_METRICS))
        for each in report.slices
    )
    yield Grid(columns, rows, minimum=110)


def _failing(cases: Sequence[FailingCase]) -> Iterator[RenderableType]:
    if not cases:
        return
    yield heading("Cases that are not exact")
    columns = (Column("case", style="cyan"), Column(""), Column("question", flexible=True), Column("what is wrong", flexible=True))
    rows = tuple(
        (one_line(case.case_id, 60), _mark(case), one_line(case.question, 120), one_line("; ".join(case.problems), 240)) for case in cases
    )
    yield Grid(columns, rows, minimum=80)


def _mark(case: FailingCase) -> str:
    return "regressed" if case.regressed else "known" if case.known else ""
