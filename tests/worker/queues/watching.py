"""The real duty of monitors in worker processes, over an observer that sees a breach in every window and takes its time."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from runtime.clock import SystemClock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from search.engines.opening import sqlite_path
from search.ports import Engine
from tests.contracts.writes import DIMENSION, MODEL
from tests.worker.monitors.watch import LaidOut, Refusing, given
from tests.worker.queues.windows import Channel, Workshop
from worker.deliveries.duty import NAME as DELIVERIES
from worker.duties import Duty, Queue, Work
from worker.monitors.digests import Digests
from worker.monitors.duty import NAME, MonitorDuty
from worker.monitors.evaluating import Evaluator
from worker.monitors.monitor import Monitor
from worker.monitors.observing import Seen
from worker.monitors.reading import monitor_from
from worker.monitors.store import Monitors
from worker.monitors.window import Window

SEEN = 12
"""Documents in every window; the monitors fire at ten."""


@dataclass(frozen=True, slots=True)
class Lingering:
    """An observer that tells when it begins, and then takes its time, so that there is something to kill."""

    channel: Channel
    laid_out: LaidOut

    def observe(self, tenant: Tenant, monitor: Monitor, window: Window) -> Seen:
        self.channel.tell("started", monitor.monitor_id)
        threading.Event().wait(0.1)
        self.laid_out.counts[window.end] = SEEN
        return self.laid_out.observe(tenant, monitor, window)

    def describe(self, tenant: Tenant, monitor: Monitor) -> str:
        return self.laid_out.describe(tenant, monitor)


@dataclass(frozen=True, slots=True)
class Nobody:
    """In place of deliveries: nobody is to be told."""

    name: str = DELIVERIES
    queue: Queue = "deliveries"

    def due(self, _now: datetime) -> Iterable[Work]:
        return ()

    def do(self, _work: Work) -> Iterable[Work]:
        return ()


def evaluator(engine: Engine, channel: Channel, metrics: Metrics) -> Evaluator:
    """As a service has it, over that observer."""
    state, clock = engine.state, SystemClock()  # type: ignore[attr-defined]
    observer = Lingering(channel, LaidOut())
    return Evaluator(engine, Monitors(state, clock), Digests(state, clock, engine), observer, Refusing(), clock, metrics)


class WatchingOpening:
    """Opens a workshop with the duty of monitors in a worker's process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @contextmanager
    def __call__(self, settings: Settings) -> Iterator[Workshop]:
        clock, metrics = SystemClock(), Metrics()
        with open_embedded(sqlite_path(settings.engine_url), model=MODEL, dimension=DIMENSION, clock=clock) as engine:
            watching = evaluator(engine, self._channel, metrics)
            monitors = MonitorDuty(engine.state, engine, Monitors(engine.state, clock), watching, metrics)
            duties: Mapping[str, Duty] = {NAME: monitors, DELIVERIES: Nobody()}
            yield Workshop(settings, engine.state, duties, clock, metrics)


def save_monitor(engine: Engine, tenant: str, name: str) -> Monitor:
    """A monitor that is due from now on."""
    clock = SystemClock()
    return Monitors(engine.state, clock).save(Tenant(tenant), monitor_from(given(name=name), clock.now()))  # type: ignore[attr-defined]
