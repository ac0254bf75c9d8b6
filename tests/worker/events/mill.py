"""Relays and counters over one store, and events to put through them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.events import Event, EventType, event_id
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from search.ports import StateStore
from tests.contracts.writes import DIMENSION, MODEL
from worker.events.bus import EventBus, Lag, Sequenced
from worker.events.counting import CountEvents, Projections
from worker.events.local_bus import LocalBus
from worker.events.log import EventLog
from worker.events.projection import Projection
from worker.events.relay import Relay, RelayEvents

ACME, BIRCH = Tenant("acme"), Tenant("birch")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def event(kind: EventType, tenant: Tenant, subject: str, body: dict[str, Any], at: datetime = NOW) -> Event:
    return Event(event_id(kind, tenant, subject), kind, tenant, at, subject, body)


def digest(tenant: Tenant, number: int) -> Event:
    return event("digest.published", tenant, f"d{number}", {"monitor_id": f"m{number % 3}"})


def refusal(tenant: Tenant, number: int) -> Event:
    body = {"run_id": f"r{number}", "reason": "OFF_TOPIC", "drafted": False, "groundedness": 0.0, "citation_precision": 0.0, "claims": 0}
    return event("answer.refused", tenant, f"r{number}", body, NOW + timedelta(seconds=number))


def indexed(tenant: Tenant, number: int, **facts: Any) -> Event:
    document = {"id": f"t{number}", "version": 1, "day": f"2026-01-{1 + number % 28:02}", "source": "ticket", **facts}
    return event("documents.indexed", tenant, f"b{number}", {"documents": [document]})


def keep(state: StateStore, events: Sequence[Event]) -> None:
    """Events with an entry each, as their makers put them."""
    for each in events:
        state.put(each.tenant, "made", each.event_id, {}, event=each)


class DownBus:
    """A bus that cannot be reached."""

    def __getattr__(self, name: str) -> Any:
        raise Unavailable("the bus is gone", dependency="redis")


class QuietBus:
    """A bus that loses everything."""

    def publish(self, messages: Sequence[Sequenced]) -> None:
        """Lose it."""

    def read(self, *_: Any, **__: Any) -> tuple[()]:
        """Nothing."""
        return ()

    def lag(self, _group: str) -> Lag:
        """None."""
        return Lag(0, 0)


@dataclass(frozen=True, slots=True)
class Mill:
    """One store with everything that works on its events."""

    state: StateStore
    bus: EventBus
    clock: SettableClock
    metrics: Metrics

    @property
    def log(self) -> EventLog:
        return EventLog(self.state)

    @property
    def relay(self) -> Relay:
        return Relay(self.state, self.log, self.bus, self.metrics)

    @property
    def projections(self) -> Projections:
        return Projections(self.state, self.log, self.clock, self.metrics)

    @property
    def relaying(self) -> RelayEvents:
        return RelayEvents(self.relay)

    @property
    def counting(self) -> CountEvents:
        return CountEvents(self.projections, self.bus, "test")

    def run(self) -> None:
        """The duties, until nothing is due."""
        for _ in range(1000):
            due = [(duty, work) for duty in (self.relaying, self.counting) for work in duty.due(self.clock.now())]
            if not due:
                return
            for duty, work in due:
                duty.do(work)
        raise AssertionError("something stays due")

    def logged(self, tenant: Tenant) -> list[Event]:
        return [each for page in self.log.since(tenant, 0) for each in page.events]

    def projection(self, tenant: Tenant) -> dict[str, Any]:
        return self.projections.get(tenant).as_json()


def folded(events: Sequence[Event]) -> dict[str, Any]:
    """What a projection of these events says, but for the page."""
    projection = Projection()
    for each in events:
        projection.apply(each)
    return without_page(projection.as_json())


def without_page(value: dict[str, Any]) -> dict[str, Any]:
    return {name: kept for name, kept in value.items() if name != "page"}


@contextmanager
def open_mill(path: Path, bus: EventBus | None = None) -> Iterator[Mill]:
    clock = SettableClock(NOW)
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=clock) as engine:
        yield Mill(engine.state, bus or LocalBus(clock), clock, Metrics())
