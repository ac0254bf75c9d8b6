"""Real processes killed between any two writes of an evaluation, two evaluators at once: one digest, one transition."""

import subprocess
import sys
from itertools import product
from pathlib import Path

from runtime.clock import SettableClock
from runtime.tenancy import tenant_named
from search.engines.embedded import open_embedded
from tests.contracts.writes import DIMENSION, MODEL
from tests.worker.monitors.watch import LaidOut, Watch, at

PROCESSES = Path(__file__).with_name("killed_evaluator.py")
POINTS = tuple(f"{write}-{when}" for write, when in product(range(1, 5), ("before", "after")))


def test_killed_at_every_write_and_beside_another_that_is_killed_too(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    clock = SettableClock(at(0))
    with open_embedded(store, model=MODEL, dimension=DIMENSION, clock=clock) as engine:
        watches = [Watch(engine, engine.state, tenant_named(f"t{point}"), clock, LaidOut({at(0): 12})) for point in POINTS]
        for watch in watches:
            watch.save()
        ended = subprocess.run(
            [sys.executable, str(PROCESSES), str(store), *POINTS], capture_output=True, text=True, timeout=200, check=True
        )
        assert int(ended.stdout) >= len(POINTS)
        for watch in watches:
            watch.evaluator.evaluate_latest(watch.tenant, "crash-volume")
            assert len(watch.published()) == 1
            assert [body["after"] for body in watch.told("monitor.transitioned")] == ["firing"]
            assert len(watch.told("digest.published")) == 1
