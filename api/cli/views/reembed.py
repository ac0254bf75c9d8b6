"""A second generation: how it compares with the live one, and how to switch."""

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.views.evaluations import report_view
from api.cli.views.migrate import migration_view
from api.cli.views.text import ToPaste, heading
from api.reembedding import Trial
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
