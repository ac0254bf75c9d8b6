"""A table that suits its reader: drawn on a terminal, stacked where that is narrow, tab-separated in a pipe."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from api.cli.visible import one_line

_BLOCKS = " ▏▎▍▌▋▊▉█"
_SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``right`` aligns numbers, ``flexible`` may be wrapped, ``drawn`` is only worth showing on a terminal."""

    name: str
    right: bool = False
    flexible: bool = False
    drawn: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of plain text under named columns. On a terminal narrower than ``minimum`` each row takes several lines: ``narrow`` when given,
    ``name: value`` otherwise."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    minimum: int = 60
    narrow: tuple[RenderableType, ...] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Drawn, stacked or tab-separated."""
        if not console.is_terminal:
            yield from self._separated()
        elif options.max_width < self.minimum:
            yield from self._stacked() if self.narrow is None else self.narrow
        else:
            yield self._drawn()
            yield Text("")

    def _drawn(self) -> Table:
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for column in self.columns:
            table.add_column(
                Text(column.name),
                justify="right" if column.right else "left",
                style=column.style,
                overflow="fold",
                no_wrap=not column.flexible,
            )
        for row in self.rows:
            table.add_row(*(Text(one_line(cell)) for cell in row))
        return table

    def _stacked(self) -> Iterator[Text]:
        for row in self.rows:
            for column, cell in zip(self.columns, row, strict=True):
                if not column.drawn and cell:
                    yield Text.assemble((f"{column.name}: ", "bold"), (one_line(cell), column.style))
            yield Text("")

    def _separated(self) -> Iterator[Segment]:
        kept = [at for at, column in enumerate(self.columns) if not column.drawn]
        yield Segment("\t".join(self.columns[at].name for at in kept) + "\n")
        for row in self.rows:
            yield Segment("\t".join(one_line(row[at]) for at in kept) + "\n")


def bar(value: float, largest: float, width: int = 16) -> str:
    """A bar of eighths of a block, ``width`` cells for the largest value; something for every value above 0."""
    if value <= 0 or largest <= 0:
        return ""
    eighths = max(1, round(value / largest * width * 8))
    return "█" * (eighths // 8) + _BLOCKS[eighths % 8].strip()


def sparkline(values: Sequence[float]) -> str:
    """One character per value, from the lowest line (0) to a full block (the largest)."""
    largest = max(values, default=0)
    if largest <= 0:
        return _SPARKS[0] * len(values)
    return "".join(_SPARKS[round(value / largest * (len(_SPARKS) - 1))] for value in values)
