"""Deliveries in the state store: planned once per receiver, claimed by one worker at a time, ended in a state that can be seen."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from runtime.clock import Clock
from runtime.errors import Conflict
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery, DeliveryState, delivery_as_json, delivery_from_json, delivery_id

KIND = "delivery"
REPEATS = 5
"""Times a change is made anew on what somebody else wrote meanwhile; writers of one record are few."""


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Some deliveries, newest first, and where to go on."""

    deliveries: tuple[Delivery, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Keeps the records; sends nothing."""

    state: StateStore
    clock: Clock

    def plan(self, tenant: Tenant, digest_id: str, monitor_id: str, version: int, receiver: Receiver) -> Delivery:
        """The record of this digest and receiver, made when there is none; a later version of the digest makes it pending again. Repeating
        changes nothing."""
        identifier, now = delivery_id(tenant, digest_id, receiver), self.clock.now()
        for _ in range(REPEATS):
            known = self.get(tenant, identifier)
            if known is not None and known.version >= version:
                return known
            fresh = Delivery(identifier, digest_id, monitor_id, receiver, "pending", version, version, now, now)
            try:
                return self._put(tenant, fresh if known is None else _updated(known, version, now))
            except Conflict:
                continue
        raise Conflict("the delivery is being changed by others all the time; try again")

    def get(self, tenant: Tenant, identifier: str) -> Delivery | None:
        """The record as last written."""
        entry = self.state.get(tenant, KIND, identifier)
        return _delivery(entry) if entry else None

    def of_digest(self, tenant: Tenant, digest_id: str) -> tuple[Delivery, ...]:
        """Every receiver of one digest, by id."""
        entries, _ = self.state.entries(tenant, KIND, labels={"digest": digest_id}, first=1000)
        return tuple(sorted(map(_delivery, entries), key=lambda item: item.delivery_id))

    def list(self, tenant: Tenant, *, state: DeliveryState | None = None, first: int = 50, after: str | None = None) -> DeliveryPage:
        """Deliveries of a tenant, newest first; ``state`` keeps only those."""
        entries, cursor = self.state.entries(tenant, KIND, labels={"state": state} if state else None, first=first, after=after)
        return DeliveryPage(tuple(map(_delivery, entries)), cursor)

    def pending(self) -> Iterator[tuple[Tenant, Delivery]]:
        """Everything that is still to be sent, of all tenants."""
        for tenant, entry in self.state.scan(KIND, labels={"state": "pending"}):
            yield tenant, _delivery(entry)

    def pending_at(self, tenant: Tenant, host: str, now: datetime) -> Delivery | None:
        """The delivery to this host that has been due the longest, among the newest thousand."""
        entries, _ = self.state.entries(tenant, KIND, labels={"state": "pending", "host": host}, first=1000)
        due = [item for item in map(_delivery, entries) if item.next_attempt_at <= now]
        return min(due, key=lambda item: (item.next_attempt_at, item.delivery_id), default=None)

    def claim(self, tenant: Tenant, delivery: Delivery, lease_s: float) -> Delivery:
        """Count an attempt before it is made, and keep others away for as long as it may take; a worker that dies in it has used it up.

        Raises:
            Conflict: somebody else claimed or changed it first.
        """
        until = self.clock.now() + timedelta(seconds=lease_s)
        return self._put(tenant, replace(delivery, attempts=delivery.attempts + 1, next_attempt_at=until))

    def arrived(self, tenant: Tenant, sent: Delivery) -> None:
        """The receiver took ``sent.version``. When a newer version was planned meanwhile, that one stays pending."""
        now = self.clock.now()
        self._change(tenant, sent.delivery_id, lambda known: _arrived(known, sent.version, now))

    def postponed(self, tenant: Tenant, tried: Delivery, until: datetime, error: str, *, counted: bool = True) -> None:
        """The attempt failed and is to be repeated; one that was not made because of an open circuit is not counted."""
        attempts = tried.attempts if counted else tried.attempts - 1
        after = replace(tried, attempts=attempts, next_attempt_at=until, last_error=error)
        self._change(tenant, tried.delivery_id, lambda known: after if known.revision == tried.revision else known)

    def given_up(self, tenant: Tenant, tried: Delivery, error: str) -> None:
        """No further attempt is made unless somebody asks for it."""
        after = replace(tried, state="undelivered", last_error=error)
        self._change(tenant, tried.delivery_id, lambda known: after if known.revision == tried.revision else known)

    def redeliver(self, tenant: Tenant, digest_id: str) -> tuple[Delivery, ...]:
        """Make every undelivered delivery of a digest pending again, under its old idempotency key; returns those."""
        lost = [item for item in self.of_digest(tenant, digest_id) if item.state == "undelivered"]
        now = self.clock.now()
        changed = [self._change(tenant, item.delivery_id, lambda known: _requeued(known, now)) for item in lost]
        return tuple(item for item in changed if item is not None)

    def _change(self, tenant: Tenant, identifier: str, change: Callable[[Delivery], Delivery]) -> Delivery | None:
        for _ in range(REPEATS):
            known = self.get(tenant, identifier)
            if known is None:
                return None
            wanted = change(known)
            if wanted == known:
                return known
            try:
                return self._put(tenant, replace(wanted, revision=known.revision))
            except Conflict:
                continue
        raise Conflict("the delivery is being changed by others all the time; try again")

    def _put(self, tenant: Tenant, delivery: Delivery) -> Delivery:
        labels = {"state": delivery.state, "digest": delivery.digest_id, "host": delivery.receiver.host}
        body = delivery_as_json(delivery)
        entry = self.state.put(tenant, KIND, delivery.delivery_id, body, labels=labels, expected=delivery.revision)
        return replace(delivery, revision=entry.version)


def _delivery(entry: StateEntry) -> Delivery:
    return delivery_from_json(entry.entry_id, entry.version, entry.body)


def _updated(known: Delivery, version: int, now: datetime) -> Delivery:
    untold = known.attempts == 0 and known.delivered_version == 0
    first = version if untold else known.first_version
    return replace(_requeued(known, now), state="pending", version=version, first_version=first)


def _requeued(known: Delivery, now: datetime) -> Delivery:
    return replace(known, state="pending", attempts=0, queued_at=now, next_attempt_at=now, last_error="")


def _arrived(known: Delivery, version: int, now: datetime) -> Delivery:
    told = replace(known, delivered_version=max(version, known.delivered_version), delivered_at=now)
    return replace(told, state="delivered", last_error="") if known.version == version else told
