"""What every door offers of digests on their way to subscribers and receivers, once; see :mod:`api.operations`."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from runtime.tenancy import Tenant
from worker.deliveries.duty import NAME, SEND, DeliverDuty
from worker.deliveries.record import Delivery, DeliveryState
from worker.deliveries.sending import problem_of
from worker.deliveries.store import DeliveryPage
from worker.duties import Work
from worker.monitors.digest import Digest
from worker.monitors.monitor import Monitor
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
    done = requeue(service, tenant, digest_id)
    service.queue.nudge(*_duty(service).of_digest(tenant, digest_id))
    return done


def requeue(service: Service, tenant: Tenant, digest_id: str) -> Redelivery:
    """:func:`redeliver` without telling the worker, for somebody who sends it at once.

    Raises:
        NotFound: the tenant has no such digest.
    """
    digest = service.digests.get(tenant, digest_id)
    return Redelivery(digest, service.deliveries.redeliver(tenant, digest_id))


def deliver_now(service: Service, tenant: Tenant, digest_id: str) -> tuple[Delivery, ...]:
    """Make the attempts of a digest that are due, in this process; returns those deliveries as they are then."""
    return _delivered(service, _duty(service).of_digest(tenant, digest_id), follow=False)


def deliver_due(service: Service, only: Tenant | None = None) -> tuple[Delivery, ...]:
    """Make every attempt that is due, in this process, one after the other; returns those deliveries as they are then."""
    due = _duty(service).due(service.clock.now())
    return _delivered(service, (work for work in due if only is None or work.tenant == only), follow=True)


def receiver_problems(service: Service, monitor: Monitor) -> tuple[str, ...]:
    """What keeps a monitor's digests from being sent as things are, each once."""
    found = (problem_of(receiver, service.settings) for receiver in monitor.receivers)
    return tuple(dict.fromkeys(problem for problem in found if problem))


def _delivered(service: Service, due: Iterable[Work], *, follow: bool) -> tuple[Delivery, ...]:
    duty, waiting, tried = _duty(service), deque(due), dict[tuple[Tenant, str], None]()
    while waiting:
        work = waiting.popleft()
        following = duty.do(work)
        waiting.extend(following if follow else ())
        if work.key[0] == SEND:
            tried[work.tenant, work.key[1]] = None
    found = (service.deliveries.get(tenant, identifier) for tenant, identifier in tried)
    return tuple(delivery for delivery in found if delivery is not None)


def _duty(service: Service) -> DeliverDuty:
    duty = service.duties[NAME]
    assert isinstance(duty, DeliverDuty)
    return duty
