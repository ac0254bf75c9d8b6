"""The four tasks a worker knows. Arguments are ids only; none raises, as its outcome is told to the state store and the queues."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import chain
from typing import Any

from runtime.clock import SystemClock
from runtime.errors import ServiceError, Unavailable
from runtime.settings import Settings
from runtime.telemetry import logger
from runtime.tracing import span
from worker.duties import Work
from worker.queues.attempts import Again, Attempt, GivenUp
from worker.queues.broker_queue import BrokerQueue, open_broker_queue, work_of
from worker.queues.celery_app import DO, HEARTBEAT, SPREAD, TICK
from worker.queues.finding import due_of
from worker.queues.guard_notes import guards_noted
from worker.queues.ledger import open_ledger
from worker.queues.performing import Done, Opening, Performer, Working


class PoolProcess:
    """What one process of the pool holds: the service, opened after the fork and closed at the end. Opened at its first use if it could not be
    before, so that a worker that starts before its engine works as soon as that is there."""

    def __init__(self, settings: Settings, opening: Opening) -> None:
        self._settings = settings
        self._opening = opening
        self._ledger = open_ledger(settings, SystemClock())
        self._stack = ExitStack()
        self._opened: tuple[Working, BrokerQueue] | None = None

    def open(self) -> tuple[Working, BrokerQueue]:
        """The service and its queue.

        Raises:
            ServiceError: it cannot be opened.
        """
        if self._opened is None:
            with ExitStack() as stack:
                working = stack.enter_context(self._opening(self._settings))
                queue = stack.enter_context(open_broker_queue(self._settings, working.clock, lambda duty: _queue(working, duty)))
                working.metrics.watch(queue)
                stack.enter_context(guards_noted(working.metrics))
                self._stack = stack.pop_all()
            self._opened = (working, queue)
        return self._opened

    def try_to_open(self) -> bool:
        """Whether it is open; says why not."""
        try:
            self.open()
        except ServiceError as error:
            logger("worker").error("the service cannot be opened yet", error=str(error))
            return False
        return True

    def not_taken(self, work: Work) -> None:
        """A piece could not be tried at all: the next tick may ask for it again."""
        self._ledger.revived(work)

    def close(self) -> None:
        """Close the service."""
        self._opened = None
        self._stack.close()


def _queue(working: Working, duty: str) -> str:
    known = working.duties.get(duty)
    return known.queue if known is not None else "events"


def register_tasks(app: Any, process: PoolProcess) -> None:
    """Make the tasks known to a worker's application."""

    def do(duty: str, tenant: str, key: Sequence[str], outages: int = 0) -> None:
        work = work_of(duty, tenant, key)
        if process.try_to_open():
            do_piece(*process.open(), work, outages)
        else:
            process.not_taken(work)

    def spread(duty: str, tenant: str, keys: Sequence[Sequence[str]]) -> None:
        if process.try_to_open():
            _, queue = process.open()
            with_broker(lambda: queue.deliver([work_of(duty, tenant, key) for key in keys]))

    def tick() -> None:
        if process.try_to_open():
            tick_once(*process.open())

    def heartbeat() -> None:
        if process.try_to_open():
            working, queue = process.open()
            queue.ledger.beat(working.clock.now())

    for name, function in ((DO, do), (SPREAD, spread), (TICK, tick), (HEARTBEAT, heartbeat)):
        app.task(name=name, shared=False, bind=True, Request="worker.queues.acknowledging:ReconnectingRequest")(_traced(name, function))


def _traced(name: str, function: Callable[..., None]) -> Callable[..., None]:
    """The task, as part of the trace that its message names."""

    def run(task: Any, *arguments: Any, **named: Any) -> None:
        headers = task.request.headers or {}
        with span(f"task {name}", kind="consumer", parent=headers, task=name):
            function(*arguments, **named)

    return run


def do_piece(working: Working, queue: BrokerQueue, work: Work, outages: int) -> None:
    """One delivery of one piece of work, unless its tenant has its share already."""
    if queue.admit(work, outages):
        try:
            _do_admitted(working, queue, work, outages)
        finally:
            queue.ledger.shares.leave(work)
            with_broker(lambda: queue.resume(work.tenant))


def _do_admitted(working: Working, queue: BrokerQueue, work: Work, outages: int) -> None:
    """To its end; then what follows from that."""
    performer, ledger = Performer(working), queue.ledger
    attempt = Attempt(ledger.attempt(work), outages)
    if attempt.number > working.settings.worker_max_deliveries:
        performer.lost(work, attempt.number - 1)
        ledger.given_up(work)
        return
    with ledger.running(work):
        ending = performer.perform(work, attempt)
    if isinstance(ending, Done):
        ledger.forget(work)
        with_broker(lambda: queue.enqueue(ending.following, though_running=True))
    elif isinstance(ending, GivenUp):
        ledger.given_up(work)
    else:
        _again(queue, work, ending, attempt)


def _again(queue: BrokerQueue, work: Work, again: Again, attempt: Attempt) -> None:
    if again.outage:
        queue.ledger.uncount(work)
    with_broker(lambda: queue.later(work, again, attempt))


def tick_once(working: Working, queue: BrokerQueue) -> None:
    """Find what is due and have it done. The second of two ticks of an interval does nothing."""
    now = working.clock.now()
    if not queue.ledger.first_tick(now):
        return
    with_broker(queue.ask_for_heartbeat)
    with_broker(queue.resume_all)
    _note_age(working, queue, now)
    with_broker(lambda: queue.spread(chain.from_iterable(due_of(duty, now, working.metrics) for duty in working.duties.values())))


def _note_age(working: Working, queue: BrokerQueue, now: datetime) -> None:
    def note() -> None:
        last = queue.ledger.last_beat()
        if last is not None:
            working.metrics.set("wa_worker_heartbeat_age_seconds", max(0.0, (now - last).total_seconds()))

    with_broker(note)


def with_broker(call: Callable[[], object]) -> None:
    """What the broker does not take now is found again at the next tick."""
    try:
        call()
    except Unavailable as error:
        logger("worker").warning("the broker did not take work; the next tick finds it again", error=type(error).__name__)
