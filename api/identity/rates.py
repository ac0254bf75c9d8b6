"""How often a credential may call: a bucket of tokens for each operation, which fills again at a steady rate. In this process only."""

import threading
from collections import OrderedDict
from collections.abc import Mapping

from api.identity.principal import Principal, RateClass
from runtime.clock import Clock
from runtime.errors import RateLimited

MAX_BUCKETS = 10_000

SHARES: Mapping[RateClass, float] = {"low": 0.2, "standard": 1.0, "high": 10.0}
"""What a rate class makes of both settings."""


class Rates:
    """Buckets by credential and operation, those not used for longest forgotten first. Safe to share between threads."""

    def __init__(self, capacity: int, refill_per_s: float, clock: Clock) -> None:
        self._capacity = capacity
        self._refill_per_s = refill_per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, principal: Principal, operation: str, calls: int = 1) -> None:
        """Take a token for each call, all of them or none.

        Raises:
            RateLimited: there are not as many; says when there will be.
        """
        share = SHARES[principal.rate_class]
        capacity, refill_per_s = max(1.0, self._capacity * share), self._refill_per_s * share
        wanted = min(float(calls), capacity)  # more than a bucket ever holds would wait for ever
        with self._lock:
            missing = wanted - self._filled((principal.credential, operation), capacity, refill_per_s)
            if missing <= 1e-9:  # what filling by fractions leaves short
                self._spend((principal.credential, operation), wanted)
                return
        raise RateLimited(f"this credential calls {operation} too often; wait as long as is said", retry_after_s=missing / refill_per_s)

    def _filled(self, key: tuple[str, str], capacity: float, refill_per_s: float) -> float:
        now_s = self._clock.seconds()
        tokens, at_s = self._buckets.pop(key, (capacity, now_s))
        tokens = min(capacity, tokens + (now_s - at_s) * refill_per_s)
        self._buckets[key] = (tokens, now_s)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return tokens

    def _spend(self, key: tuple[str, str], wanted: float) -> None:
        tokens, at_s = self._buckets[key]
        self._buckets[key] = (max(0.0, tokens - wanted), at_s)
