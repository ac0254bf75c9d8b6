"""Where tenants are, as a table."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import counted
from search.engines.opensearch_tenancy import Home, Move


def homes_view(homes: Sequence[Home]) -> RenderableType:
    """What ``tenants list`` prints: a row per tenant."""
    if not homes:
        return Text("no tenant has documents yet")
    columns = (
        Column("tenant", style="cyan"),
        Column("placement"),
        Column("documents", right=True),
        Column("shards of its own", right=True),
        Column("move"),
    )
    return Grid(columns, tuple(_row(home) for home in homes), minimum=40)


def moved_view(moved: Move) -> RenderableType:
    """What ``tenants place`` prints."""
    where = "in the pool" if moved.where == "pool" else "in indices of its own"
    did = f"{counted(moved.records, 'record')} copied" if moved.records else "nothing to copy"
    return Text(f"tenant {moved.tenant} is {where}, with {counted(moved.documents, 'document')}; {did}")


def _row(home: Home) -> tuple[str, ...]:
    return (home.tenant, home.where, f"{home.documents:,}", f"{home.shards:,}", "unfinished" if home.unfinished else "")
