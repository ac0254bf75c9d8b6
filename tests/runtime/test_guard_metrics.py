"""Circuits, calls in progress and repetitions are read from the guards when metrics are asked for."""

from dataclasses import dataclass

import pytest
from prometheus_client import generate_latest

from runtime.errors import Unavailable
from runtime.resilience import Guard
from runtime.telemetry import Metrics
from tests.runtime.test_resilience import Flaky, guard, lost, still_clock


@dataclass(frozen=True)
class Calling:
    """Something guarded."""

    guards: tuple[Guard, ...]


def told(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def test_what_a_guard_knows_is_told() -> None:
    metrics, (guarded, _) = Metrics(), guard(still_clock(), breaker_failures=1)
    metrics.watch(Calling((guarded,)))
    assert 'wa_breaker_state{dependency="the index"} 0.0' in told(metrics)
    assert guarded.call(Flaky(lost(), lost()), repeatable=True) == "answered"
    assert 'wa_retries_total{dependency="the index"} 2.0' in told(metrics)
    with pytest.raises(Unavailable):
        guarded.call(Flaky(lost()), repeatable=False)
    assert 'wa_breaker_state{dependency="the index"} 2.0' in told(metrics)


def test_a_call_in_progress_is_counted() -> None:
    metrics, (guarded, _) = Metrics(), guard(still_clock())
    metrics.watch(Calling((guarded,)))
    during = guarded.call(lambda _timeout_s: told(metrics), repeatable=False)
    assert 'wa_bulkhead_in_flight{dependency="the index"} 1.0' in during
    assert 'wa_bulkhead_in_flight{dependency="the index"} 0.0' in told(metrics)


def test_guards_of_one_dependency_are_one_line_with_the_worst_circuit() -> None:
    metrics, (well, _), (ill, _) = Metrics(), guard(still_clock()), guard(still_clock(), breaker_failures=1)
    metrics.watch(Calling((well,)))
    metrics.watch(Calling((ill,)))
    with pytest.raises(Unavailable):
        ill.call(Flaky(lost()), repeatable=False)
    assert told(metrics).count('wa_breaker_state{dependency="the index"}') == 1
    assert 'wa_breaker_state{dependency="the index"} 2.0' in told(metrics)


def test_what_has_no_guards_is_left_alone() -> None:
    metrics = Metrics()
    metrics.watch(object())
    assert "# TYPE wa_breaker_state gauge" in told(metrics)
