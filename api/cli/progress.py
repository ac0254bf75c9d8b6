"""How far an ingest is: a bar with rate and remaining time on a terminal, a plain line every few seconds elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from api.cli.screen import Screen
from runtime.clock import Clock
from search.ingest import report

Told = Callable[[report.Progress], None]
Share = Callable[[], float | None]

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress_on(screen: Screen, clock: Clock, what: str, share: Share) -> Iterator[Told]:
    """A function to tell of progress. ``what`` is being read; ``share`` says how much of it has been, 0..1 or None while nobody knows."""
    if screen.quiet:
        yield lambda _: None
    elif screen.err.is_terminal:
        with _bar(screen, what, share) as told:
            yield told
    else:
        yield _Lines(screen, clock, what)


def progress_line(progress: report.Progress) -> str:
    """``1,200 rows, 430 a second, about 12 s left``."""
    parts = [f"{progress.done:,} rows", f"{progress.rate:,.0f} a second"]
    if progress.remaining is not None:
        parts.append(f"about {_duration(progress.remaining)} left")
    return ", ".join(parts)


@contextmanager
def _bar(screen: Screen, what: str, share: Share) -> Iterator[Told]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[told]}", markup=False),
    )
    with Progress(*columns, console=screen.err, transient=True) as shown:
        task = shown.add_task(what, total=None, told="starting")

        def told(progress: report.Progress) -> None:
            read = share()
            shown.update(task, total=None if read is None else 1.0, completed=read or 0.0, told=progress_line(progress))

        yield told


@dataclass(slots=True)
class _Lines:
    screen: Screen
    clock: Clock
    what: str
    _last_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._last_s = self.clock.seconds()

    def __call__(self, progress: report.Progress) -> None:
        now = self.clock.seconds()
        if now - self._last_s >= SECONDS_BETWEEN_LINES:
            self._last_s = now
            self.screen.note(f"{self.what}: {progress_line(progress)}")


def _duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d} min"
