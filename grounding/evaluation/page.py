"""A report as one HTML file with charts: no script, nothing loaded from anywhere, every text escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from grounding.evaluation.charts import Bar, bars, histogram
from grounding.evaluation.diffing import Diff
from grounding.evaluation.gate import Verdict
from grounding.evaluation.metrics import BY_NAME
from grounding.evaluation.metrics.metric import Measured, Score, Undefined
from grounding.evaluation.reports import EvalReport
from grounding.evaluation.results import CaseResult
from grounding.evaluation.wording import SLICE_METRICS, cell_rows, headline, interval_text, score_text, signed, subject_lines

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may load for this page: nothing."""

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #3b7dd8; --bad: #c2553d; --dim: #888 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } .dim { color: var(--dim) } .bad { color: var(--bad) } .wide { overflow-x: auto }
.verdict { padding: .6rem 1rem; border: 1px solid var(--line); border-left: .4rem solid var(--bar) } .verdict.failed { border-left-color: var(--bad) }
svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: currentColor } svg .bar { fill: var(--bar) }
svg .bar.bad { fill: var(--bad) }
svg .whisker { stroke: currentColor; stroke-width: 2 } svg .none { fill: var(--dim) } details { margin: .3rem 0 }
"""


def page(report: EvalReport) -> str:
    """The file's text."""
    title = escape(f"Evaluation of {report.subject.set_name}")
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>"
    )
    return f"{head}<body><h1>{title}</h1>{''.join(_sections(report))}</body></html>\n"


def _sections(report: EvalReport) -> Iterator[str]:
    yield f'<p class="verdict {escape(report.outcome)}"><strong>{escape(headline(report))}</strong></p>'
    yield _table((), [[escape(name), escape(value)] for name, value in subject_lines(report)])
    if report.verdict is not None:
        yield _verdict(report.verdict)
    yield _scores(report)
    cells = [[escape(what), str(refused), str(answered)] for what, refused, answered in cell_rows(report)]
    yield "<h2>Refusals</h2>" + _table(("the question is", "refused", "answered"), cells, numbers_from=1)
    yield _slices(report)
    seconds = [result.seconds for result in report.results if result.ended != "error"]
    yield "<h2>Latency</h2>" + histogram("Seconds per case", seconds, "s")
    yield _cases(report)


def _verdict(verdict: Verdict) -> str:
    rows = [[_passed(ruling.passed), escape(ruling.demand), escape(ruling.message)] for ruling in verdict.rulings]
    fixed = f"<p>Known failures that hold by now: {escape(', '.join(verdict.fixed))}</p>" if verdict.fixed else ""
    return "<h2>Gate</h2>" + _table(("", "demand", ""), rows) + fixed + (_diff(verdict.diff) if verdict.diff else "")


def _passed(passed: bool) -> str:  # noqa: FBT001 (a cell of a table)
    return "passed" if passed else '<strong class="bad">failed</strong>'


def _diff(diff: Diff) -> str:
    rows = [
        [
            escape(BY_NAME[change.metric].title),
            score_text(change.metric, change.before),
            score_text(change.metric, change.after),
            _worse(signed(change.delta, change.metric), change.worsening),
        ]
        for change in diff.changes
    ]
    lists = "".join(
        f"<p>{title}: {escape(', '.join(names))}</p>"
        for title, names in (("No longer exact", diff.regressed), ("Exact now", diff.fixed))
        if names
    )
    unequal = "" if diff.same_set else "<p>The sets are not equal; only cases that are in both are compared one by one.</p>"
    title = f"<h2>Changes since {escape(diff.before_id)}</h2>"
    return title + unequal + _table(("metric", "before", "after", "change"), rows, numbers_from=1) + lists


def _worse(text: str, worsening: float | None) -> str:
    return f'<span class="bad">{text}</span>' if worsening is not None and worsening > 0 else text


def _scores(report: EvalReport) -> str:
    ratios = [(name, score) for name, score in report.scores.items() if BY_NAME[name].unit == "ratio"]
    chart = bars("Scores with 95 % intervals", [_bar(name, score) for name, score in ratios])
    rows = [
        [
            escape(BY_NAME[name].title),
            score_text(name, score),
            escape(interval_text(name, score)),
            str(score.n) if isinstance(score, Measured) else "0",
            "higher" if BY_NAME[name].higher_is_better else "lower",
        ]
        for name, score in report.scores.items()
    ]
    return "<h2>Scores</h2>" + chart + _table(("metric", "value", "95 % interval", "cases", "better"), rows)


def _bar(name: str, score: Score) -> Bar:
    metric = BY_NAME[name]
    if isinstance(score, Undefined):
        return Bar(metric.title, None, note=score.why)
    return Bar(metric.title, score.value, score.low, score.high, good=metric.higher_is_better)


def _slices(report: EvalReport) -> str:
    if not report.slices:
        return ""
    exact = [_slice_bar(f"{each.by}: {each.value} ({each.cases})", each.scores["exact_rate"]) for each in report.slices]
    rows = [
        [escape(each.by), escape(each.value), str(each.cases), *(score_text(name, each.scores[name]) for name in SLICE_METRICS)]
        for each in report.slices
    ]
    header = ("by", "value", "cases", *(BY_NAME[name].title for name in SLICE_METRICS))
    return "<h2>Slices</h2>" + bars("Exact, by slice", exact) + f'<div class="wide">{_table(header, rows, numbers_from=2)}</div>'


def _slice_bar(label: str, score: Score) -> Bar:
    if isinstance(score, Undefined):
        return Bar(label, None, note=score.why)
    return Bar(label, score.value, score.low, score.high)


def _cases(report: EvalReport) -> str:
    failing = [result for result in report.results if not result.exact]
    passing = [result for result in report.results if result.exact]
    listed = _case_table(failing) if failing else "<p>None.</p>"
    rest = f"<details><summary>{len(passing)} exact cases</summary>{_case_table(passing)}</details>" if passing else ""
    return f"<h2>Cases that are not exact</h2>{listed}{rest}"


def _case_table(results: Sequence[CaseResult]) -> str:
    rows = [
        [
            escape(result.case_id),
            escape(result.question),
            escape(result.reason or result.ended),
            "; ".join(escape(problem.message) for problem in result.problems),
            f'<span class="dim">{escape(result.run_id or "")}</span>',
        ]
        for result in results
    ]
    return _table(("case", "question", "outcome", "what is wrong", "run"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers_from: int = 1_000) -> str:
    """Cells are HTML already; columns from ``numbers_from`` on hold numbers."""
    head = "".join(f"<th{_numeric(at, numbers_from)}>{escape(name)}</th>" for at, name in enumerate(header))
    body = "".join(
        "<tr>" + "".join(f"<td{_numeric(at, numbers_from)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows
    )
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if header else ''}<tbody>{body}</tbody></table>"


def _numeric(at: int, numbers_from: int) -> str:
    return ' class="n"' if at >= numbers_from else ""
