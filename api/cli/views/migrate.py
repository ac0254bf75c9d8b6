"""What a move between stores did, and how both compare after it."""

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from search.moving.migration import MigrationReport
from search.moving.verifying import Compared


def migration_view(report: MigrationReport) -> RenderableType:
    """What ``migrate`` prints: a line per tenant and month, then what was written."""
    columns = (
        Column("tenant", style="cyan"),
        Column("part"),
        Column("from", right=True),
        Column("to", right=True),
        Column("kept", right=True),
        Column("hash"),
    )
    return Group(Grid(columns, tuple(_row(line) for line in report.compared), minimum=60), Text(told(report)))


def told(report: MigrationReport) -> str:
    """One sentence."""
    copied = report.copied
    wrote = f"{copied.documents:,} documents, {copied.tombstones:,} deletions, {copied.entries:,} entries and {copied.events:,} events"
    verdict = "both are the same" if report.verified else "they are NOT the same"
    return f"wrote {wrote} in {report.seconds:.1f} s, vectors {report.vectors}; {verdict}"


def _row(line: Compared) -> tuple[str, ...]:
    kept = f"{line.kept:,}" if line.kept else ""
    return (line.tenant, line.part, f"{line.source:,}", f"{line.target:,}", kept, "same" if line.same else "DIFFERS")
