"""Scores, rulings and changes in words and figures, as every rendering shows them."""

from grounding.evaluation.metrics import BY_NAME
from grounding.evaluation.metrics.metric import Score, Undefined, Unit
from grounding.evaluation.reports import EvalReport

UNDEFINED = "undefined"


def figure(value: float, unit: Unit) -> str:
    """A number with as many digits as mean something: ratios three, seconds three, tokens none, costs six."""
    digits = {"ratio": 3, "seconds": 3, "tokens": 0, "cost": 6}[unit]
    return f"{value:,.{digits}f}"


def score_text(name: str, score: Score) -> str:
    """The number, or that there is none."""
    return UNDEFINED if isinstance(score, Undefined) else figure(score.value, BY_NAME[name].unit)


def interval_text(name: str, score: Score) -> str:
    """The 95 % interval, or why there is no number."""
    if isinstance(score, Undefined):
        return score.why
    unit = BY_NAME[name].unit
    return f"{figure(score.low, unit)} – {figure(score.high, unit)}"


def signed(value: float | None, name: str) -> str:
    """A change with its sign; a dash where there is none."""
    if value is None:
        return "–"
    text = figure(abs(value), BY_NAME[name].unit)
    return f"{'+' if value >= 0 else '−'}{text}"


def headline(report: EvalReport) -> str:
    """The whole in one line."""
    gate = {"passed": "gate passed", "failed": "gate failed", "ungated": "no gate"}[report.outcome]
    errors = f", {report.errors} with errors" if report.errors else ""
    return f"{report.exact} of {report.cases} cases exact{errors}; {gate}"


def subject_lines(report: EvalReport) -> tuple[tuple[str, str], ...]:
    """What was evaluated, as names and values."""
    subject = report.subject
    return (
        ("Report", report.report_id),
        ("Set", f"{subject.set_name} ({subject.digest})" + (f", {subject.selected}" if subject.selected else "")),
        ("Documents", f"{subject.documents:,}"),
        ("Engine", subject.engine),
        ("Embedder", subject.embedder),
        ("Finished", report.created_at.isoformat(timespec="seconds")),
        ("Took", f"{report.seconds:,.1f} s"),
    )


def cell_rows(report: EvalReport) -> tuple[tuple[str, int, int], ...]:
    """The four cells of refusing: what the documents answer, refused, answered."""
    cells = report.cells
    return (
        ("not answered by the documents", cells.unanswerable_refused, cells.unanswerable_answered),
        ("answered by the documents", cells.answerable_refused, cells.answerable_answered),
    )


SLICE_METRICS = (
    "exact_rate",
    "hallucination_rate",
    "refusal_recall",
    "over_refusal",
    "citation_precision",
    "count_exactness",
    "ndcg_at_10",
)
"""What is shown of every slice; all metrics are in the JSON."""
