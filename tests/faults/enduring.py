"""What holds for every dependency and every fault: one story, told to each row of a table.

All is well; the fault begins and eight callers come at once; each is told honestly; the circuit opens and costs no connection; the fault ends and,
after the circuit's pause, one probe goes through and all is well again, with nothing left behind.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psutil
from prometheus_client import generate_latest

from runtime.errors import CircuitOpen, ServiceError, Unavailable
from runtime.resilience import BreakerState
from runtime.telemetry import Metrics
from tests.faults.proxy import Fault, Proxy

CALLERS = 8
PAUSE_S = 600.0
"""No pause of a circuit ends by itself while a test runs: tests move the clock."""

QUICK: dict[str, Any] = {"breaker_failures": 2, "breaker_open_s": PAUSE_S, "retry_attempts": 2}
REPEATED: tuple[Fault, ...] = ("refused", "reset", "cut", "http_503", "dns")
"""Faults that always leave time for a second attempt, and do not ask for more of it than there is."""


def time_limit_s(fault: Fault) -> float:
    """Short where it is waited for, and long where a second attempt is expected, however busy the machine."""
    return 15.0 if fault in REPEATED else 1.0


PATIENCE_S = 30.0
"""An outcome that takes longer is a call that hangs."""


@dataclass(slots=True)
class LeapingClock:
    """The machine's clock, and now and then some time passes at once."""

    leapt_s: float = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def seconds(self) -> float:
        return time.monotonic() + self.leapt_s


@dataclass(frozen=True, slots=True)
class Dependency:
    """``call`` is what somebody asks for; ``told`` says whether a value admits that a part is missing. ``metric`` is what metrics call it. ``named`` are
    the dependencies an error may name. ``repeats``: a failed call is made again."""

    metric: str
    call: Callable[[], object]
    clock: LeapingClock
    metrics: Metrics
    named: tuple[str, ...]
    told: Callable[[object], bool] = lambda _value: False
    repeats: bool = True
    pause_s: float = PAUSE_S
    counted: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds."""

    threads: int = field(default_factory=threading.active_count)
    files: int = field(default_factory=lambda: psutil.Process().num_fds())
    bytes: int = field(default_factory=lambda: psutil.Process().memory_info().rss)


def endures(dependency: Dependency, proxy: Proxy, fault: Fault) -> None:
    """The whole story."""
    _is_well(dependency)
    at_once(dependency.call)
    before, repeated = Held(), metric(dependency, "wa_retries_total")
    proxy.fail(fault)
    outcomes = at_once(dependency.call)
    for outcome in outcomes:
        _is_honest(dependency, outcome)
    assert any(not isinstance(outcome, CircuitOpen) for outcome in outcomes), outcomes
    _costs_nothing_while_open(dependency, proxy)
    if fault in REPEATED or not dependency.repeats:
        assert (metric(dependency, "wa_retries_total") > repeated) == dependency.repeats, fault
    dependency.counted()
    proxy.heal()
    _recovers(dependency)
    _left_nothing(before)


def at_once(call: Callable[[], object], callers: int = CALLERS) -> list[object]:
    """The outcome of each of so many calls at the same time: what was returned, or the error that was raised."""
    start = threading.Barrier(callers)

    def one() -> object:
        start.wait(PATIENCE_S)
        try:
            return call()
        except ServiceError as error:
            return error

    with ThreadPoolExecutor(callers) as pool:
        calls = [pool.submit(one) for _ in range(callers)]
        return [each.result(PATIENCE_S) for each in calls]


def metric(dependency: Dependency, name: str) -> float:
    """A value by dependency, as it is told to Prometheus."""
    return dependency.metrics.registry.get_sample_value(name, {"dependency": dependency.metric}) or 0.0


def _is_well(dependency: Dependency) -> None:
    value = dependency.call()
    assert not dependency.told(value), value
    assert metric(dependency, "wa_breaker_state") == BreakerState.CLOSED
    assert f'wa_breaker_state{{dependency="{dependency.metric}"}}' in generate_latest(dependency.metrics.registry).decode()


def _is_honest(dependency: Dependency, outcome: object) -> None:
    """An error that names who is away and can be repeated later, or a value that admits what it lacks; never silence, never anything untyped."""
    if isinstance(outcome, ServiceError):
        assert isinstance(outcome, Unavailable), repr(outcome)
        assert outcome.dependency in dependency.named, repr(outcome)
        assert str(outcome)
    else:
        assert dependency.told(outcome), outcome


def _costs_nothing_while_open(dependency: Dependency, proxy: Proxy) -> None:
    assert metric(dependency, "wa_breaker_state") == BreakerState.OPEN
    assert metric(dependency, "wa_bulkhead_in_flight") == 0
    asked = proxy.accepted
    for outcome in at_once(dependency.call):
        _is_honest(dependency, outcome)
        assert not isinstance(outcome, Unavailable) or isinstance(outcome, CircuitOpen), repr(outcome)
    assert proxy.accepted == asked


def _recovers(dependency: Dependency) -> None:
    """Of many callers at the end of the pause one probes; nobody is told anything untrue meanwhile."""
    dependency.clock.leapt_s += dependency.pause_s
    assert metric(dependency, "wa_breaker_state") == BreakerState.HALF_OPEN
    for outcome in at_once(dependency.call):
        if isinstance(outcome, ServiceError):
            _is_honest(dependency, outcome)
    _is_well(dependency)


def _left_nothing(before: Held) -> None:
    """Pooled connections of eight callers, both ends of them and of the proxy's, may differ; nothing else."""
    waiting = threading.Event()
    for _ in range(100):
        now = Held()
        if now.threads <= before.threads + 2 and now.files <= before.files + 4 * CALLERS:
            break
        waiting.wait(0.05)
    assert now.threads <= before.threads + 2, [thread.name for thread in threading.enumerate()]
    assert now.files <= before.files + 4 * CALLERS
    assert now.bytes <= before.bytes + 64 * 1024 * 1024


def piles_nothing_up(dependency: Dependency, proxy: Proxy, fault: Fault) -> None:
    """Many failures, each past an open circuit: what is held afterwards does not depend on how many there were."""
    _is_well(dependency)
    at_once(dependency.call)
    before = Held()
    proxy.fail(fault)
    for _ in range(6 if fault in REPEATED else 2):
        dependency.clock.leapt_s += dependency.pause_s
        with suppress(ServiceError):
            at_once(dependency.call)
    proxy.heal()
    dependency.clock.leapt_s += dependency.pause_s
    _recovers_quietly(dependency)
    _left_nothing(before)


def _recovers_quietly(dependency: Dependency) -> None:
    at_once(dependency.call)
    _is_well(dependency)
