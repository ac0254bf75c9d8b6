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

NONSENSE: tuple[type[Exception], ...] = (ValueError, TypeError, LookupError, AttributeError)
"""What Redis' driver stumbles over when it reads an answer that is none: a length that is no number, text that is none, one thing in place of another."""


@contextmanager
def translated(*, reading: bool = False) -> Iterator[None]:
    """Raises ``Unavailable`` in place of what the libraries raise; ``reading`` says that the body makes sense of an answer itself and stumbles over one
    that is none. The text names no address, as that may hold a password."""
    try:
        yield
    except UNREACHABLE as error:
        raise _unavailable(error) from error
    except NONSENSE as error:
        if not reading and not of_the_driver(error):
            raise
        raise _unavailable(error) from error


def of_the_driver(error: Exception) -> bool:
    """Whether the error came up in Redis' driver itself, and not in what we handed to it."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and str(place.tb_frame.f_globals.get("__name__", "")).split(".")[0] == "redis"


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"the broker does not serve us ({type(error).__name__}); check WA_REDIS_URL", dependency=BROKER)
