import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from runtime.clock import Deadline, SettableClock, within
from runtime.errors import CircuitOpen, DeadlineExceeded, InvalidRequest, Unavailable
from runtime.resilience import Breaker, BreakerState, Guard, RetryPolicy


def still_clock() -> SettableClock:
    return SettableClock(datetime(2026, 3, 1, tzinfo=UTC))


class Sleeping:
    """A sleep that moves the clock instead of waiting, and remembers; ``late_s`` is how much later than asked it ends."""

    def __init__(self, clock: SettableClock) -> None:
        self.clock = clock
        self.waits: list[float] = []
        self.late_s = 0.0

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.elapsed_s += seconds + self.late_s


class Flaky:
    """Fails as told, then answers; remembers the timeouts it was given."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.timeouts: list[float] = []

    def __call__(self, timeout_s: float) -> str:
        self.timeouts.append(timeout_s)
        if self.failures:
            raise self.failures.pop(0)
        return "answered"


def guard(clock: SettableClock, **changes: object) -> tuple[Guard, Sleeping]:
    sleeping = Sleeping(clock)
    arguments: dict[str, object] = {"timeout_s": 10.0, "clock": clock, "sleep": sleeping, "randomness": random.Random(7), **changes}
    return Guard("the index", **arguments), sleeping  # type: ignore[arg-type]


def lost(retry_after_s: float | None = None) -> Unavailable:
    return Unavailable("gone", dependency="the index", retry_after_s=retry_after_s)


def test_a_call_that_may_be_repeated_is_repeated_until_it_succeeds() -> None:
    clock = still_clock()
    told: list[str] = []
    guarded, sleeping = guard(clock, on_retry=told.append)
    flaky = Flaky(lost(), lost())
    assert guarded.call(flaky, repeatable=True) == "answered"
    assert len(flaky.timeouts) == 3
    assert (guarded.retries, told, len(sleeping.waits)) == (2, ["the index", "the index"], 2)
    assert guarded.breaker_state is BreakerState.CLOSED


def test_a_call_that_may_not_be_repeated_is_tried_once() -> None:
    guarded, sleeping = guard(still_clock())
    flaky = Flaky(lost())
    with pytest.raises(Unavailable, match="gone"):
        guarded.call(flaky, repeatable=False)
    assert (len(flaky.timeouts), sleeping.waits) == (1, [])


def test_repetitions_are_bounded_by_attempts_and_the_last_failure_is_raised_itself() -> None:
    guarded, _ = guard(still_clock(), retry=RetryPolicy(attempts=4))
    last = lost()
    flaky = Flaky(lost(), lost(), lost(), last)
    with pytest.raises(Unavailable) as raised:
        guarded.call(flaky, repeatable=True)
    assert raised.value is last


def test_an_error_of_the_caller_is_never_repeated_and_never_opens_the_circuit() -> None:
    guarded, _ = guard(still_clock(), breaker_failures=1)
    flaky = Flaky(InvalidRequest("is empty", field="query"))
    with pytest.raises(InvalidRequest):
        guarded.call(flaky, repeatable=True)
    assert len(flaky.timeouts) == 1
    assert guarded.breaker_state is BreakerState.CLOSED


def test_each_attempt_is_given_what_remains_of_the_deadline() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, timeout_s=10.0)
    flaky = Flaky()

    def slow(timeout_s: float) -> str:
        clock.elapsed_s += 1.5
        return flaky(timeout_s)

    flaky.failures = [lost(retry_after_s=0.5)]
    assert guarded.call(slow, deadline=Deadline.after(4.0, clock), repeatable=True) == "answered"
    assert flaky.timeouts == pytest.approx([4.0, 2.0], abs=1e-6)


def test_an_attempt_never_gets_more_than_the_configured_timeout() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, timeout_s=2.0)
    flaky = Flaky()
    guarded.call(flaky, deadline=Deadline.after(60.0, clock), repeatable=True)
    assert flaky.timeouts == [2.0]


def test_a_wait_that_outlasts_the_deadline_is_not_begun() -> None:
    clock = still_clock()
    guarded, sleeping = guard(clock)
    flaky = Flaky(lost(retry_after_s=30.0))
    with pytest.raises(Unavailable, match="gone"):
        guarded.call(flaky, deadline=Deadline.after(5.0, clock), repeatable=True)
    assert sleeping.waits == []


def test_the_wait_a_dependency_asks_for_is_kept() -> None:
    guarded, sleeping = guard(still_clock())
    guarded.call(Flaky(lost(retry_after_s=3.0)), repeatable=True)
    assert sleeping.waits == [3.0]


def test_waits_are_random_and_grow_up_to_a_limit() -> None:
    policy = RetryPolicy(attempts=200, first_wait_s=0.1, longest_wait_s=0.4)
    guarded, sleeping = guard(still_clock(), retry=policy, timeout_s=10_000.0)
    guarded.call(Flaky(*(lost() for _ in range(199))), repeatable=True)
    assert max(sleeping.waits) <= 0.4
    assert sleeping.waits[0] <= 0.1
    assert len(set(sleeping.waits)) == 199


def test_a_spent_deadline_calls_nothing_and_says_nothing_about_the_dependency() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, breaker_failures=1)
    flaky = Flaky()
    with pytest.raises(DeadlineExceeded, match="a call to the index"):
        guarded.call(flaky, deadline=Deadline.after(0.0, clock), repeatable=True)
    assert flaky.timeouts == []
    assert guarded.breaker_state is BreakerState.CLOSED


def opened(clock: SettableClock, failures: int = 2) -> Guard:
    guarded, _ = guard(clock, breaker_failures=failures, breaker_open_s=10.0)
    for _ in range(failures):
        with pytest.raises(Unavailable):
            guarded.call(Flaky(lost()), repeatable=False)
    return guarded


def test_failures_in_a_row_open_the_circuit_and_an_open_one_costs_no_attempt() -> None:
    guarded = opened(still_clock())
    flaky = Flaky()
    with pytest.raises(CircuitOpen) as raised:
        guarded.call(flaky, repeatable=True)
    assert flaky.timeouts == []
    assert raised.value.dependency == "the index"
    assert raised.value.retry_after_s == 10.0
    assert guarded.breaker_state is BreakerState.OPEN


def test_a_success_between_failures_keeps_the_circuit_closed() -> None:
    guarded, _ = guard(still_clock(), breaker_failures=2)
    for _ in range(5):
        with pytest.raises(Unavailable):
            guarded.call(Flaky(lost()), repeatable=False)
        guarded.call(Flaky(), repeatable=False)
    assert guarded.breaker_state is BreakerState.CLOSED


def test_repeated_attempts_of_one_call_count_as_one_failure() -> None:
    guarded, _ = guard(still_clock(), breaker_failures=2, retry=RetryPolicy(attempts=5))
    with pytest.raises(Unavailable):
        guarded.call(Flaky(*(lost() for _ in range(5))), repeatable=True)
    assert guarded.breaker_state is BreakerState.CLOSED


def test_after_the_pause_a_successful_probe_closes_the_circuit() -> None:
    clock = still_clock()
    guarded = opened(clock)
    clock.elapsed_s += 10.0
    assert guarded.breaker_state is BreakerState.HALF_OPEN
    assert guarded.call(Flaky(), repeatable=False) == "answered"
    assert guarded.breaker_state is BreakerState.CLOSED


def test_a_failed_probe_opens_the_circuit_for_another_whole_pause() -> None:
    clock = still_clock()
    guarded = opened(clock, failures=5)
    clock.elapsed_s += 10.0
    with pytest.raises(Unavailable, match="gone"):
        guarded.call(Flaky(lost()), repeatable=False)
    clock.elapsed_s += 9.0
    assert guarded.breaker_state is BreakerState.OPEN
    clock.elapsed_s += 1.0
    assert guarded.breaker_state is BreakerState.HALF_OPEN


def test_a_probe_that_is_interrupted_leaves_the_way_free_for_another() -> None:
    clock = still_clock()
    guarded = opened(clock)
    clock.elapsed_s += 10.0

    def interrupted(_timeout_s: float) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded.call(interrupted, repeatable=False)
    assert guarded.breaker_state is BreakerState.HALF_OPEN
    assert guarded.call(Flaky(), repeatable=False) == "answered"


def in_threads(count: int, work: Callable[[], str]) -> list[str]:
    with ThreadPoolExecutor(count) as pool:
        return [future.result(timeout=20) for future in [pool.submit(work) for _ in range(count)]]


def test_exactly_one_of_many_threads_becomes_the_probe() -> None:
    clock = still_clock()
    guarded = opened(clock)
    clock.elapsed_s += 10.0
    turned_away = threading.Semaphore(0)
    entered: list[int] = []

    def probe(_timeout_s: float) -> str:
        entered.append(1)
        for _ in range(7):
            assert turned_away.acquire(timeout=20)
        return "probed"

    def work() -> str:
        try:
            return guarded.call(probe, repeatable=False)
        except CircuitOpen:
            turned_away.release()
            return "turned away"

    assert sorted(in_threads(8, work)) == ["probed"] + ["turned away"] * 7
    assert len(entered) == 1
    assert guarded.breaker_state is BreakerState.CLOSED


def test_calls_run_beside_each_other_up_to_the_bulkhead() -> None:
    guarded, _ = guard(still_clock(), bulkhead_calls=4)
    together = threading.Barrier(4)
    seen: list[int] = []

    def meet(_timeout_s: float) -> str:
        together.wait(timeout=20)
        seen.append(guarded.in_flight)
        together.wait(timeout=20)
        return "met"

    assert in_threads(4, lambda: guarded.call(meet, repeatable=False)) == ["met"] * 4
    assert seen == [4, 4, 4, 4]
    assert guarded.in_flight == 0


def test_a_full_bulkhead_sheds_the_next_call_without_touching_the_breaker() -> None:
    guarded, _ = guard(still_clock(), bulkhead_calls=1, bulkhead_wait_s=0.0, breaker_failures=1)
    inside, leave = threading.Event(), threading.Event()

    def stay(_timeout_s: float) -> str:
        inside.set()
        assert leave.wait(timeout=20)
        return "left"

    with ThreadPoolExecutor(1) as pool:
        staying = pool.submit(guarded.call, stay, repeatable=False)
        assert inside.wait(timeout=20)
        with pytest.raises(Unavailable, match="1 calls to the index are already in progress"):
            guarded.call(Flaky(), repeatable=True)
        leave.set()
        assert staying.result(timeout=20) == "left"
    assert guarded.breaker_state is BreakerState.CLOSED


def test_a_waiting_call_gets_the_slot_that_becomes_free() -> None:
    guarded, _ = guard(still_clock(), bulkhead_calls=1, bulkhead_wait_s=20.0, timeout_s=60.0)
    assert in_threads(6, lambda: guarded.call(Flaky(), repeatable=False)) == ["answered"] * 6


def test_many_threads_count_every_failure_once() -> None:
    clock = still_clock()
    breaker = Breaker("the index", failures=50, open_s=1.0, clock=clock)

    def fail() -> str:
        with pytest.raises(Unavailable), breaker.admitted():
            raise lost()
        return breaker.state.name

    states = in_threads(49, fail)
    assert set(states) == {"CLOSED"}
    assert fail() == "OPEN"


def test_a_caller_in_a_hurry_opens_no_circuit() -> None:
    """Time limits come from callers: one who allows a millisecond must not take the dependency from everybody."""
    clock = still_clock()
    guarded, _ = guard(clock, breaker_failures=1, timeout_s=10.0)

    def too_slow(timeout_s: float) -> str:
        clock.elapsed_s += timeout_s
        raise lost()

    for _ in range(3):
        with pytest.raises(Unavailable, match="gone"):
            guarded.call(too_slow, deadline=Deadline.after(0.001, clock), repeatable=True)
    assert guarded.breaker_state is BreakerState.CLOSED
    with pytest.raises(Unavailable, match="gone"):
        guarded.call(too_slow, deadline=Deadline.after(2.0, clock), repeatable=True)
    assert guarded.breaker_state is BreakerState.OPEN


def test_a_quick_failure_counts_however_little_time_there_was() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, breaker_failures=1)
    with pytest.raises(Unavailable, match="gone"):
        guarded.call(Flaky(lost()), deadline=Deadline.after(0.001, clock), repeatable=False)
    assert guarded.breaker_state is BreakerState.OPEN


def test_time_that_runs_out_while_waiting_to_repeat_leaves_the_failure_and_counts_it() -> None:
    clock = still_clock()
    guarded, sleeping = guard(clock, breaker_failures=1, retry=RetryPolicy(attempts=3, first_wait_s=0.1))
    sleeping.late_s = 5.0
    flaky = Flaky(lost(), lost())
    with pytest.raises(Unavailable, match="gone") as raised:
        guarded.call(flaky, deadline=Deadline.after(1.0, clock), repeatable=True)
    assert not isinstance(raised.value, DeadlineExceeded)
    assert len(flaky.timeouts) == 1
    assert guarded.breaker_state is BreakerState.OPEN


def test_a_deadline_around_the_caller_holds_whatever_it_was_handed_itself() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, timeout_s=10.0)
    flaky = Flaky()
    with within(Deadline.after(3.0, clock)):
        guarded.call(flaky, repeatable=True)
        guarded.call(flaky, deadline=Deadline.after(5.0, clock), repeatable=True)
        with within(Deadline.after(4.0, clock)):
            guarded.call(flaky, deadline=Deadline.after(1.0, clock), repeatable=True)
            guarded.call(flaky, repeatable=True)
    guarded.call(flaky, repeatable=True)
    assert flaky.timeouts == pytest.approx([3.0, 3.0, 1.0, 3.0, 10.0])


def test_a_spent_deadline_around_the_caller_names_the_dependency() -> None:
    clock = still_clock()
    guarded, _ = guard(clock)
    with within(Deadline.after(0.0, clock)), pytest.raises(DeadlineExceeded) as raised:
        guarded.call(Flaky(), repeatable=True)
    assert raised.value.dependency == "the index"


def test_attempts_and_waits_together_never_outlast_the_deadline() -> None:
    clock = still_clock()
    guarded, _ = guard(clock, timeout_s=2.0, retry=RetryPolicy(attempts=10), breaker_failures=100)

    def uses_up(timeout_s: float) -> str:
        clock.elapsed_s += timeout_s
        raise lost()

    for seconds in (0.5, 1.0, 3.0, 7.0):
        began_s = clock.seconds()
        with pytest.raises(Unavailable):
            guarded.call(uses_up, deadline=Deadline.after(seconds, clock), repeatable=True)
        assert clock.seconds() - began_s <= seconds + 1e-6
