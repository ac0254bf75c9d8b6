"""From the outbox into the log and onto the bus. Any number of relays may be at work; each may die at any moment.

In this order: look where a tenant's log ends, read the outbox, write a page of what the last page does not hold, publish, take out of the outbox.
The events of a page are out of the outbox before anybody makes the next page; so an event that is still in the outbox is in the last page or in none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from runtime.errors import Conflict, Unavailable
from runtime.events import Event
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from search.engines.write_intents import KIND as INTENT
from search.engines.write_intents import told_ids
from search.ports import StateStore
from worker.duties import Queue, Work
from worker.events.bus import EventBus, Sequenced
from worker.events.log import EventLog, Page

BATCH = 100
COUNTED_AT_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Relay:
    """Relays events, oldest first."""

    state: StateStore
    log: EventLog
    bus: EventBus
    metrics: Metrics

    def relay(self) -> dict[Tenant, int]:
        """One batch; returns the last page of each tenant whose log grew, or may have.

        Raises:
            Unavailable: the bus or the state store is down; what was not published stays in the outbox.
        """
        ends = {tenant: self.log.last(tenant) for tenant in dict.fromkeys(event.tenant for event in self.state.outbox(first=BATCH))}
        waiting = self.state.outbox(first=BATCH)
        return {tenant: self._relay(tenant, last, [event for event in waiting if event.tenant == tenant]) for tenant, last in ends.items()}

    def _relay(self, tenant: Tenant, last: Page, events: Sequence[Event]) -> int:
        waiting = {event.event_id for event in events}
        known = {event.event_id for event in last.events}
        self._send(tenant, last, [message for message in last.sequenced() if message.event.event_id in waiting])
        fresh = [event for event in events if event.event_id not in known]
        while fresh:
            try:
                last, taken = self.log.append(tenant, last, fresh)
            except Conflict:
                break  # another relay is at it
            self._send(tenant, last, last.sequenced())
            fresh = fresh[taken:]
        return last.number

    def _send(self, tenant: Tenant, page: Page, messages: Sequence[Sequenced]) -> None:
        """Publish and settle. The head is moved before, so that no page is overlooked by those who count when this process dies in between."""
        events = [message.event for message in messages]
        if not events:
            return
        self.log.note(tenant, page=page.number)
        try:
            self.bus.publish(messages)
        except Unavailable:
            self._count(events, "unavailable")
            raise
        self.state.settle(events)
        self._count(events, "published")
        if intents := told_ids(events):
            self.state.remove(tenant, INTENT, intents)

    def _count(self, events: Iterable[Event], outcome: str) -> None:
        for event in events:
            self.metrics.count("wa_events_published_total", event_type=event.type, outcome=outcome)


@dataclass(frozen=True, slots=True)
class RelayEvents:
    """The duty of relaying; implements :class:`worker.duties.Duty`."""

    relay: Relay
    name: str = "relay_events"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:  # noqa: ARG002 (the port's signature)
        """One piece while anything waits, named after the oldest event."""
        waiting = self.relay.state.outbox(first=COUNTED_AT_MOST)
        self.relay.metrics.set("wa_outbox_events", len(waiting))
        return (self._work(waiting[0]),) if waiting else ()

    def do(self, work: Work) -> Iterable[Work]:  # noqa: ARG002 (whatever is oldest now is relayed)
        """One batch; what the tenants it belongs to have to count follows. A bus that is down is no failure: the events stay where they are."""
        try:
            pages = self.relay.relay()
        except (Unavailable, Conflict) as error:
            logger("worker").warning("events stay in the outbox until the next look", error=type(error).__name__)
            return ()
        following = [Work("count_events", tenant, ("page", str(page))) for tenant, page in pages.items()]
        left = self.relay.state.outbox(first=1)
        return (*following, *(self._work(event) for event in left))

    def _work(self, oldest: Event) -> Work:
        return Work(self.name, oldest.tenant, ("outbox", oldest.event_id))
