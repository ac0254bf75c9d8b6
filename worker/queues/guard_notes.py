"""What the processes of a pool know of the dependencies, left where the process that serves their metrics finds it."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from runtime.telemetry import Metrics

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The library's name for where processes leave their counts."""
NOTED_EVERY_S = 2.0
_LIVE = re.compile(r"gauge_live\w*_(\d+)\.db\Z")


@contextmanager
def guards_noted(metrics: Metrics) -> Iterator[None]:
    """Circuits, calls in progress and repetitions of this process are written down every few seconds as long as the body lasts; nowhere, where a process
    serves its own metrics."""
    folder = os.environ.get(FOLDER)
    if not folder:
        yield
        return
    forget_the_dead(Path(folder))
    over = threading.Event()

    def note() -> None:
        metrics.note_guards()
        while not over.wait(NOTED_EVERY_S):
            metrics.note_guards()

    noting = threading.Thread(target=note, name="guard notes", daemon=True)
    noting.start()
    try:
        yield
    finally:
        over.set()
        noting.join()
        mark_process_dead(os.getpid(), folder)  # type: ignore[no-untyped-call]


def forget_the_dead(folder: Path) -> None:
    """A process that was killed left its open circuits behind; whoever takes its place removes them."""
    for found in folder.iterdir():
        match = _LIVE.match(found.name)
        if match and not _lives(int(match[1])):
            mark_process_dead(int(match[1]), str(folder))  # type: ignore[no-untyped-call]


def _lives(process: int) -> bool:
    with suppress(PermissionError):  # somebody else's, and there
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
