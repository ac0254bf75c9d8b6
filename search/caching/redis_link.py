"""The one way in which what is optional calls Redis or Valkey: guarded, never waiting long, its errors translated in one place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import redis.exceptions

from runtime.clock import Clock
from runtime.errors import Unavailable
from runtime.redis_client import redis_client
from runtime.resilience import Guard
from runtime.settings import Settings

T = TypeVar("T")

BULKHEAD_WAIT_S = 0.05

UNREACHABLE: tuple[type[Exception], ...] = (
    redis.exceptions.RedisError,
    redis.exceptions.RedisClusterException,  # this and the next are not of that family
    redis.exceptions.ChildDeadlockedError,
    OSError,
    ValueError,  # from here on what the driver raises at an answer that is none: a length that is no number, a greeting of another type
    TypeError,
    AttributeError,
    LookupError,
)


class RedisLink:
    """Connections behind a guard of their own; safe to use from many threads, connects at the first call. Nothing is ever called twice."""

    def __init__(self, settings: Settings, dependency: str, clock: Clock) -> None:
        """To the server of ``WA_REDIS_URL``; ``dependency`` is what the guard is called in metrics.

        Raises:
            Misconfigured: the setting names no server.
        """
        timeout_s = settings.cache_timeout_s
        self._client: Any = redis_client(settings.redis_url, timeout_s)
        self._dependency = dependency
        self._guard = Guard(
            dependency,
            timeout_s=timeout_s,
            clock=clock,
            bulkhead_calls=settings.bulkhead_calls,
            bulkhead_wait_s=BULKHEAD_WAIT_S,
            breaker_failures=settings.breaker_failures,
            breaker_open_s=settings.breaker_open_s,
        )

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return (self._guard,)

    def call(self, fn: Callable[[Any], T]) -> T:
        """What ``fn`` makes of the client; one command, or one pipeline.

        Raises:
            Unavailable: the server cannot be reached, is slow, refuses us or answers nonsense; or it did so lately.
        """

        def attempt(_timeout_s: float) -> T:
            with self._translated():
                return fn(self._client)

        return self._guard.call(attempt, repeatable=False)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The text names no address, as that may hold a password."""
        try:
            yield
        except UNREACHABLE as error:
            text = f"Redis does not serve us ({type(error).__name__}); check WA_REDIS_URL"
            raise Unavailable(text, dependency=self._dependency) from error
