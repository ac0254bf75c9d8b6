"""Generations: what there is, how a new one compares with the live one, and how to switch."""

from rich.console import Group, RenderableType
from rich.text import Text

from api import evaluation_rendering, moving_operations
from api.cli.grid import Column, Grid
from api.cli.views.evaluations import report_view
from api.cli.views.migrate import migration_view
from api.cli.views.retention import size
from api.cli.views.text import ToPaste, heading
from api.reembedding import Trial
from api.renewing import Json, Renewed, Standing
from search.moving.migration import MigrationReport


def reembed_view(report: MigrationReport, trial: Trial | None, steps: tuple[str, str, str, str]) -> RenderableType:
    """What ``reembed`` prints."""
    parts: list[RenderableType] = [migration_view(report)]
    if trial is not None:
        parts += [Text(), report_view(trial.after)]
    if not report.verified:
        return Group(*parts, Text("something was written all the time, or differs: run it again"))
    if trial is not None and not trial.passed:
        return Group(*parts, Text("the gate is not passed: the live store stays the one to use"))
    there, fetch, back, fetch_back = steps
    return Group(
        *parts,
        Text(),
        heading("To switch: start every process anew with these, then fetch what was written last"),
        ToPaste(f"  {there}"),
        ToPaste(f"  {fetch}"),
        heading("To go back: the old ones, then take back what was written since"),
        ToPaste(f"  {back}"),
        ToPaste(f"  {fetch_back}"),
    )


def renewed_view(done: Renewed) -> RenderableType:
    """What ``reembed`` and ``reembed --back`` print for a cluster."""
    copied = done.copied
    wrote = f"wrote {copied.documents:,} documents and {copied.tombstones:,} deletions to {done.new.prefix} in {done.seconds:.1f} s"
    parts: list[RenderableType] = [Text(f"{wrote}, embedded with {done.new.model}")]
    if done.trial is not None:
        parts += [Text(), report_view(done.trial.after), Text()]
    return Group(*parts, *(Text(f"not the same in both: {each}") for each in done.differing[:20]), Text(_verdict(done)))


def _verdict(done: Renewed) -> str:
    if done.served:
        return f"{done.new.prefix} is served. {done.old.prefix} is kept: wisdom reembed --back"
    if done.trial is not None and not done.trial.passed:
        return f"the gate is not passed: {done.old.prefix} stays the one that is served"
    if done.differing:
        return f"{done.old.prefix} stays the one that is served; something was written all the time, or differs: run it again"
    return f"{done.old.prefix} stays the one that is served; run it again with --eval SET, or with --switch, to serve {done.new.prefix}"


def renewed_json(done: Renewed) -> Json:
    """The same as a value."""
    return {
        "from": done.old.prefix,
        "to": done.new.prefix,
        "model": done.new.model,
        "copied": moving_operations.rendered_copied(done.copied),
        "differing": list(done.differing),
        "evaluation": None if done.trial is None else evaluation_rendering.eval_report(done.trial.after),
        "served": done.new.prefix if done.served else done.old.prefix,
        "seconds": round(done.seconds, 3),
    }


def standings_view(found: tuple[Standing, ...]) -> RenderableType:
    """What ``reembed --status`` prints."""
    columns = (
        Column("generation", style="cyan"),
        Column("embedder"),
        Column("model"),
        Column("dimension", right=True),
        Column("documents", right=True),
        Column("size", right=True),
        Column(""),
    )
    return Grid(columns, tuple(_row(each) for each in found), minimum=70)


def _row(each: Standing) -> tuple[str, ...]:
    made, state = each.generation, "served, takes no writes" if each.closing else "served" if each.live else ""
    return (made.prefix, made.embedder, made.model, str(made.dimension), f"{each.documents:,}", size(each.size), state)


def standing_json(each: Standing) -> Json:
    """One generation as a value."""
    made = each.generation
    told = {"generation": made.prefix, "embedder": made.embedder, "model": made.model, "dimension": made.dimension}
    return {**told, "documents": each.documents, "bytes": each.size, "served": each.live, "closing": each.closing}
