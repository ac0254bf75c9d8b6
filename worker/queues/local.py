"""The embedded scheduler: the same duties, attempts and dead letters in one process, without a broker."""

import heapq
import os
import queue
import secrets
import signal
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from runtime.errors import Unavailable
from runtime.settings import Settings
from runtime.telemetry import logger
from runtime.tracing import ROOT, Carrier
from worker.duties import QUEUES, Work
from worker.queues.attempts import Again, Attempt
from worker.queues.claims import LEASE_S, Claims
from worker.queues.finding import due_of
from worker.queues.metrics_port import serving_metrics
from worker.queues.performing import Done, Ending, Opening, Performer, Working
from worker.queues.turns import Turns

STOP = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A thread is done with a piece of work, or found that it was not to be done here and now."""

    work: Work
    ending: Ending


class LocalScheduler:
    """Looks for due work every interval and has threads do it. All its notes belong to the thread that calls :meth:`run`; the others only post to it."""

    def __init__(self, working: Working, queues: Sequence[str] = QUEUES) -> None:
        settings = working.settings
        self._working = working
        self._queues = queues
        self._interval_s = settings.monitor_interval_s
        self._performer = Performer(working)
        self._claims = Claims(working.state, working.clock, f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}")
        self._turns = Turns(settings.worker_concurrency)
        self._posted: queue.SimpleQueue[Ended | None] = queue.SimpleQueue()
        self._origins: dict[str, Carrier] = {}
        self._later: list[tuple[float, int, Work]] = []
        self._order = count()
        self._look_s = self._renew_s = working.clock.seconds()
        self._stopping = False

    def stop(self) -> None:
        """Begin nothing more and return from :meth:`run` when what runs is done. Safe in a signal handler and from other threads."""
        self._posted.put(STOP)

    def run(self) -> None:
        """Work until :meth:`stop`."""
        with suppress(Unavailable):
            self._claims.forget_old()
        with ThreadPoolExecutor(self._working.settings.worker_concurrency, thread_name_prefix="duty") as threads:
            while not self._stopping or self._turns.running:
                self._by_the_clock()
                while not self._stopping and (work := self._turns.take()) is not None:
                    threads.submit(self._do, work, self._origins.pop(work.work_id, ROOT))
                self._hear()

    def _by_the_clock(self) -> None:
        now_s = self._working.clock.seconds()
        if now_s >= self._renew_s:
            self._renew_s = now_s + LEASE_S / 3
            with suppress(Unavailable):
                self._claims.renew()
        if self._stopping:
            return
        while self._later and self._later[0][0] <= now_s:
            self._offer((heapq.heappop(self._later)[2],))
        if now_s >= self._look_s:
            self._look_s = now_s + self._interval_s
            self.look()

    def look(self) -> None:
        """Let everything wait for its turn that is due now."""
        now = self._working.clock.now()
        for duty in self._working.duties.values():
            if duty.queue in self._queues:
                self._turns.offer(duty.queue, due_of(duty, now, self._working.metrics))

    def _offer(self, pieces: Sequence[Work], origin: Carrier = ROOT) -> None:
        for work in pieces:
            duty = self._working.duties.get(work.duty)
            if duty is not None and duty.queue in self._queues:
                self._origins[work.work_id] = origin
                self._turns.offer(duty.queue, (work,))

    def _hear(self) -> None:
        """Wait for a post, at most until something is to be done by the clock."""
        wake_s = min((self._look_s, self._renew_s, *(at_s for at_s, _, _ in self._later[:1])))
        try:
            post = self._posted.get(timeout=max(0.01, wake_s - self._working.clock.seconds()))
        except queue.Empty:
            return
        if post is STOP:
            self._stopping = True
        else:
            self._end(post)

    def _end(self, ended: Ended) -> None:
        self._turns.over(ended.work)
        if isinstance(ended.ending, Done):
            self._offer(ended.ending.following, ended.ending.origin)
        elif isinstance(ended.ending, Again):
            at_s = self._working.clock.seconds() + ended.ending.wait_s
            heapq.heappush(self._later, (at_s, next(self._order), ended.work))

    def _do(self, work: Work, parent: Carrier) -> None:
        """In a thread: claim, attempt, and note how it ended."""
        ending: Ending = Done()
        try:
            attempt = self._claims.take(work)
            if attempt is not None:
                ending = self._attempted(work, attempt, parent)
        except Unavailable as error:
            logger("worker").warning("work could not be claimed; the next look finds it again", error=type(error).__name__)
        finally:
            self._posted.put(Ended(work, ending))

    def _attempted(self, work: Work, attempt: Attempt, parent: Carrier) -> Ending:
        most = self._working.settings.worker_max_deliveries
        lost = attempt.number > most
        ending = self._performer.lost(work, most) if lost else self._performer.perform(work, attempt, parent)
        if isinstance(ending, Again):
            self._claims.postpone(work, ending)
        else:
            self._claims.release(work)
        return ending


def run_local(settings: Settings, opening: Opening, *, queues: Sequence[str] = QUEUES) -> int:
    """Work in this process until SIGTERM or Ctrl-C, which let running pieces finish; a second one ends it at once. Returns the exit code."""
    with opening(settings) as working, serving_metrics(settings, working.metrics.registry):
        scheduler = LocalScheduler(working, queues)
        with _stopped_by_signals(scheduler):
            logger("worker").info("ready", duties=sorted(working.duties))
            scheduler.run()
    return 0


@contextmanager
def _stopped_by_signals(scheduler: LocalScheduler) -> Iterator[None]:
    def stop(number: int, _frame: object) -> None:
        signal.signal(number, before[number])
        scheduler.stop()

    before: dict[int, Any] = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
