"""What a worker says at its start, and the work that was given up."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.views.text import counted, minute
from api.cli.visible import one_line
from runtime.settings import Settings
from worker.queues.dead_letters import DeadLetter


def announcement(settings: Settings, queues: Sequence[str], *, local: bool, beat: bool, work: bool) -> list[str]:
    """Which parts run, on what, and how to stop them. Passwords in URLs are masked."""
    shown = settings.describe()
    interval = f"every {settings.monitor_interval_s:g} s"
    broker = "no broker" if local else f"broker {shown['redis_url']}"
    if not work:
        return [f"WisdomAgent beat: looks for due work {interval} on {broker}; Ctrl-C stops it"]
    doing = f"{counted(settings.worker_concurrency, 'piece')} of work at once, for {', '.join(queues)}"
    looking = f"looks for due work {interval}" if local or beat else "leaves looking for due work to others"
    port = settings.worker_metrics_port
    metrics = f"metrics on http://127.0.0.1:{port}/metrics" if port else "no metrics port"
    return [
        f"WisdomAgent worker: {doing}; {looking}",
        f"{broker}, store {shown['engine_url']}, {metrics}",
        "Ctrl-C or SIGTERM lets running pieces finish",
    ]


def dead_letters_view(letters: Sequence[DeadLetter]) -> RenderableType:
    """What ``worker dead-letters list`` prints, newest first."""
    if not letters:
        return Text("nothing was given up")
    columns = (
        Column("letter", style="cyan"),
        Column("at"),
        Column("duty"),
        Column("key", flexible=True),
        Column("attempts", right=True),
        Column("error", flexible=True),
    )
    return Grid(columns, tuple(map(_row, letters)), minimum=100)


def _row(letter: DeadLetter) -> tuple[str, ...]:
    key = " ".join(letter.work.key)
    return (letter.letter_id, minute(letter.at), letter.work.duty, one_line(key, 60), str(letter.attempts), one_line(letter.error, 200))
