"""How an answer came about: plan, steps with their gates, ranking, verdicts and budget of a run; and lists of runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.ranking import contributions, ranking
from api.cli.views.text import Indented, counted, heading, minute, ratio
from api.cli.visible import one_line
from grounding.answers import Claim, Outcome, Refusal, Step, Trace, Verdict

DETAIL_CHARS = 240


def explanation(outcome: Outcome) -> RenderableType:
    """What ``--explain`` adds: the run, the ranking with contributions, and every verdict of the verifier."""
    parts: list[RenderableType] = [Text(""), *run_parts(outcome.trace)]
    if outcome.hits:
        parts += [heading("Ranking"), ranking(outcome.hits)]
        parts += [heading("What each feature added to the score"), contributions(outcome.hits)]
    if outcome.grounding.verdicts:
        parts += [heading("Verdicts on the last draft"), verdicts(outcome.grounding.verdicts)]
    return Group(*parts)


def run_parts(trace: Trace) -> Iterator[RenderableType]:
    """Plan, steps and budget."""
    yield heading("Plan")
    yield Indented(Text(_flat(trace.plan)))
    yield heading("Steps and gates")
    yield steps(trace.steps)
    if trace.budget:
        yield heading("Budget")
        yield Indented(Text(_flat(trace.budget)))
        yield Text("")


def trace_view(trace: Trace) -> RenderableType:
    """What ``traces show`` prints."""
    parts: list[RenderableType] = [
        Text.assemble((one_line(trace.question, 400), "bold")),
        Text(f"run {trace.run_id} · {minute(trace.created_at)} · {trace.outcome}", style="dim"),
        Text(""),
    ]
    parts += [_claim(position, claim) for position, claim in enumerate(trace.claims, start=1)]
    if trace.refusal is not None:
        parts.append(_refusal(trace.refusal))
    if trace.deleted_doc_ids:
        lost = ", ".join(one_line(each, 60) for each in trace.deleted_doc_ids)
        parts.append(Text(f"deleted since, words withheld: {lost}", style="yellow"))
    return Group(*parts, Text(""), *run_parts(trace))


def traces_view(traces: Sequence[Trace]) -> RenderableType:
    """What ``traces list`` prints, newest first."""
    if not traces:
        return Text("no runs yet")
    columns = (
        Column("run", style="cyan"),
        Column("at"),
        Column("outcome"),
        Column("claims", right=True),
        Column("steps", right=True),
        Column("question", flexible=True),
    )
    return Grid(columns, tuple(_row(trace) for trace in traces), minimum=80)


def steps(values: Sequence[Step]) -> Grid:
    """One row per step, in order."""
    columns = (
        Column("step"),
        Column("outcome"),
        Column("at ms", right=True),
        Column("ms", right=True),
        Column("detail", flexible=True),
    )
    rows = tuple((step.name, step.outcome, f"{step.started_ms:.1f}", f"{step.ms:.1f}", _flat(step.detail)) for step in values)
    return Grid(columns, rows, minimum=60)


def verdicts(values: Sequence[Verdict]) -> Grid:
    """One row per claim of the draft."""
    columns = (
        Column("#", right=True),
        Column("verdict"),
        Column("score", right=True),
        Column("spans", right=True),
        Column("reason", flexible=True),
    )
    rows = tuple(
        (str(number), _found(value), ratio(value.score), str(len(value.citations)), value.reason or value.because)
        for number, value in enumerate(values, start=1)
    )
    return Grid(columns, rows, minimum=50)


def _found(verdict: Verdict) -> str:
    if verdict.contradicted:
        return "contradicted"
    return "supported" if verdict.supported else "not supported"


def _row(trace: Trace) -> tuple[str, ...]:
    outcome = trace.refusal.reason.value if trace.refusal else trace.outcome
    return (
        trace.run_id,
        minute(trace.created_at),
        outcome,
        str(len(trace.claims)),
        str(len(trace.steps)),
        one_line(trace.question, 120),
    )


def _claim(position: int, claim: Claim) -> RenderableType:
    cited = ", ".join(dict.fromkeys(one_line(citation.doc_id, 60) for citation in claim.citations))
    said = Text(one_line(claim.text)).append(f" [{cited}]" if cited else "", style="cyan")
    said.append(f" support {ratio(claim.support)}", style="dim")
    if claim.document_count > 1:
        said.append(f", {counted(claim.document_count, 'document')}", style="dim")
    return Indented(said, first=f"{position}.")


def _refusal(refusal: Refusal) -> RenderableType:
    return Text.assemble(("No answer: ", "bold yellow"), (refusal.reason.value, "yellow"), f" {one_line(refusal.message)}")


def _flat(detail: Mapping[str, Any]) -> str:
    """``key=value`` pairs; what is nested is written as JSON, what is long is cut."""
    return one_line("  ".join(f"{key}={_value(value)}" for key, value in detail.items()), DETAIL_CHARS)


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, str | int) or value is None:
        return "–" if value is None else str(value)
    return json.dumps(value, ensure_ascii=False, default=str)
