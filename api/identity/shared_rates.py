"""Buckets in Redis or Valkey, so that a credential has one for all processes of a deployment; this process's own where the server cannot be had."""

import hashlib
import math
import threading
from typing import Any

from api.identity.principal import Principal
from api.identity.rates import Allowance, Buckets, Rates
from runtime.clock import Clock
from runtime.errors import Unavailable
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.telemetry import Metrics, logger
from search.caching.redis_link import RedisLink

DEPENDENCY = "rates"

_TAKE = """
local key, capacity, refill, wanted = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local kind = redis.call('TYPE', key)
if kind.ok ~= 'hash' and kind.ok ~= 'none' then redis.call('DEL', key) end
local kept = redis.call('HMGET', key, 'tokens', 'at')
local tokens, at = tonumber(kept[1] or ''), tonumber(kept[2] or '')
if not tokens or not at or tokens ~= tokens or at ~= at then tokens, at = capacity, now end
local elapsed = math.max(0, now - at)
tokens = math.min(capacity, math.max(0, tokens) + elapsed * refill)
local missing = wanted - tokens
if missing <= 1e-9 then
    tokens = math.max(0, tokens - wanted)
    missing = 0
end
redis.call('HSET', key, 'tokens', string.format('%.17g', tokens), 'at', string.format('%.17g', now))
redis.call('PEXPIRE', key, math.min(1e12, math.ceil(capacity / refill * 1000) + 1000))
return string.format('%.17g', missing)
"""
"""Fill the bucket by the server's clock and take from it, in one step; returns what is missing, 0 when the tokens were taken. What is in the key may be
anybody's: another type, or numbers that are none, is a new bucket, and one of the future fills from now on. A bucket that would be full again is gone."""


class SharedRates:
    """Implements :class:`api.identity.rates.Buckets`. Its keys hold a digest of who calls, and no secret."""

    waits = True

    def __init__(self, link: RedisLink, prefix: str, allowance: Allowance, own: Rates, metrics: Metrics) -> None:
        """``own`` are the buckets of this process, full at first, for as long as the server is away."""
        self._link = link
        self._prefix = f"{prefix}:rate"
        self._allowance = allowance
        self._own = own
        self._metrics = metrics
        self._lock = threading.Lock()
        self._is_shared = True

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return self._link.guards

    def take(self, principal: Principal, operation: str, calls: int = 1) -> None:
        """See :class:`api.identity.rates.Buckets`."""
        allowed, key = self._allowance.of(principal), self._key(principal, operation)
        try:
            missing = self._link.call(lambda client: _missing(client, key, allowed, allowed.wanted(calls)))
        except Unavailable as error:
            self._told(shared=False, reason=str(error))
            self._own.take(principal, operation, calls)
            return
        self._told(shared=True)
        if missing > 0:
            raise allowed.refused(operation, missing)

    def close(self) -> None:
        """See :class:`api.identity.rates.Buckets`."""
        self._link.close()

    def _key(self, principal: Principal, operation: str) -> str:
        return f"{self._prefix}:{hashlib.sha256(principal.credential.encode()).hexdigest()[:32]}:{operation}"

    def _told(self, *, shared: bool, reason: str = "") -> None:
        self._metrics.count("wa_rate_checks_total", bucket="shared" if shared else "local")
        with self._lock:
            changed, self._is_shared = self._is_shared != shared, shared
        if changed and shared:
            logger(__name__).info("rate_limits_shared_again")
        elif changed:
            logger(__name__).warning("rate_limits_of_this_process_only", reason=reason)


def open_buckets(settings: Settings, clock: Clock, metrics: Metrics) -> Buckets:
    """The buckets of these settings; connects at the first call.

    Raises:
        Misconfigured: ``WA_REDIS_URL`` names no server.
    """
    own = Rates(settings.rate_capacity, settings.rate_refill_per_s, clock)
    if not settings.redis_url:
        return own
    link = RedisLink(settings, DEPENDENCY, clock)
    shared = SharedRates(link, settings.index_prefix, Allowance(settings.rate_capacity, settings.rate_refill_per_s), own, metrics)
    metrics.watch(shared)
    return shared


def _missing(client: Any, key: str, allowed: Allowance, wanted: float) -> float:
    missing = float(client.eval(_TAKE, 1, key, repr(allowed.capacity), repr(allowed.refill_per_s), repr(wanted)))
    if not 0 <= missing < math.inf:
        raise ValueError("no number of tokens")
    return missing
