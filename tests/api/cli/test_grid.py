"""A table is drawn, stacked or tab-separated, whichever its reader can use."""

import io

from rich.console import Console

from api.cli.grid import Column, Grid, bar, sparkline
from api.cli.screen import console

GRID = Grid((Column("id"), Column("", drawn=True), Column("text", flexible=True)), (("a", "███", "one\ttwo"), ("b", "█", "[red]x[/red]")))


def drawn(grid: Grid, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=width, markup=False, highlight=False, color_system=None).print(grid)
    return stream.getvalue()


def test_a_pipe_gets_tab_separated_rows_without_bars() -> None:
    stream = io.StringIO()
    console(stream).print(GRID)
    assert stream.getvalue().splitlines() == ["id\ttext", "a\tone two", "b\t[red]x[/red]"]


def test_a_terminal_gets_a_table_with_bars() -> None:
    shown = drawn(GRID, 80)
    assert "███" in shown
    assert "[red]x[/red]" in shown


def test_a_narrow_terminal_gets_a_row_over_several_lines() -> None:
    assert "text: [red]x[/red]" in drawn(GRID, 30)


def test_no_line_is_wider_than_the_terminal() -> None:
    wide = Grid((Column("id", flexible=True), Column("text", flexible=True)), (("i" * 70, "word " * 60),))
    for width in (60, 80, 120):
        assert max(len(line) for line in drawn(wide, width).splitlines()) <= width


def test_a_bar_is_as_long_as_its_value() -> None:
    assert bar(10, 10, 8) == "█" * 8
    assert bar(5, 10, 8) == "█" * 4
    assert bar(1, 10_000, 8) == "▏"
    assert bar(0, 10) == ""
    assert bar(0, 0) == ""


def test_a_sparkline_has_one_character_per_value() -> None:
    assert sparkline([0, 7, 14]) == "▁▅█"
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([]) == ""
