"""What retention would remove, as a table."""

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import counted
from api.retention_operations import OldRecords
from search.moving.retention import RetentionPlan

_UNITS = ("B", "kB", "MB", "GB", "TB")


def plan_view(plan: RetentionPlan) -> RenderableType:
    """What ``retention plan`` prints: a row per month, and what applying does."""
    if not plan.months:
        return Text(f"nothing of tenant {plan.tenant} is older than {plan.before}")
    columns = (Column("month", style="cyan"), Column("documents", right=True), Column("size", right=True))
    rows = tuple((each.month, f"{each.documents:,}", size(each.size)) for each in plan.months)
    return Group(Grid(columns, rows, minimum=40), Text(does(plan)))


def does(plan: RetentionPlan) -> str:
    """One sentence on what applying a plan does."""
    return f"applying deletes {counted(plan.documents, 'document')} of tenant {plan.tenant} from before {plan.before} ({size(plan.size)})"


def records_view(found: OldRecords) -> str:
    """*3 traces of questions and 2 records of ingests from before 2026-01-01, of tenant acme*."""
    traces, ingests = counted(found.counts["traces"], "trace"), counted(found.counts["ingests"], "record")
    return f"{traces} of questions and {ingests} of ingests from before {found.before:%Y-%m-%d}, of tenant {found.tenant}"


def size(count: int) -> str:
    """``4.2 MB``; powers of 1,000."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
