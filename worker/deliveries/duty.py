"""The duty ``deliver``: find out who is to be told of a digest, then tell them, one bounded attempt at a time."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain

from runtime.clock import Clock
from runtime.errors import CircuitOpen, Conflict, InvalidRequest, Misconfigured, NotFound, Unavailable
from runtime.settings import Settings
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from worker.deliveries.parcels import Parcel
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery
from worker.deliveries.sending import Sender
from worker.deliveries.store import Deliveries
from worker.deliveries.waiting import GIVEN_UP_AFTER, wait_s
from worker.duties import Queue, Work, in_turn
from worker.monitors.digest import Digest
from worker.monitors.digests import Digests
from worker.monitors.store import Monitors

NAME = "deliver"
PLAN, SEND = "plan", "send"

LEASE_MARGIN_S = 30.0
"""Beyond what an attempt may take, for writing its end down."""


@dataclass(frozen=True, slots=True)
class DeliverDuty:
    """Implements :class:`worker.duties.Duty`.

    Work ``(plan, digest)`` makes the records of a digest's receivers; ``(send, delivery, version, attempt)`` makes that one attempt. A receiver
    that fails is no failure of the work: it is written into the record, which is due again later.
    """

    deliveries: Deliveries
    digests: Digests
    monitors: Monitors
    sender: Sender
    clock: Clock
    metrics: Metrics
    settings: Settings
    randomness: random.Random = field(default_factory=random.Random)
    name: str = NAME
    queue: Queue = "deliveries"

    def due(self, now: datetime) -> Iterable[Work]:
        """See :class:`worker.duties.Duty`. Of each tenant at most one attempt per host, the longest due first: what succeeds is followed by the
        next for that host at once, and what fails lets everybody else go first."""
        plans = [planning(tenant, digest_id) for tenant, digest_id in self.digests.unplanned()]
        oldest: dict[tuple[Tenant, str], Delivery] = {}
        for tenant, delivery in self.deliveries.pending():
            place = (tenant, delivery.receiver.host)
            if delivery.next_attempt_at <= now and _sooner(delivery, oldest.get(place)):
                oldest[place] = delivery
        sends = [_send(tenant, delivery) for (tenant, _), delivery in sorted(oldest.items(), key=lambda item: _age(item[1]))]
        return chain(in_turn(plans), in_turn(sends))

    def do(self, work: Work) -> Iterable[Work]:
        """See :class:`worker.duties.Duty`."""
        verb, identifier, *rest = work.key
        if verb == PLAN:
            return self._planned(work.tenant, identifier)
        return self._attempted(work.tenant, identifier, int(rest[0]), int(rest[1]))

    def of_digest(self, tenant: Tenant, digest_id: str) -> Iterable[Work]:
        """The attempts of one digest that are due now, for somebody who does not want to wait for the next tick."""
        now = self.clock.now()
        waiting = self.deliveries.of_digest(tenant, digest_id)
        return [_send(tenant, item) for item in waiting if item.state == "pending" and item.next_attempt_at <= now]

    def _planned(self, tenant: Tenant, digest_id: str) -> Iterable[Work]:
        """Records first, then the note that they are there: whoever dies in between does it again and finds them."""
        found = self._digest(tenant, digest_id)
        if found is None:
            return ()
        made = [
            self.deliveries.plan(tenant, digest_id, found.monitor_id, found.version, receiver)
            for receiver in self._receivers(tenant, found)
        ]
        self.digests.planned(tenant, found)
        return [_send(tenant, item) for item in made if item.state == "pending" and item.next_attempt_at <= self.clock.now()]

    def _attempted(self, tenant: Tenant, identifier: str, version: int, attempt: int) -> Iterable[Work]:
        known, now = self.deliveries.get(tenant, identifier), self.clock.now()
        if (
            known is None
            or known.state != "pending"
            or (known.version, known.attempts + 1) != (version, attempt)
            or known.next_attempt_at > now
        ):
            return ()
        if attempt > self.settings.delivery_attempts or now - known.queued_at > GIVEN_UP_AFTER:
            return self._given_up(tenant, known, known.last_error or "the last attempt was never finished")
        digest = self._digest(tenant, known.digest_id)
        if digest is None:
            return self._given_up(tenant, known, "the digest is no longer there")
        if digest.version > known.version:  # it grew since: what is sent is what it is now
            return self._planned(tenant, digest.digest_id)
        try:
            claimed = self.deliveries.claim(tenant, known, 3 * self.settings.delivery_timeout_s + LEASE_MARGIN_S)
        except Conflict:  # somebody else makes this attempt
            return ()
        return self._sent(Parcel(tenant, claimed, digest, now, self._link(digest)))

    def _sent(self, parcel: Parcel) -> Iterable[Work]:
        tenant, delivery = parcel.tenant, parcel.delivery
        try:
            self.sender.send(parcel)
        except CircuitOpen as error:
            return self._postponed(tenant, delivery, error, counted=False)
        except Unavailable as error:
            if delivery.attempts >= self.settings.delivery_attempts:
                return self._given_up(tenant, delivery, str(error))
            return self._postponed(tenant, delivery, error, counted=True)
        except (InvalidRequest, Misconfigured) as error:
            return self._given_up(tenant, delivery, error.reason if isinstance(error, InvalidRequest) else str(error))
        self.deliveries.arrived(tenant, delivery)
        self._count(delivery, "delivered")
        following = self.deliveries.pending_at(tenant, delivery.receiver.host, self.clock.now())
        return () if following is None else (_send(tenant, following),)

    def _postponed(self, tenant: Tenant, delivery: Delivery, error: Unavailable, *, counted: bool) -> Iterable[Work]:
        until = self.clock.now() + timedelta(seconds=wait_s(max(1, delivery.attempts), self.randomness, error.retry_after_s))
        self.deliveries.postponed(tenant, delivery, until, str(error), counted=counted)
        self._count(delivery, "retry" if counted else "circuit_open")
        return ()

    def _given_up(self, tenant: Tenant, delivery: Delivery, error: str) -> Iterable[Work]:
        self.deliveries.given_up(tenant, delivery, error)
        self._count(delivery, "undelivered")
        return ()

    def _count(self, delivery: Delivery, outcome: str) -> None:
        channel = delivery.receiver.channel
        self.metrics.count("wa_deliveries_total", channel=channel, outcome=outcome)
        logger(__name__).info("delivery", delivery=delivery.delivery_id, channel=channel, outcome=outcome, attempts=delivery.attempts)

    def _digest(self, tenant: Tenant, digest_id: str) -> Digest | None:
        try:
            return self.digests.get(tenant, digest_id)
        except NotFound:
            return None

    def _receivers(self, tenant: Tenant, digest: Digest) -> tuple[Receiver, ...]:
        """Nobody, when the monitor was deleted since."""
        try:
            return self.monitors.get(tenant, digest.monitor_id).receivers
        except NotFound:
            return ()

    def _link(self, digest: Digest) -> str:
        """The console page at this digest."""
        return f"{self.settings.public_url.rstrip('/')}/#digest={digest.digest_id}" if self.settings.public_url else ""


def planning(tenant: Tenant, digest_id: str) -> Work:
    """The work that prepares the deliveries of a digest; what is then to be sent follows from it."""
    return Work(NAME, tenant, (PLAN, digest_id))


def _send(tenant: Tenant, delivery: Delivery) -> Work:
    return Work(NAME, tenant, (SEND, delivery.delivery_id, str(delivery.version), str(delivery.attempts + 1)))


def _age(delivery: Delivery) -> tuple[datetime, str]:
    return delivery.next_attempt_at, delivery.delivery_id


def _sooner(delivery: Delivery, other: Delivery | None) -> bool:
    return other is None or _age(delivery) < _age(other)
