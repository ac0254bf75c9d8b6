"""How many processes of a worker one tenant may hold: never all of them, so that a tenant whose pieces are slow delays nobody else's.

Kept in the broker, because pool processes share nothing. A piece beyond its tenant's share is parked there and its process is free at once; whoever
ends a piece of the tenant, and every tick, puts one back into its queue. What a dead worker held runs out like every lease, and a parked piece that got lost
is found again at a tick, like any other.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from worker.duties import Work

ENTER = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)
if redis.call('ZSCORE', KEYS[1], ARGV[1]) or redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], at + ARGV[3], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return 1
end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
redis.call('SADD', KEYS[3], ARGV[6])
return 0
"""
"""Takes a place among the tenant's running pieces of this worker, or parks the piece."""

RENEW = """
local now = redis.call('TIME')
redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""
NEXT = """
local found = redis.call('LPOP', KEYS[1])
if redis.call('LLEN', KEYS[1]) == 0 then redis.call('SREM', KEYS[2], ARGV[1]) end
return found
"""


@dataclass(frozen=True, slots=True)
class Parked:
    """A piece that waits for its tenant's turn, with how many outages it has met."""

    work: Work
    outages: int


@dataclass(frozen=True, slots=True)
class Shares:
    """Of one worker: all processes of one parent. ``most`` is how many pieces of one tenant it does at once; ``attempt`` makes one guarded call to the
    broker, or gives its second argument where that cannot be made. Without the broker nobody is held back."""

    client: Any
    attempt: Callable[[Callable[[], Any], Any], Any]
    prefix: str
    most: int
    lease_ms: int
    kept_ms: int

    def enter(self, work: Work, outages: int) -> bool:
        """Whether the piece may be done now; it is parked otherwise."""
        keys = (self._running(work.tenant), self._waiting(work.tenant), self._tenants)
        written = json.dumps([work.duty, work.tenant, list(work.key), outages])
        arguments = (work.work_id, self.most, self.lease_ms, written, self.kept_ms, work.tenant)
        return bool(self.attempt(lambda: self.client.eval(ENTER, len(keys), *keys, *arguments), 1))

    def renew(self, work: Work) -> None:
        """The piece is still being done."""
        self.attempt(lambda: self.client.eval(RENEW, 1, self._running(work.tenant), work.work_id, self.lease_ms), None)

    def leave(self, work: Work) -> None:
        """The piece is being done no more."""
        self.attempt(lambda: self.client.zrem(self._running(work.tenant), work.work_id), None)

    def next_of(self, tenant: str) -> Parked | None:
        """The tenant's piece that has been parked longest; it is parked no more."""
        written = self.attempt(lambda: self.client.eval(NEXT, 2, self._waiting(tenant), self._tenants, tenant), None)
        return _read(written) if written is not None else None

    def next_of_each(self) -> Iterator[Parked]:
        """The same of every tenant that has one."""
        for tenant in self.attempt(lambda: self.client.smembers(self._tenants), ()):
            parked = self.next_of(tenant.decode("utf-8", "replace"))
            if parked is not None:
                yield parked

    @property
    def _tenants(self) -> str:
        return f"{self.prefix}parked"

    def _running(self, tenant: str) -> str:
        return f"{self.prefix}share:{socket.gethostname()}:{os.getppid()}:{tenant}"

    def _waiting(self, tenant: str) -> str:
        return f"{self.prefix}parked:{tenant}"


def _read(written: bytes) -> Parked | None:
    """What was parked; None for what is not ours."""
    try:
        duty, tenant, key, outages = json.loads(written)
        return Parked(Work(str(duty), tenant, tuple(map(str, key))), int(outages))
    except (ValueError, TypeError):
        return None
