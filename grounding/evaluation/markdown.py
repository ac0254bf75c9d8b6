"""A report as Markdown."""

from collections.abc import Iterator, Sequence

from grounding.evaluation.diffing import Diff
from grounding.evaluation.gate import FailingCase, Verdict, failing_cases
from grounding.evaluation.metrics import BY_NAME
from grounding.evaluation.reports import EvalReport
from grounding.evaluation.wording import SLICE_METRICS, cell_rows, headline, interval_text, score_text, signed, subject_lines


def markdown(report: EvalReport) -> str:
    """The whole report: verdict, scores, cells of refusing, slices, failing cases."""
    return "\n".join(_lines(report)) + "\n"


def diff_markdown(diff: Diff) -> str:
    """What changed between two reports."""
    return "\n".join(_diff(diff)) + "\n"


def _lines(report: EvalReport) -> Iterator[str]:
    yield f"# Evaluation of {_cell(report.subject.set_name)}"
    yield ""
    yield f"**{_cell(headline(report))}**"
    yield ""
    yield from _table(("", ""), subject_lines(report))
    if report.verdict is not None:
        yield from _verdict(report.verdict)
    yield "## Scores"
    yield ""
    rows = [
        (BY_NAME[name].title, score_text(name, score), interval_text(name, score), "higher" if BY_NAME[name].higher_is_better else "lower")
        for name, score in report.scores.items()
    ]
    yield from _table(("metric", "value", "95 % interval", "better"), rows)
    yield "## Refusals"
    yield ""
    yield from _table(("the question is", "refused", "answered"), [(what, str(no), str(yes)) for what, no, yes in cell_rows(report)])
    yield from _slices(report)
    yield from _failing(report)


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield "## Gate"
    yield ""
    rows = [("passed" if ruling.passed else "**failed**", ruling.demand, ruling.message) for ruling in verdict.rulings]
    yield from _table(("", "demand", ""), rows)
    if verdict.fixed:
        yield f"Known failures that hold by now: {_cell(', '.join(verdict.fixed))}"
        yield ""
    if verdict.diff is not None:
        yield from _diff(verdict.diff)


def _diff(diff: Diff) -> Iterator[str]:
    yield f"## Changes from {_cell(diff.before_id)} to {_cell(diff.after_id)}"
    yield ""
    if not diff.same_set:
        yield "The sets are not equal; only cases that are in both are compared one by one."
        yield ""
    rows = [
        (
            BY_NAME[change.metric].title,
            score_text(change.metric, change.before),
            score_text(change.metric, change.after),
            signed(change.delta, change.metric),
        )
        for change in diff.changes
    ]
    yield from _table(("metric", "before", "after", "change"), rows)
    for title, names in (("No longer exact", diff.regressed), ("Exact now", diff.fixed)):
        if names:
            yield f"{title}: {_cell(', '.join(names))}"
            yield ""


def _slices(report: EvalReport) -> Iterator[str]:
    if not report.slices:
        return
    yield "## Slices"
    yield ""
    rows = [
        (each.by, each.value, str(each.cases), *(score_text(name, each.scores[name]) for name in SLICE_METRICS)) for each in report.slices
    ]
    yield from _table(("by", "value", "cases", *(BY_NAME[name].title for name in SLICE_METRICS)), rows)


def _failing(report: EvalReport) -> Iterator[str]:
    cases: tuple[FailingCase, ...] = report.verdict.failing if report.verdict else failing_cases(report.results)
    if not cases:
        return
    yield "## Cases that are not exact"
    yield ""
    rows = [(case.case_id, case.question, "; ".join(case.problems), _marks(case)) for case in cases]
    yield from _table(("case", "question", "what is wrong", ""), rows)


def _marks(case: FailingCase) -> str:
    return " ".join(word for word, holds in (("known", case.known), ("regressed", case.regressed)) if holds)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield f"| {' | '.join(_cell(text) if not text.startswith('**') else text for text in row)} |"
    yield ""


def _cell(text: str) -> str:
    """One line that Markdown shows as it is."""
    line = " ".join(text.split())
    for mark in "\\`*_[]<>|":
        line = line.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return line
