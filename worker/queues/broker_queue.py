"""Putting work on the broker: told at once, told later, or spread after a tick."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any

from runtime.clock import Clock
from runtime.errors import ServiceError
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.telemetry import logger
from runtime.tenancy import Tenant
from runtime.tracing import carrier, note, span
from worker.duties import Work, WorkerHealth
from worker.queues.attempts import Again, Attempt
from worker.queues.broker_errors import translated
from worker.queues.celery_app import DO, HEARTBEAT, SPREAD, TICKS, celery_app
from worker.queues.ledger import Ledger, open_ledger
from worker.queues.liveness import health
from worker.queues.shares import Parked

AT_ONCE = 10_000
"""Pieces of a tick that are noted in one round trip."""
BUNDLE = 50
"""Pieces of one tenant that one message spreads: a tenant with thousands of due monitors is at most this far ahead of another."""


class BrokerQueue:
    """Implements :class:`worker.duties.WorkQueue`; ``queue_of`` says where a duty's work waits."""

    def __init__(self, settings: Settings, app: Any, ledger: Ledger, queue_of: Callable[[str], str]) -> None:
        self._settings = settings
        self._app = app
        self._guard = ledger.guard  # one circuit: a broker that takes no notes takes no work either
        self._queue_of = queue_of
        self.ledger = ledger

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What calls to the broker go through."""
        return (self._guard,)

    def nudge(self, *pieces: Work) -> bool:
        """See :class:`worker.duties.WorkQueue`."""
        try:
            self.enqueue(pieces, though_running=True)
        except ServiceError as error:
            logger("worker").info("the workers could not be told; the next tick finds the work", error=type(error).__name__)
            return False
        return True

    def health(self, now: datetime) -> WorkerHealth:
        """See :class:`worker.duties.WorkQueue`."""
        return health(self._settings, now, self.ledger.last_beat)

    def enqueue(self, pieces: Sequence[Work], *, though_running: bool = False) -> None:
        """Put what nobody was told of yet into the queues.

        Raises:
            Unavailable: the broker does not serve us; part of the pieces may have been put.
        """
        for work in self.ledger.announce(pieces, kept_s=self.ledger.spans.queued_s, though_running=though_running):
            self._publish(DO, _arguments(work), self._queue_of(work.duty))

    def later(self, work: Work, again: Again, attempt: Attempt) -> None:
        """Put it into its queue, to be taken after the wait. Raises as :meth:`enqueue`."""
        outages = attempt.outages + again.outage
        self._publish(DO, (*_arguments(work), outages), self._queue_of(work.duty), countdown=again.wait_s)
        self.ledger.queued(work, again.wait_s + self.ledger.spans.queued_s)

    def spread(self, due: Iterable[Work]) -> int:
        """Announce what a tick found, in bundles of one duty and tenant that keep its order; returns how many pieces nobody was told of before.
        Raises as :meth:`enqueue`."""
        announced = 0
        pieces = iter(due)
        while batch := list(islice(pieces, AT_ONCE)):
            fresh = self.ledger.announce(batch, kept_s=2 * self.ledger.spans.interval_s)
            for bundle in _bundles(fresh):
                self._publish(SPREAD, (bundle[0].duty, bundle[0].tenant, [list(work.key) for work in bundle]), TICKS, apart=True)
            announced += len(fresh)
        return announced

    def deliver(self, pieces: Sequence[Work]) -> None:
        """Put a bundle's pieces into their queue. Raises as :meth:`enqueue`."""
        for work in pieces:
            self.ledger.queued(work, self.ledger.spans.queued_s)
            self._publish(DO, _arguments(work), self._queue_of(work.duty), apart=True)

    def admit(self, work: Work, outages: int) -> bool:
        """Whether the piece may be done now; one beyond its tenant's share waits until another of the tenant is over."""
        admitted = self.ledger.shares.enter(work, outages)
        if not admitted:
            self.ledger.queued(work, self.ledger.spans.queued_s)
        return admitted

    def resume(self, tenant: Tenant) -> None:
        """A piece of the tenant is over: the next that waits for its turn goes back into its queue. Raises as :meth:`enqueue`."""
        self._resume(self.ledger.shares.next_of(tenant))

    def resume_all(self) -> None:
        """The same for every tenant, in case whoever should have done it died. Raises as :meth:`enqueue`."""
        for parked in self.ledger.shares.next_of_each():
            self._resume(parked)

    def _resume(self, parked: Parked | None) -> None:
        if parked is not None:
            self._publish(DO, (*_arguments(parked.work), parked.outages), self._queue_of(parked.work.duty), apart=True)

    def ask_for_heartbeat(self) -> None:
        """Have a pool process say that it lives. Raises as :meth:`enqueue`."""
        self._publish(HEARTBEAT, (), TICKS, expires=self.ledger.spans.interval_s)

    def _publish(self, task: str, arguments: Sequence[Any], queue: str, *, apart: bool = False, **options: Any) -> None:
        """``apart``: one of very many, which begins a trace of its own."""

        def publish(_timeout_s: float) -> None:
            note(operation="publish")
            with translated():
                self._app.send_task(task, args=arguments, queue=queue, argsrepr="", kwargsrepr="", headers=headers, **options)

        with span(f"publish {task}", kind="producer", task=task, queue=queue):
            headers = dict(carrier(apart=apart))
            self._guard.call(publish, repeatable=False)


def _arguments(work: Work) -> tuple[str, str, list[str]]:
    return work.duty, work.tenant, list(work.key)


def work_of(duty: str, tenant: str, key: Sequence[str]) -> Work:
    """The piece a message names."""
    return Work(duty, Tenant(tenant), tuple(key))


def _bundles(pieces: list[Work]) -> Iterator[list[Work]]:
    """Rounds over the tenants, in the order in which they came up: the first bundle of each, then the second."""
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in pieces:
        groups.setdefault((work.duty, work.tenant), []).append(work)
    longest = max(map(len, groups.values()), default=0)
    for start in range(0, longest, BUNDLE):
        for group in groups.values():
            if len(group) > start:
                yield group[start : start + BUNDLE]


@contextmanager
def open_broker_queue(settings: Settings, clock: Clock, queue_of: Callable[[str], str]) -> Iterator[BrokerQueue]:
    """The queue of this deployment; connects at the first call.

    Raises:
        Misconfigured: as :func:`worker.queues.celery_app.celery_app`.
    """
    app = celery_app(settings)
    ledger = open_ledger(settings, clock)
    try:
        yield BrokerQueue(settings, app, ledger, queue_of)
    finally:
        ledger.close()
        app.close()
