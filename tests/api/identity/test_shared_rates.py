"""Rates over a real Valkey: one bucket for all processes, this process's own where the server cannot be had, and never none."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import redis

from api.identity.gate import Gate
from api.identity.principal import EVERY_SCOPE, Principal
from api.identity.rates import Buckets, Rates
from api.identity.shared_rates import DEPENDENCY, SharedRates, open_buckets
from runtime.clock import SettableClock
from runtime.errors import Misconfigured, RateLimited
from runtime.resilience import BreakerState
from runtime.settings import read_settings
from runtime.telemetry import Metrics
from runtime.tenancy import tenant_named
from tests.servers import ROOT, free_port, running_valkey

live = pytest.mark.live("valkey")
CALLER = Principal(tenant_named("acme"), "ann@example.org", EVERY_SCOPE)
NEVER = 1e-9
"""A refill that adds nothing while a test runs."""


@pytest.fixture
def prefix() -> str:
    return "t" + uuid.uuid4().hex[:12]


@contextmanager
def buckets(url: str, prefix: str, metrics: Metrics | None = None, **settings: Any) -> Iterator[Buckets]:
    chosen = {"rate_capacity": 5, "rate_refill_per_s": NEVER, "breaker_failures": 1, "cache_timeout_s": 30} | settings
    clock = SettableClock(datetime(2026, 3, 1, tzinfo=UTC))
    with closing(open_buckets(read_settings({}, redis_url=url, index_prefix=prefix, **chosen), clock, metrics or Metrics())) as opened:
        yield opened


def taken(opened: Buckets, calls: int, principal: Principal = CALLER, operation: str = "ask") -> int:
    """How many of so many calls were let in."""
    let_in = 0
    for _ in range(calls):
        try:
            opened.take(principal, operation)
            let_in += 1
        except RateLimited:
            continue
    return let_in


def checks(metrics: Metrics) -> dict[str, float | None]:
    return {name: metrics.registry.get_sample_value("wa_rate_checks_total", {"bucket": name}) for name in ("shared", "local")}


@live
def test_two_instances_share_one_bucket_under_threads(valkey_url: str, prefix: str) -> None:
    with (
        buckets(valkey_url, prefix, rate_capacity=40) as one,
        buckets(valkey_url, prefix, rate_capacity=40) as two,
        ThreadPoolExecutor(8) as pool,
    ):
        let_in = sum(pool.map(lambda number: taken((one, two)[number % 2], 8), range(8)))
    assert let_in == 40


@live
def test_two_processes_share_one_bucket(valkey_url: str, prefix: str) -> None:
    script = (
        "import sys; from tests.api.identity.test_shared_rates import buckets, taken\n"
        "with buckets(sys.argv[1], sys.argv[2], rate_capacity=10) as opened: print(taken(opened, 9))"
    )
    command = [sys.executable, "-c", script, valkey_url, prefix]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert sum(map(int, said)) == 10


@live
def test_callers_operations_and_deployments_have_buckets_of_their_own(valkey_url: str, prefix: str) -> None:
    other = Principal(tenant_named("birch"), "ann@example.org", EVERY_SCOPE)
    with buckets(valkey_url, prefix) as opened, buckets(valkey_url, prefix + "x") as elsewhere:
        assert taken(opened, 6) == 5
        assert taken(opened, 6, operation="search") == 5
        assert taken(opened, 6, other) == 5
        assert taken(elsewhere, 6) == 5


@live
def test_a_bucket_fills_by_the_clock_of_the_server_and_waiting_as_long_as_is_said_is_enough(valkey_url: str, prefix: str) -> None:
    with buckets(valkey_url, prefix, rate_capacity=2, rate_refill_per_s=0.5) as opened, redis.Redis.from_url(valkey_url) as client:
        opened.take(CALLER, "ask", 2)
        with pytest.raises(RateLimited) as caught:
            opened.take(CALLER, "ask", 2)
        assert 0.0 < caught.value.retry_after_s <= 4.0
        (key,) = client.keys(f"{prefix}:rate:*")
        client.hset(key, "at", float(client.hget(key, "at")) - caught.value.retry_after_s)
        opened.take(CALLER, "ask", 2)
        opened_again = taken(opened, 1)
    assert opened_again == 0


@live
def test_more_calls_than_a_bucket_holds_take_all_of_it_and_rate_classes_have_their_share(valkey_url: str, prefix: str) -> None:
    high = Principal(tenant_named("acme"), "bob", EVERY_SCOPE, rate_class="high")
    with buckets(valkey_url, prefix) as opened:
        opened.take(CALLER, "ask", 500)
        assert taken(opened, 1) == 0
        assert taken(opened, 60, high) == 50


@live
def test_keys_hold_no_name_and_end_when_the_bucket_would_be_full(valkey_url: str, prefix: str) -> None:
    with buckets(valkey_url, prefix, rate_refill_per_s=0.5) as opened, redis.Redis.from_url(valkey_url) as client:
        opened.take(CALLER, "ask")
        (key,) = client.keys(f"{prefix}:*")
        assert b"ann" not in key
        assert b"acme" not in key
        assert 0 < client.pttl(key) <= 11_000


@live
@pytest.mark.parametrize(
    "lie",
    [
        b"text",
        {"tokens": "nan", "at": "nan"},
        {"tokens": "inf", "at": "0"},
        {"tokens": "1e308", "at": "1"},
        {"tokens": "no number", "at": b"\xff\x00"},
        {"tokens": "-1e300", "at": "1"},
        {"tokens": "5", "at": "1e300"},
        {"other": "field"},
    ],
)
def test_a_lie_in_a_key_gives_a_full_bucket_at_most_and_never_locks_out(valkey_url: str, prefix: str, lie: Any) -> None:
    with buckets(valkey_url, prefix, rate_refill_per_s=1e-6) as opened, redis.Redis.from_url(valkey_url) as client:
        opened.take(CALLER, "ask")
        (key,) = client.keys(f"{prefix}:rate:*")
        client.delete(key)
        client.set(key, lie) if isinstance(lie, bytes) else client.hset(key, mapping=lie)
        assert taken(opened, 20) == 5


@live
def test_a_server_that_dies_leaves_this_process_its_own_bucket_and_comes_back_unaided() -> None:
    metrics = Metrics()
    with running_valkey() as server, buckets(server.url, "town", metrics) as opened:
        assert isinstance(opened, SharedRates)
        assert taken(opened, 3) == 3
        server.kill()
        assert taken(opened, 20) == 5  # its own, full at first, and not more
        assert checks(metrics) == {"shared": 3, "local": 20}
        assert opened.guards[0].breaker_state is BreakerState.OPEN
        server.start()
        clock = opened.guards[0]._clock
        assert isinstance(clock, SettableClock)
        clock.elapsed_s += 60
        assert taken(opened, 20) == 5  # the server lost what it knew
    assert checks(metrics) == {"shared": 23, "local": 20}


def test_without_a_server_there_are_buckets_of_this_process() -> None:
    with buckets("", "town") as opened:
        assert isinstance(opened, Rates)
        assert taken(opened, 9) == 5


def test_a_server_that_was_never_there_limits_all_the_same() -> None:
    with buckets(f"redis://:secret@127.0.0.1:{free_port()}/0", "town", metrics := Metrics()) as opened:
        assert taken(opened, 9) == 5
        assert checks(metrics) == {"shared": 0, "local": 9}


def test_an_address_that_is_none_is_named_at_start() -> None:
    with pytest.raises(Misconfigured, match="WA_REDIS_URL"), buckets("http://127.0.0.1", "town"):
        pass


@live
def test_the_gate_of_every_application_asks_the_same_bucket(valkey_url: str, prefix: str) -> None:
    settings = read_settings({}, redis_url=valkey_url, index_prefix=prefix, rate_capacity=1, rate_refill_per_s=NEVER, cache_timeout_s=30)
    clock, metrics = SettableClock(datetime(2026, 3, 1, tzinfo=UTC)), Metrics()
    with closing(Gate(settings, clock, Metrics())) as one, closing(Gate(settings, clock, metrics)) as two:
        one.admit(CALLER, ["ask"])
        with pytest.raises(RateLimited):
            two.admit(CALLER, ["ask"])
    assert metrics.registry.get_sample_value("wa_rate_limited_total", {"operation": "ask"}) == 1
    assert metrics.registry.get_sample_value("wa_breaker_state", {"dependency": DEPENDENCY}) == BreakerState.CLOSED
