"""The doctor's table."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.checks import Check
from api.cli.grid import Column, Grid
from api.cli.visible import one_line

_STYLES = {"ok": "green", "warning": "yellow", "wrong": "bold red"}


def checks_view(found: Sequence[Check]) -> RenderableType:
    """One row per check, then what to do, worst first."""
    columns = (Column("check"), Column("status"), Column("found", flexible=True))
    table = Grid(columns, tuple((check.name, check.status, check.found) for check in found), minimum=50)
    advice = [check for status in ("wrong", "warning") for check in found if check.status == status]
    return Group(table, *(_advice(check) for check in advice))


def _advice(check: Check) -> Text:
    return Text.assemble((f"{check.name}: ", _STYLES[check.status]), one_line(check.next_step))


def checks_value(found: Sequence[Check]) -> dict[str, object]:
    """The same as one JSON value."""
    return {
        "ok": all(check.status != "wrong" for check in found),
        "checks": [
            {"name": check.name, "status": check.status, "found": check.found, "nextStep": check.next_step or None} for check in found
        ],
    }
