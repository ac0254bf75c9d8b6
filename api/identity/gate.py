"""What stands between a known caller and an operation: the scope it takes, then how often it may be called."""

from collections import Counter
from collections.abc import Iterable

from api.identity import audit
from api.identity.principal import Principal
from api.identity.rights import require
from api.identity.shared_rates import open_buckets
from api.threads import Threads
from runtime.clock import Clock
from runtime.errors import RateLimited, ServiceError
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tracing import note

RATE_THREADS = 16
"""Of their own, so that a slow server of rates keeps no question waiting for a thread."""


class Gate:
    """One per application, for all its doors together."""

    def __init__(self, settings: Settings, clock: Clock, metrics: Metrics) -> None:
        self._buckets = open_buckets(settings, clock, metrics)
        self._threads = Threads(RATE_THREADS)
        self._metrics = metrics

    def admit(self, principal: Principal, operations: Iterable[str]) -> None:
        """Let the caller do all of these, each as often as it is named, or none of them.

        Raises:
            MissingScope: one of them takes a scope that the credential lacks.
            RateLimited: one of them was called too often.
        """
        counted = Counter(operations)
        note(operation=",".join(sorted(counted)) or None)
        try:
            for operation in counted:
                require(principal, operation)
            for operation, calls in counted.items() if principal.limited else ():
                self._take(principal, operation, calls)
        except ServiceError as error:
            _key_used(principal, counted, type(error).__name__)
            raise
        _key_used(principal, counted, "ok")

    async def admitted(self, principal: Principal, operations: Iterable[str]) -> None:
        """:meth:`admit` from the event loop, which it never keeps waiting."""
        if self._buckets.waits and principal.limited:
            await self._threads.call(self.admit, principal, operations)
        else:
            self.admit(principal, operations)

    def close(self) -> None:
        """Let go of the server of rates."""
        self._buckets.close()

    def _take(self, principal: Principal, operation: str, calls: int) -> None:
        try:
            self._buckets.take(principal, operation, calls)
        except RateLimited:
            self._metrics.count("wa_rate_limited_total", operation=operation)
            raise


def _key_used(principal: Principal, operations: Iterable[str], outcome: str) -> None:
    if principal.key_id:
        audit.told("key_used", principal, operation=",".join(operations), outcome=outcome)
