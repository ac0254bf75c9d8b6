"""What every door offers of monitors and digests, once; see :mod:`api.operations`."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from api.errors import fault_of
from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from worker.duties import Work
from worker.monitors.digest import Digest
from worker.monitors.digests import DigestPage
from worker.monitors.duty import NAME, MonitorDuty, looking
from worker.monitors.evaluating import Evaluation
from worker.monitors.monitor import Monitor
from worker.monitors.standing import Held
from worker.opening import Service


@dataclass(frozen=True, slots=True)
class Watched:
    """A monitor and where it stands."""

    monitor: Monitor
    held: Held


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """Some monitors, the newest first, and where to go on. ``unreadable`` are the ids of those that cannot be read."""

    watched: tuple[Watched, ...]
    cursor: str | None
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """One piece of a run of everything that is due: the evaluation, or what went wrong with it."""

    work: Work
    evaluation: Evaluation | None
    problem: str = ""


def monitors(service: Service, tenant: Tenant, *, first: int, after: str | None) -> WatchedPage:
    """A page of monitors; one that cannot be read is named and hides no other."""
    page = service.monitors.list(tenant, first=first, after=after)
    watched, unreadable = [], [*page.unreadable]
    for each in page.monitors:
        try:
            watched.append(_watched(service, tenant, each))
        except InvalidRequest:
            unreadable.append(each.monitor_id)
    return WatchedPage(tuple(watched), page.cursor, tuple(unreadable))


def monitor(service: Service, tenant: Tenant, monitor_id: str) -> Watched:
    """One monitor.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return _watched(service, tenant, service.monitors.get(tenant, monitor_id))


def counted(service: Service, tenant: Tenant, value: Monitor) -> str:
    """Which documents a monitor counts, in words."""
    return service.evaluator.counted(tenant, value)


def save_monitor(service: Service, tenant: Tenant, given: object, expected: int | None = None) -> Watched:
    """Create or replace; where a worker can be told, it looks at once.

    Raises:
        InvalidRequest: names the member that is wrong.
        Conflict: there is one already, or not in the version that is expected.
    """
    saved = service.saving.save(tenant, given, expected)
    if not saved.paused:
        service.queue.nudge(looking(tenant, saved, service.clock.now()))
    return _watched(service, tenant, saved)


def delete_monitor(service: Service, tenant: Tenant, monitor_id: str) -> bool:
    """Delete; False when there was none."""
    return service.monitors.delete(tenant, monitor_id)


def pause_monitor(service: Service, tenant: Tenant, monitor_id: str, *, paused: bool) -> Watched:
    """Stop looking, or go on.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return _watched(service, tenant, service.monitors.pause(tenant, monitor_id, paused))


def acknowledge(service: Service, tenant: Tenant, monitor_id: str) -> Watched:
    """Resolved becomes ok.

    Raises:
        NotFound: the tenant has none of that id.
        Conflict: it is pending or firing.
    """
    service.monitors.acknowledge(tenant, monitor_id)
    return monitor(service, tenant, monitor_id)


def evaluate_monitor(service: Service, tenant: Tenant, monitor_id: str, *, window_start: datetime | None, dry_run: bool) -> Evaluation:
    """Look at one window, the newest that is over unless another is named.

    Raises:
        NotFound: the tenant has no such monitor.
        InvalidRequest: on ``window_start``.
    """
    if window_start is None:
        return service.evaluator.evaluate_latest(tenant, monitor_id, dry_run=dry_run)
    return service.evaluator.evaluate(tenant, monitor_id, window_start, dry_run=dry_run)


def run_due_monitors(service: Service, only: Tenant | None = None) -> Iterator[Ran]:
    """Evaluate everything that is due now, in this process, one after the other; what fails does not keep the rest from being done."""
    duty = service.duties[NAME]
    assert isinstance(duty, MonitorDuty)
    for work in duty.due(service.clock.now()):
        if only is None or work.tenant == only:
            yield _ran(duty, work)


def _ran(duty: MonitorDuty, work: Work) -> Ran:
    try:
        return Ran(work, duty.evaluated(work))
    except Exception as error:  # noqa: BLE001 (a door: one monitor's failure is its own)
        return Ran(work, None, fault_of(error).message)


def digests(service: Service, tenant: Tenant, *, monitor_id: str | None, first: int, after: str | None) -> DigestPage:
    """A page of digests, newest first."""
    return service.digests.list(tenant, monitor_id=monitor_id, first=first, after=after)


def digest(service: Service, tenant: Tenant, digest_id: str) -> Digest:
    """One digest.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.digests.get(tenant, digest_id)


def cited_ids(value: Digest) -> tuple[str, ...]:
    """The documents its claims cite, each once, in the order of the claims."""
    return tuple(dict.fromkeys(citation.doc_id for claim in value.claims for citation in (*claim.citations, *claim.counter_evidence)))


def _watched(service: Service, tenant: Tenant, value: Monitor) -> Watched:
    return Watched(value, service.monitors.held(tenant, value))
