"""What every door offers of digests on their way to subscribers and receivers, once; see :mod:`api.operations`."""

from dataclasses import dataclass

from runtime.tenancy import Tenant
from worker.deliveries.duty import NAME, DeliverDuty
from worker.deliveries.record import Delivery, DeliveryState
from worker.deliveries.store import DeliveryPage
from worker.monitors.digest import Digest
from worker.opening import Service


@dataclass(frozen=True, slots=True)
class Redelivery:
    """A digest, and its deliveries that are pending again."""

    digest: Digest
    deliveries: tuple[Delivery, ...]


def digests_since(service: Service, tenant: Tenant, after: str | None, first: int) -> tuple[Digest, ...]:
    """What was published after that digest, oldest first; None is before the first."""
    return service.digests.since(tenant, after, first)


def newest_digest_id(service: Service, tenant: Tenant) -> str | None:
    """Where somebody who wants only what comes begins."""
    return service.digests.latest_id(tenant)


def deliveries(service: Service, tenant: Tenant, *, state: DeliveryState | None, first: int, after: str | None) -> DeliveryPage:
    """A page of deliveries, newest first."""
    return service.deliveries.list(tenant, state=state, first=first, after=after)


def deliveries_of(service: Service, tenant: Tenant, digest_id: str) -> tuple[Delivery, ...]:
    """Who was told of a digest."""
    return service.deliveries.of_digest(tenant, digest_id)


def redeliver(service: Service, tenant: Tenant, digest_id: str) -> Redelivery:
    """Make what was given up of a digest pending again; the worker is told, and sends it at its next round if it cannot be told.

    Raises:
        NotFound: the tenant has no such digest.
    """
    digest = service.digests.get(tenant, digest_id)
    again = service.deliveries.redeliver(tenant, digest_id)
    service.queue.nudge(*_duty(service).of_digest(tenant, digest_id))
    return Redelivery(digest, again)


def deliver_now(service: Service, tenant: Tenant, digest_id: str) -> tuple[Delivery, ...]:
    """Make the attempts of a digest that are due, in this process; returns all its deliveries as they are then."""
    duty = _duty(service)
    for work in duty.of_digest(tenant, digest_id):
        duty.do(work)
    return service.deliveries.of_digest(tenant, digest_id)


def _duty(service: Service) -> DeliverDuty:
    duty = service.duties[NAME]
    assert isinstance(duty, DeliverDuty)
    return duty
