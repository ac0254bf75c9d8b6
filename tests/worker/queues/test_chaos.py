"""Workers and beats that are killed at random: every due window is evaluated, one digest each."""

import random
from collections.abc import Iterator

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from search.ports import Engine
from tests.contracts.writes import DIMENSION, MODEL
from tests.worker.queues.conftest import Plant, eventually
from tests.worker.queues.watching import save_monitor
from worker.monitors.digest import Digest
from worker.monitors.digests import Digests
from worker.queues.dead_letters import DeadLetters

pytestmark = [pytest.mark.live("valkey"), pytest.mark.slow]

WINDOWS = 100
TENANTS = tuple(f"t{number}" for number in range(10))
EACH = 9
"""A process is killed after so many windows became due."""


@pytest.fixture
def engine(plant: Plant) -> Iterator[Engine]:
    with open_embedded(plant.store, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        yield engine


def digests(engine: Engine) -> list[Digest]:
    published = Digests(engine.state, SystemClock(), engine)  # type: ignore[attr-defined]
    return [digest for tenant in TENANTS for digest in published.since(Tenant(tenant), None, 1000)]


@pytest.mark.parametrize("kinds", [("worker", "worker", "beat", "beat"), ("local", "local")], ids=["celery", "local"])
def test_killed_at_random_for_100_windows(plant: Plant, engine: Engine, kinds: tuple[str, ...]) -> None:
    """A window is a monitor's first; there are always some due while processes are killed, most of them in the middle of an evaluation."""
    randomness, heard = random.Random(20261130), plant.channel.heard(within_s=2)
    running = [(kind, plant.start(kind, duty="monitors", WA_WORKER_MAX_DELIVERIES="20")) for kind in kinds]
    killed = 0
    for number in range(WINDOWS):
        save_monitor(engine, TENANTS[number % len(TENANTS)], f"Monitor {number}")
        next(heard, None)
        if number % EACH == EACH - 1:
            kind, process = running.pop(randomness.randrange(len(running)))
            plant.kill(process)
            running.append((kind, plant.start(kind, duty="monitors", WA_WORKER_MAX_DELIVERIES="20")))
            killed += 1
    eventually(lambda: len(digests(engine)) >= WINDOWS, within_s=120)
    found = digests(engine)
    assert len({(digest.monitor_name, digest.monitor_id) for digest in found}) == len(found) == WINDOWS
    assert {digest.version for digest in found} == {1}
    fired = [event.subject for event in engine.state.outbox(first=1000) if event.type == "monitor.transitioned"]  # type: ignore[attr-defined]
    assert len(fired) == WINDOWS
    letters = DeadLetters(engine.state, SystemClock())  # type: ignore[attr-defined]
    assert all(letters.list(Tenant(tenant)) == ((), None) for tenant in TENANTS)
    assert killed == WINDOWS // EACH
