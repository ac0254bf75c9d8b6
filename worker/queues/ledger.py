"""Notes beside the queues, in the broker: which work waits or runs, how often it was tried, when a worker was last alive.

They spare the workers useless repetition. Correctness never depends on them: every call that cannot be made answers as if nothing were noted.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from runtime.clock import Clock
from runtime.errors import Unavailable
from runtime.redis_client import redis_client
from runtime.resilience import Guard
from runtime.settings import Settings
from worker.duties import Work
from worker.queues.broker_errors import BROKER, translated
from worker.queues.broker_settings import key_prefix
from worker.queues.shares import Shares

COUNTED_FOR_S = 86_400
SILENCED_FOR_S = 600
QUEUED, RUNNING, DEAD = b"queued", b"running", b"dead"
T = TypeVar("T")

AT_ONCE = 2000
ANNOUNCE = """
local fresh = {}
for number, key in ipairs(KEYS) do
  local note = redis.call('GET', key)
  if not note or (ARGV[3] == '1' and note ~= ARGV[1]) then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    fresh[#fresh + 1] = number
  end
end
return fresh
"""
"""Which of the keys were not noted as queued, and are now; a tick asks for very many."""


@dataclass(frozen=True, slots=True)
class Spans:
    """How long notes are kept."""

    interval_s: float
    queued_s: float
    lease_s: float

    @classmethod
    def of(cls, settings: Settings) -> "Spans":
        """A queued piece is noted as long as the broker itself waits for its acknowledgement; a running one renews its note, so that the note ends
        soon after its process was killed and the next tick finds the work again."""
        interval_s = settings.monitor_interval_s
        return cls(interval_s, settings.worker_visibility_timeout_s, min(max(interval_s / 4, 2.0), 15.0))


class Ledger:
    """Safe to share between threads; each process opens its own."""

    def __init__(self, client: Any, guard: Guard, prefix: str, spans: Spans, most: int) -> None:
        """``most`` is how many pieces of one tenant a worker does at once."""
        self._client = client
        self.guard = guard
        self._prefix = prefix
        self.spans = spans
        self.shares = Shares(client, self._try, prefix, most, lease_ms=_ms(spans.lease_s), kept_ms=_ms(spans.queued_s))

    def announce(self, pieces: Sequence[Work], *, kept_s: float, though_running: bool = False) -> list[Work]:
        """The pieces that nobody was told of yet, noted as queued from now on. Running ones count as told of, unless ``though_running``: what was
        saved meanwhile may have come too late for them."""
        fresh: list[Work] = []
        for start in range(0, len(pieces), AT_ONCE):
            fresh += self._announced(pieces[start : start + AT_ONCE], _ms(kept_s), int(though_running))
        return fresh

    def _announced(self, pieces: Sequence[Work], kept_ms: int, though_running: int) -> Sequence[Work]:
        keys = [self._pending(work) for work in pieces]

        def fresh() -> Sequence[Work]:
            found = self._client.eval(ANNOUNCE, len(keys), *keys, QUEUED, kept_ms, though_running)
            return [pieces[number - 1] for number in found]

        return self._try(fresh, pieces)

    def queued(self, work: Work, kept_s: float) -> None:
        """Note that the work waits."""
        self._try(lambda: self._client.set(self._pending(work), QUEUED, px=_ms(kept_s)), None)

    @contextmanager
    def running(self, work: Work) -> Iterator[None]:
        """Note that the work runs and holds a place of its tenant's share, as long as this process lives and the body lasts; nothing is noted
        afterwards."""
        over = threading.Event()

        def renew() -> None:
            while True:
                self._try(lambda: self._client.set(self._pending(work), RUNNING, px=_ms(self.spans.lease_s)), None)
                self.shares.renew(work)
                if over.wait(self.spans.lease_s / 3):
                    return

        renewing = threading.Thread(target=renew, name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            self._try(lambda: self._client.delete(self._pending(work)), None)

    def attempt(self, work: Work) -> int:
        """Count an attempt before it begins, so that one that ends its process is counted too; returns how many there were."""

        def count() -> int:
            with self._client.pipeline() as batch:
                batch.incr(self._attempts(work)).expire(self._attempts(work), COUNTED_FOR_S)
                return int(batch.execute()[0])

        return self._try(count, 1)

    def uncount(self, work: Work) -> None:
        """The attempt was not the work's fault."""
        self._try(lambda: self._client.decr(self._attempts(work)), None)

    def forget(self, work: Work) -> None:
        """The work is done: a later one under the same key begins anew."""
        self._try(lambda: self._client.delete(self._attempts(work)), None)

    def given_up(self, work: Work) -> None:
        """Spare the ticks a piece with a dead letter for a while."""
        self.forget(work)
        self._try(lambda: self._client.set(self._pending(work), DEAD, ex=SILENCED_FOR_S), None)

    def revived(self, work: Work) -> None:
        """Its dead letter was taken away."""
        self._try(lambda: self._client.delete(self._pending(work), self._attempts(work)), None)

    def first_tick(self, now: datetime) -> bool:
        """Nobody else has had the tick of this interval."""
        key = f"{self._prefix}tick:{int(now.timestamp() // self.spans.interval_s)}"
        try:
            return bool(self._call(lambda: self._client.set(key, b"1", nx=True, px=_ms(2 * self.spans.interval_s))))
        except Unavailable:
            return True

    def beat(self, now: datetime) -> None:
        """A pool process is alive."""
        self._try(lambda: self._client.set(self._heartbeat, str(now.timestamp())), None)

    def last_beat(self) -> datetime | None:
        """When :meth:`beat` was last called by any process.

        Raises:
            Unavailable: the broker does not answer.
        """
        found = self._call(lambda: self._client.get(self._heartbeat))
        try:
            return datetime.fromtimestamp(float(found), UTC) if found is not None else None
        except (ValueError, TypeError, OverflowError, OSError):  # somebody else's note is no sign of life
            return None

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    @property
    def _heartbeat(self) -> str:
        return f"{self._prefix}heartbeat"

    def _pending(self, work: Work) -> str:
        return f"{self._prefix}pending:{work.work_id}"

    def _attempts(self, work: Work) -> str:
        return f"{self._prefix}attempts:{work.work_id}"

    def _call(self, call: Callable[[], T]) -> T:
        def translate(_timeout_s: float) -> T:
            with translated(reading=True):
                return call()

        return self.guard.call(translate, repeatable=False)

    def _try(self, call: Callable[[], T], otherwise: T) -> T:
        try:
            return self._call(call)
        except Unavailable:
            return otherwise


def open_ledger(settings: Settings, clock: Clock) -> Ledger:
    """The notes of this deployment; connects at the first call."""
    client = redis_client(settings.redis_url, settings.redis_timeout_s)
    most = settings.worker_tenant_pieces or max(1, settings.worker_concurrency - 1)
    return Ledger(client, broker_guard(settings, clock), key_prefix(settings), Spans.of(settings), most)


def broker_guard(settings: Settings, clock: Clock) -> Guard:
    """The guard of calls to the broker. They are not repeated: what they are for is found again at the next tick."""
    return Guard(
        BROKER,
        timeout_s=settings.redis_timeout_s,
        clock=clock,
        bulkhead_calls=settings.bulkhead_calls,
        breaker_failures=settings.breaker_failures,
        breaker_open_s=min(settings.breaker_open_s, settings.monitor_interval_s),
    )


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
