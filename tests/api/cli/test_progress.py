"""Progress: silent, in plain lines, or a bar."""

import io
from datetime import UTC, datetime

from rich.console import Console

from api.cli.progress import progress_line, progress_on
from api.cli.screen import Screen, console
from runtime.clock import SettableClock
from search.ingest.report import Progress


def screen_on(err: Console, *, quiet: bool = False) -> Screen:
    return Screen(console(io.StringIO()), err, quiet=quiet)


def test_outside_a_terminal_a_line_comes_every_few_seconds() -> None:
    stream, clock = io.StringIO(), SettableClock(datetime(2026, 1, 1, tzinfo=UTC))
    with progress_on(screen_on(console(stream)), clock, "rows.csv", lambda: None) as told:
        for second in range(12):
            clock.elapsed_s = float(second)
            told(Progress(second * 500, second * 400, 400.0, None))
    assert stream.getvalue().splitlines() == ["rows.csv: 2,000 rows, 400 a second", "rows.csv: 4,000 rows, 400 a second"]


def test_on_a_terminal_there_is_a_bar_with_rate_and_remaining_time() -> None:
    stream = io.StringIO()
    err = Console(file=stream, force_terminal=True, width=100, legacy_windows=False)
    with progress_on(screen_on(err), SettableClock(datetime(2026, 1, 1, tzinfo=UTC)), "[b]rows.csv", lambda: 0.5) as told:
        told(Progress(1000, 900, 430.4, 75.0))
    assert "900 rows, 430 a second, about 75 s left" in stream.getvalue()
    assert "[b]rows.csv" in stream.getvalue()


def test_quiet_is_silent() -> None:
    stream = io.StringIO()
    err = Console(file=stream, force_terminal=True)
    with progress_on(screen_on(err, quiet=True), SettableClock(datetime(2026, 1, 1, tzinfo=UTC)), "x", lambda: None) as told:
        told(Progress(1, 1, 1.0, None))
    assert stream.getvalue() == ""


def test_remaining_time_is_written_in_units_that_suit_it() -> None:
    assert progress_line(Progress(1, 1, 1.0, 12.4)).endswith("about 12 s left")
    assert progress_line(Progress(1, 1, 1.0, 150.0)).endswith("about 2:30 min left")
    assert progress_line(Progress(1, 1, 1.0, 3723.0)).endswith("about 1:02:03 left")
