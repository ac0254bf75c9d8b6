"""Calls to a dependency that may be slow, overloaded or gone: bulkhead, circuit breaker, retry and a timeout per attempt, in that order.

The bulkhead is outermost, so that waiting callers are bounded too. The breaker sees one outcome per call, retries included, so it opens on
outages and not on single failures. Only :class:`Unavailable` is a failure; any other error means that the dependency answered.
"""

import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeVar, runtime_checkable

import tenacity

from runtime.clock import Clock, Deadline, soonest, within
from runtime.errors import CircuitOpen, DeadlineExceeded, Unavailable
from runtime.tracing import Span, span

T = TypeVar("T")

FAIR_S = 1.0
"""An attempt that had half of this, or of its configured time when that is shorter, had a chance."""


class BreakerState(IntEnum):
    """The numbers are those of the metric ``wa_breaker_state``."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


class Breaker:
    """Opens after ``failures`` failures in a row; after ``open_s`` lets exactly one probe through, whose outcome closes or reopens it."""

    def __init__(self, dependency: str, *, failures: int, open_s: float, clock: Clock) -> None:
        self._dependency = dependency
        self._failures_to_open = failures
        self._open_s = open_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_s: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        """The state a call would meet now."""
        with self._lock:
            return self._state()

    @contextmanager
    def admitted(self, fair: Callable[[], bool] = lambda: True) -> Iterator[None]:
        """Run the body if the circuit allows it, and learn from how it ends; from a failure only if ``fair`` says that it had a chance.

        Raises:
            CircuitOpen: it does not; ``retry_after_s`` says when it may.
        """
        self._admit()
        verdict = self._withdrawn
        try:
            yield
            verdict = self._succeeded
        except DeadlineExceeded:  # the caller had too little time: that says nothing about the dependency
            raise
        except Unavailable:
            verdict = self._failed if fair() else self._withdrawn
            raise
        except Exception:
            verdict = self._succeeded
            raise
        finally:
            verdict()

    def _state(self) -> BreakerState:
        if self._opened_s is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._wait_s(self._opened_s) > 0 else BreakerState.HALF_OPEN

    def _wait_s(self, opened_s: float) -> float:
        return opened_s + self._open_s - self._clock.seconds()

    def _admit(self) -> None:
        with self._lock:
            if self._opened_s is None:
                return
            wait_s = self._wait_s(self._opened_s)
            if wait_s <= 0 and not self._probing:
                self._probing = True
                return
        raise CircuitOpen(
            f"{self._dependency} failed {self._failures_to_open} times in a row and is not being called for a while; try again shortly",
            dependency=self._dependency,
            retry_after_s=max(wait_s, 1.0),
        )

    def _succeeded(self) -> None:
        with self._lock:
            self._failures = 0
            self._opened_s = None
            self._probing = False

    def _failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._probing or self._failures >= self._failures_to_open:
                self._opened_s = self._clock.seconds()
            self._probing = False

    def _withdrawn(self) -> None:
        with self._lock:
            self._probing = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most ``attempts`` calls; before the n-th repetition a random wait of up to ``first_wait_s`` · 2ⁿ⁻¹, never above ``longest_wait_s``."""

    attempts: int = 3
    first_wait_s: float = 0.1
    longest_wait_s: float = 2.0


@runtime_checkable
class Guarded(Protocol):
    """Something that calls dependencies through guards; which ones may change."""

    @property
    def guards(self) -> Sequence["Guard"]:
        """The guards as of now."""
        ...


