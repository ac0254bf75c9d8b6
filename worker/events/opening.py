"""The room of events, wired: the bus of these settings, the relay, the projections and their duties."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runtime.clock import Clock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from search.engines.write_intents import WriteIntents
from search.ports import Engine, StateStore
from worker.duties import Duty
from worker.events.bus import EventBus
from worker.events.counting import CountEvents, Projections
from worker.events.insights import InsightsReader
from worker.events.local_bus import LocalBus
from worker.events.log import EventLog
from worker.events.recovering import RecoverWrites
from worker.events.relay import Relay, RelayEvents


@dataclass(frozen=True, slots=True)
class Events:
    """What doors and workers need of events."""

    bus: EventBus
    projections: Projections
    insights: InsightsReader
    duties: tuple[Duty, ...]


@contextmanager
def open_events(settings: Settings, engine: Engine, state: StateStore, clock: Clock, metrics: Metrics) -> Iterator[Events]:
    """Events over the bus of ``WA_REDIS_URL``, or in this process where that is blank."""
    bus = _bus(settings, clock)
    metrics.watch(bus)
    try:
        yield events_over(bus, engine, state, clock, metrics, without_worker=not settings.redis_url)
    finally:
        bus.close()


def events_over(bus: EventBus, engine: Engine, state: StateStore, clock: Clock, metrics: Metrics, *, without_worker: bool) -> Events:
    """Events over a bus. ``without_worker``: whoever reads the counts brings them up to date first."""
    log = EventLog(state)
    projections = Projections(state, log, clock, metrics)
    relay = Relay(state, log, bus, metrics)
    consumer = f"{socket.gethostname()}-{os.getpid()}"
    return Events(
        bus,
        projections,
        InsightsReader(state, engine, clock, relay, projections, without_worker),
        (RelayEvents(relay), CountEvents(projections, bus, consumer), RecoverWrites(WriteIntents(state, clock), engine)),
    )


def _bus(settings: Settings, clock: Clock) -> EventBus:
    if not settings.redis_url:
        return LocalBus(clock)
    from worker.events.redis_bus import open_redis_bus

    return open_redis_bus(settings, clock)
