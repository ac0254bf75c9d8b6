"""How often a credential may call: a bucket of tokens for each operation, which fills again at a steady rate. Here in this process only."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from api.identity.principal import Principal, RateClass
from runtime.clock import Clock
from runtime.errors import RateLimited

MAX_BUCKETS = 10_000

SHARES: Mapping[RateClass, float] = {"low": 0.2, "standard": 1.0, "high": 10.0}
"""What a rate class makes of both settings."""

ROUNDING = 1e-9
"""What filling by fractions leaves short."""


class Buckets(Protocol):
    """Buckets by credential and operation; safe to share between threads."""

    @property
    def waits(self) -> bool:
        """Whether taking may take a while, so that it belongs in a thread."""
        ...

    def take(self, principal: Principal, operation: str, calls: int = 1) -> None:
        """Take a token for each call, all of them or none.

        Raises:
            RateLimited: there are not as many; says when there will be.
        """
        ...

    def close(self) -> None:
        """Release everything."""
        ...


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many calls a bucket holds, and how many it gains a second."""

    capacity: float
    refill_per_s: float

    def of(self, principal: Principal) -> "Allowance":
        """What there is for the rate class of a caller; at least one call at once."""
        share = SHARES[principal.rate_class]
        return Allowance(max(1.0, self.capacity * share), self.refill_per_s * share)

    def wanted(self, calls: int) -> float:
        """Tokens for so many calls. More than a bucket ever holds would wait for ever."""
        return min(float(calls), self.capacity)

    def refused(self, operation: str, missing: float) -> RateLimited:
        """The error for a bucket that lacks so many tokens."""
        text = f"this credential calls {operation} too often; wait as long as is said"
        return RateLimited(text, retry_after_s=missing / self.refill_per_s)


class Rates:
    """Implements :class:`Buckets` in this process, those not used for longest forgotten first."""

    waits = False

    def __init__(self, capacity: int, refill_per_s: float, clock: Clock) -> None:
        self._allowance = Allowance(capacity, refill_per_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, principal: Principal, operation: str, calls: int = 1) -> None:
        """See :class:`Buckets`."""
        allowed, key = self._allowance.of(principal), (principal.credential, operation)
        wanted = allowed.wanted(calls)
        with self._lock:
            missing = wanted - self._filled(key, allowed)
            if missing <= ROUNDING:
                self._spend(key, wanted)
                return
        raise allowed.refused(operation, missing)

    def close(self) -> None:
        """See :class:`Buckets`."""

    def _filled(self, key: tuple[str, str], allowed: Allowance) -> float:
        now_s = self._clock.seconds()
        tokens, at_s = self._buckets.pop(key, (allowed.capacity, now_s))
        tokens = min(allowed.capacity, tokens + (now_s - at_s) * allowed.refill_per_s)
        self._buckets[key] = (tokens, now_s)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return tokens

    def _spend(self, key: tuple[str, str], wanted: float) -> None:
        tokens, at_s = self._buckets[key]
        self._buckets[key] = (max(0.0, tokens - wanted), at_s)