class Guard:
    """The one way to call ``dependency``. One per dependency and process; safe to share between threads.

    ``timeout_s`` bounds a call without a deadline, and each attempt of one with a deadline. ``on_retry`` is told of each repetition, with the
    dependency's name. ``sleep`` and ``randomness`` are parameters, so that a test waits for nothing.
    """

    def __init__(
        self,
        dependency: str,
        *,
        timeout_s: float,
        clock: Clock,
        bulkhead_calls: int = 32,
        bulkhead_wait_s: float = 0.5,
        retry: RetryPolicy | None = None,
        breaker_failures: int = 5,
        breaker_open_s: float = 10.0,
        on_retry: Callable[[str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        randomness: random.Random | None = None,
    ) -> None:
        self.dependency = dependency
        self._timeout_s = timeout_s
        self._clock = clock
        self._bulkhead_calls = bulkhead_calls
        self._bulkhead_wait_s = bulkhead_wait_s
        self._slots = threading.BoundedSemaphore(bulkhead_calls)
        self._retry = retry or RetryPolicy()
        self._breaker = Breaker(dependency, failures=breaker_failures, open_s=breaker_open_s, clock=clock)
        self._on_retry = on_retry
        self._sleep = sleep
        self._randomness = randomness or random.Random()  # noqa: S311 (jitter, no secret)
        self._count_lock = threading.Lock()
        self._in_flight = 0
        self._retries = 0

    @property
    def breaker_state(self) -> BreakerState:
        """State of the circuit."""
        return self._breaker.state

    @property
    def in_flight(self) -> int:
        """Calls in progress."""
        return self._in_flight

    @property
    def retries(self) -> int:
        """Repetitions since the guard was made."""
        return self._retries

    def call(self, fn: Callable[[float], T], *, deadline: Deadline | None = None, repeatable: bool) -> T:
        """``fn(timeout_s)``, guarded. ``timeout_s`` is what remains of the deadline; the driver must keep to it, as a thread cannot be cancelled.
        A deadline around the caller (:func:`runtime.clock.within`) holds as well.

        ``repeatable`` is True only when calling twice does what calling once does.

        Raises:
            DeadlineExceeded: no time was left before an attempt.
            CircuitOpen: the dependency failed too often lately.
            Unavailable: too many calls are in progress, or the last attempt failed so.
        """
        deadline = soonest(deadline or Deadline.after(self._timeout_s, self._clock))
        with span(f"call {self.dependency}", kind="client", dependency=self.dependency.replace(" ", "_")) as told:
            self._check(deadline)
            tries = _Tries(told)
            with self._slot(deadline), self._breaker.admitted(lambda: tries.fair):
                return self._attempts(fn, deadline, tries, repeatable=repeatable)

    def _check(self, deadline: Deadline) -> None:
        if deadline.remaining_s() <= 0.0:
            raise DeadlineExceeded(
                f"no time left for a call to {self.dependency}; ask for less, or again with a larger time budget",
                dependency=self.dependency,
            )

    @contextmanager
    def _slot(self, deadline: Deadline) -> Iterator[None]:
        if not self._slots.acquire(timeout=min(self._bulkhead_wait_s, deadline.remaining_s())):
            raise Unavailable(
                f"{self._bulkhead_calls} calls to {self.dependency} are already in progress; try again shortly",
                dependency=self.dependency,
                retry_after_s=1.0,
            )
        self._counted(in_flight=1)
        try:
            yield
        finally:
            self._counted(in_flight=-1)
            self._slots.release()

    def _counted(self, *, in_flight: int = 0, retries: int = 0) -> None:
        with self._count_lock:
            self._in_flight += in_flight
            self._retries += retries

    def _attempts(self, fn: Callable[[float], T], deadline: Deadline, tries: "_Tries", *, repeatable: bool) -> T:
        def attempt() -> T:
            if tries.failure is not None and deadline.remaining_s() <= 0.0:
                raise tries.failure  # what went wrong says more than that no time is left
            self._check(deadline)
            tries.begin()
            timeout_s = min(self._timeout_s, deadline.remaining_s())
            try:
                with within(Deadline.after(timeout_s, self._clock)):  # for drivers whose timeout is of one read, however many there are
                    return fn(timeout_s)
            except Unavailable as error:
                enough = timeout_s >= min(self._timeout_s, FAIR_S) / 2
                tries.failed(error, fair=enough or deadline.remaining_s() > 0.0)
                raise

        if not repeatable:
            return attempt()
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_worth_repeating),
            stop=lambda state: self._must_stop(state, deadline),
            wait=self._wait_s,
            before_sleep=self._repeating,
            sleep=self._sleep,
            reraise=True,
        )
        return retrying(attempt)

    def _wait_s(self, state: tenacity.RetryCallState) -> float:
        """Full jitter, at least what the dependency asked for."""
        grown_s = self._retry.first_wait_s * 2.0 ** (state.attempt_number - 1)
        jittered_s = self._randomness.uniform(0.0, min(grown_s, self._retry.longest_wait_s))
        return max(jittered_s, _asked_wait_s(state))

    def _must_stop(self, state: tenacity.RetryCallState, deadline: Deadline) -> bool:
        return state.attempt_number >= self._retry.attempts or state.upcoming_sleep >= deadline.remaining_s()

    def _repeating(self, _state: tenacity.RetryCallState) -> None:
        self._counted(retries=1)
        if self._on_retry is not None:
            self._on_retry(self.dependency)


@dataclass(slots=True)
class _Tries:
    """What became of the attempts of one call. ``fair``: at least one failed that was not merely cut short by a caller in a hurry; otherwise whoever asks
    for answers within a millisecond could open the circuit for everybody."""

    told: Span
    number: int = 0
    failure: Unavailable | None = None
    fair: bool = False

    def begin(self) -> None:
        self.number += 1
        self.told.set(attempts=self.number)

    def failed(self, error: Unavailable, *, fair: bool) -> None:
        self.failure = error
        self.fair = self.fair or fair


def asked_wait_s(retry_after: str | None) -> float | None:
    """Seconds of a ``Retry-After`` header that is a number; None when it is absent, a date or no sense."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def _worth_repeating(error: BaseException) -> bool:
    return isinstance(error, Unavailable) and not isinstance(error, DeadlineExceeded)


def _asked_wait_s(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    return (error.retry_after_s or 0.0) if isinstance(error, Unavailable) else 0.0
