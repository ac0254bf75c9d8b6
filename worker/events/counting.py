"""Counting a tenant's log into its projection, once: the pages that were counted are kept in the same entry as the counts."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from runtime.clock import Clock
from runtime.errors import Conflict, Unavailable
from runtime.events import Event
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from search.engines.told import BASELINE
from search.ports import StateEntry, StateStore
from worker.duties import Queue, Work
from worker.events.bus import EventBus
from worker.events.log import EventLog, Page
from worker.events.projection import Projection, projection_from_json, starting_from
from worker.queues.dead_letters import DeadLetters

KIND = "projection"
_ID = "insights"
GROUP = "projections"
_PAGES_AT_ONCE = 20
_ATTEMPTS = 20
_UNSOUND = (KeyError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True, slots=True)
class Projections:
    """The projections of all tenants."""

    state: StateStore
    log: EventLog
    clock: Clock
    metrics: Metrics

    def get(self, tenant: Tenant) -> Projection:
        """What has been counted so far."""
        return self._projection(tenant, self.state.get(tenant, KIND, _ID))

    def catch_up(self, tenant: Tenant) -> Projection:
        """Count everything in the log that is not counted yet.

        Counts and the number of the last page counted are put together and only over what was read: whoever else counts, or counted before
        being killed, no page is counted twice and none is left out.
        """
        for _ in range(_ATTEMPTS):
            entry = self.state.get(tenant, KIND, _ID)
            projection = self._projection(tenant, entry)
            pages = [page for page, _ in zip(self.log.since(tenant, projection.page), range(_PAGES_AT_ONCE), strict=False)]
            if not pages:
                self.log.note(tenant, counted=projection.page)
                return projection
            if self._counted(tenant, entry, projection, pages):
                self._count(pages)
        return self.get(tenant)

    def rebuild(self, tenant: Tenant) -> Projection:
        """Count everything again from the beginning."""
        for _ in range(_ATTEMPTS):
            entry = self.state.get(tenant, KIND, _ID)
            projection = self._projection(tenant, None)
            if self._counted(tenant, entry, projection, self.log.since(tenant, 0)):
                return self.catch_up(tenant)
        raise Conflict("the counts are being changed by others all the time; count again later")

    def _projection(self, tenant: Tenant, entry: StateEntry | None) -> Projection:
        if entry is not None:
            return projection_from_json(entry.body)
        baseline = self.state.get(tenant, BASELINE, BASELINE)
        return starting_from(None if baseline is None else baseline.body)

    def _counted(self, tenant: Tenant, entry: StateEntry | None, projection: Projection, pages: Iterable[Page]) -> bool:
        """Count pages into the projection and put it in the place of ``entry``; False when that has changed meanwhile."""
        for page in pages:
            for event in page.events:
                self._apply(projection, event)
            projection.end_page(page.number)
        try:
            self.state.put(tenant, KIND, _ID, projection.as_json(), expected=0 if entry is None else entry.version)
        except Conflict:
            return False
        return True

    def _apply(self, projection: Projection, event: Event) -> None:
        """One event that cannot be counted is given up at once, as it would fail the same way again, and keeps nothing behind it waiting."""
        try:
            projection.apply(event)
        except _UNSOUND as error:
            projection.failed += 1
            said = f"{event.type} cannot be counted ({type(error).__name__}: {error})"
            DeadLetters(self.state, self.clock).write(_letter(event), said, 1)
            self.metrics.count("wa_events_consumed_total", event_type=event.type, outcome="dead")
            logger("worker").error("an event cannot be counted", event_id=event.event_id, type=event.type, error=type(error).__name__)

    def _count(self, pages: Iterable[Page]) -> None:
        for page in pages:
            for event in page.events:
                self.metrics.count("wa_events_consumed_total", event_type=event.type, outcome="counted")


def _letter(event: Event) -> Work:
    return Work("count_events", event.tenant, ("event", event.event_id))


@dataclass(frozen=True, slots=True)
class CountEvents:
    """The duty of counting, as the consumer group of projections; implements :class:`worker.duties.Duty`."""

    projections: Projections
    bus: EventBus
    process: str
    name: str = "count_events"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:  # noqa: ARG002 (the port's signature)
        """The tenants whose logs are longer than what is counted."""
        return [
            Work(self.name, tenant, ("page", str(head.page))) for tenant, head in self.projections.log.heads() if head.page > head.counted
        ]

    def do(self, work: Work) -> Iterable[Work]:
        """Count for everybody the bus has news of, then for the tenant of the work, whatever the bus says.

        A dead letter that is tried again counts its tenant from the beginning.
        """
        try:
            self.consume()
        except Unavailable as error:
            logger("worker").warning("the bus brings no news; counting from the log", error=type(error).__name__)
        if work.key[0] == "event":
            self.projections.rebuild(work.tenant)
        else:
            self.projections.catch_up(work.tenant)
        return ()

    def consume(self, *, first: int = 100) -> int:
        """Count what the bus delivers, and acknowledge it; returns how many messages that were."""
        deliveries = self.bus.read(GROUP, f"{self.process}-{threading.get_ident()}", first=first)
        for tenant in dict.fromkeys(delivery.message.event.tenant for delivery in deliveries):
            self.projections.catch_up(tenant)
            self.bus.acknowledge(GROUP, [delivery for delivery in deliveries if delivery.message.event.tenant == tenant])
        lag = self.bus.lag(GROUP)
        self.projections.metrics.set("wa_events_lag", lag.unread + lag.pending)
        return len(deliveries)
