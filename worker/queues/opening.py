"""The work queue of these settings: the broker's, or none."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime

from runtime.clock import Clock
from runtime.resilience import Guard, Guarded
from runtime.settings import Settings
from worker.duties import Duty, NoQueue, Work, WorkerHealth, WorkQueue
from worker.queues.broker_settings import check_broker


class _AtFirstNudge:
    """Loads and connects what speaks to the broker when somebody is told for the first time; most commands never do."""

    def __init__(self, settings: Settings, clock: Clock, duties: Mapping[str, Duty]) -> None:
        self._settings = settings
        self._clock = clock
        self._duties = duties
        self._lock = threading.Lock()
        self._queue: WorkQueue | None = None
        self.stack = ExitStack()

    @property
    def guards(self) -> Sequence[Guard]:
        """Those of the queue, once it is open."""
        queue = self._queue
        return queue.guards if isinstance(queue, Guarded) else ()

    def nudge(self, *pieces: Work) -> bool:
        """See :class:`worker.duties.WorkQueue`."""
        return self._opened().nudge(*pieces)

    def health(self, now: datetime) -> WorkerHealth:
        """See :class:`worker.duties.WorkQueue`."""
        return self._opened().health(now)

    def _opened(self) -> WorkQueue:
        with self._lock:
            if self._queue is None:
                from worker.queues.broker_queue import open_broker_queue

                queue_of = {name: duty.queue for name, duty in self._duties.items()}.__getitem__
                self._queue = self.stack.enter_context(open_broker_queue(self._settings, self._clock, queue_of))
            return self._queue


@contextmanager
def open_queue(settings: Settings, clock: Clock, duties: Mapping[str, Duty]) -> Iterator[WorkQueue]:
    """Where doors tell of work, closed at the end.

    Raises:
        Misconfigured: as :func:`worker.queues.broker_settings.check_broker`, where there is a broker.
    """
    if not settings.redis_url:
        yield NoQueue()
        return
    check_broker(settings)
    queue = _AtFirstNudge(settings, clock, duties)
    with queue.stack:
        yield queue
