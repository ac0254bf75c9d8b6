"""What the broker's libraries raise, translated in one place."""

from collections.abc import Iterator
from contextlib import contextmanager

import kombu.exceptions
import redis.exceptions

from runtime.errors import Unavailable

BROKER = "broker"
UNREACHABLE: tuple[type[Exception], ...] = (
    kombu.exceptions.OperationalError,
    kombu.exceptions.LimitExceeded,
    redis.exceptions.RedisError,
    redis.exceptions.ChildDeadlockedError,  # not of that family
    OSError,
)
"""The broker cannot be reached, refuses us, or answers nonsense; the remaining errors of these libraries are defects of ours."""


@contextmanager
def translated() -> Iterator[None]:
    """Raises ``Unavailable`` in place of what the libraries raise. The text names no address, as that may hold a password."""
    try:
        yield
    except UNREACHABLE as error:
        raise Unavailable(f"the broker does not serve us ({type(error).__name__}); check WA_REDIS_URL", dependency=BROKER) from error
