"""Receipts of erasures: a list of them, and one in full."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import minute
from api.cli.visible import one_line
from search.ingest.receipts import Receipt


def receipts_view(receipts: Sequence[Receipt]) -> RenderableType:
    """What ``documents receipts`` prints."""
    if not receipts:
        return Text("nothing was erased")
    columns = (
        Column("receipt", style="cyan"),
        Column("at"),
        Column("scope"),
        Column("by", flexible=True),
        Column("state"),
        Column("documents", right=True),
    )
    rows = tuple(
        (each.receipt_id, minute(each.at), each.scope, one_line(each.by, 40), each.state, f"{each.removed.get('documents', 0):,}")
        for each in receipts
    )
    return Grid(columns, rows, minimum=60)


def receipt_view(receipt: Receipt) -> RenderableType:
    """What ``documents receipt`` prints."""
    about = [
        ("receipt", receipt.receipt_id),
        ("at", minute(receipt.at)),
        ("scope", receipt.scope),
        ("by", one_line(receipt.by, 100)),
        ("state", receipt.state),
        ("completed", minute(receipt.completed_at) if receipt.completed_at else ""),
    ]
    lines = [Text.assemble((name.ljust(10), "dim"), value) for name, value in about if value]
    counted = [(what.replace("_", " "), f"{count:,}", "removed") for what, count in sorted(receipt.removed.items())]
    counted += [(what.replace("_", " "), f"{count:,}", "name it still") for what, count in sorted(receipt.left.items())]
    return Group(*lines, Text(""), Grid((Column("what"), Column("count", right=True), Column("became")), tuple(counted), minimum=40))
