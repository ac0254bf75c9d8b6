"""Time as a parameter: nothing below the doors calls ``time`` or ``datetime.now`` by itself."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from runtime.errors import DeadlineExceeded


class Clock(Protocol):
    """Two clocks in one: the calendar, and a stopwatch that never steps back."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        ...

    def seconds(self) -> float:
        """Monotonic seconds since an arbitrary start."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """See :class:`Clock`."""
        return datetime.now(UTC)

    def seconds(self) -> float:
        """See :class:`Clock`."""
        return time.monotonic()


@dataclass(slots=True)
class SettableClock:
    """A clock that stands still until told to move."""

    instant: datetime
    elapsed_s: float = 0.0

    def now(self) -> datetime:
        """See :class:`Clock`."""
        return self.instant

    def seconds(self) -> float:
        """See :class:`Clock`."""
        return self.elapsed_s


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point on the stopwatch by which a whole request must be over; passed down to each driver as its timeout."""

    clock: Clock
    at_s: float

    @classmethod
    def after(cls, seconds: float, clock: Clock | None = None) -> "Deadline":
        """The deadline that many seconds from now."""
        clock = clock or SystemClock()
        return cls(clock, clock.seconds() + seconds)

    def remaining_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at_s - self.clock.seconds())

    def check(self, doing: str) -> None:
        """Raise :class:`DeadlineExceeded` when no time is left for ``doing``."""
        if self.remaining_s() <= 0.0:
            raise DeadlineExceeded(f"no time left for {doing}; ask for less, or again with a larger time budget")


def halfway(deadline: Deadline) -> Deadline:
    """Half of the time that is left, so that something optional and slow leaves time for the rest."""
    return Deadline(deadline.clock, deadline.clock.seconds() + deadline.remaining_s() / 2)


_AROUND: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Every guarded call of the body keeps to this deadline, whatever it was handed itself; of nested ones the soonest holds."""
    token = _AROUND.set(soonest(deadline))
    try:
        yield
    finally:
        _AROUND.reset(token)


def soonest(deadline: Deadline) -> Deadline:
    """This deadline, or that of the body around the caller (:func:`within`) when that comes sooner."""
    around = _AROUND.get()
    return around if around is not None and around.remaining_s() < deadline.remaining_s() else deadline


def time_left_s(most_s: float | None) -> float | None:
    """Seconds that may be waited for: at most ``most_s`` (None: any time), and no longer than :func:`within` allows. Never below a millisecond, which
    is what drivers take for a wait that ends at once."""
    around = _AROUND.get()
    left = [each for each in (most_s, None if around is None else around.remaining_s()) if each is not None]
    return max(0.001, min(left)) if left else None


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Measures seconds since it was made."""

    clock: Clock = field(default_factory=SystemClock)
    started_s: float = 0.0

    @classmethod
    def start(cls, clock: Clock) -> "Stopwatch":
        """A running stopwatch."""
        return cls(clock, clock.seconds())

    def elapsed_s(self) -> float:
        """Seconds since :meth:`start`."""
        return self.clock.seconds() - self.started_s
