"""Processes that evaluate a monitor and are killed before or after their n-th write, two at once for each point: ``killed_evaluator.py STORE POINT…``
with points such as ``3-before``, which are tenants too. Prints how many were killed."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from runtime.clock import SettableClock
from runtime.tenancy import tenant_named
from search.engines.embedded import open_embedded
from search.ports import StateEntry, StateStore
from tests.contracts.writes import DIMENSION, MODEL
from tests.worker.monitors.watch import LaidOut, Watch, at


class Killing:
    """A state store that ends its process at a write."""

    def __init__(self, state: StateStore, write: int, when: str) -> None:
        self._state = state
        self._left = write
        self._when = when

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def put(self, *arguments: Any, **options: Any) -> StateEntry:
        self._left -= 1
        if self._left == 0 and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        entry = self._state.put(*arguments, **options)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return entry


def evaluated(store: str, point: str, write: int, when: str) -> None:
    """One evaluation of the tenant of a point, to its death."""
    clock = SettableClock(at(0))
    with open_embedded(Path(store), model=MODEL, dimension=DIMENSION, clock=clock) as engine:
        killing: Any = Killing(engine.state, write, when)
        watch = Watch(engine, killing, tenant_named(f"t{point}"), clock, LaidOut({at(0): 12}))
        watch.evaluator.evaluate_latest(watch.tenant, "crash-volume")


def forked(store: str, point: str, write: int, when: str) -> int:
    """Start one; nothing is open yet that a fork could share."""
    child = os.fork()
    if child == 0:
        try:
            evaluated(store, point, write, when)
        finally:
            os._exit(0)
    return child


def main(store: str, *points: str) -> None:
    """Two processes a point: one is killed there, the other one write later."""
    killed = 0
    for point in points:
        number, when = point.split("-")
        children = [forked(store, point, write, when) for write in (int(number), 1 + int(number) % 4)]
        killed += sum(os.WIFSIGNALED(os.waitpid(child, 0)[1]) for child in children)
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
