"""A Valkey behind a proxy that breaks what passes: as the bus of events, and as the broker that work is put on."""

import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count
from urllib.parse import urlsplit

import pytest
import redis

from runtime.clock import SystemClock
from runtime.errors import Unavailable
from runtime.settings import Settings, read_settings
from runtime.telemetry import Metrics
from tests.faults.enduring import QUICK, Dependency, LeapingClock, endures, piles_nothing_up, time_limit_s
from tests.faults.proxy import TCP_FAULTS, Fault, Proxy, proxied
from tests.faults.sockets import listening
from tests.worker.events.mill import ACME
from tests.worker.events.test_redis_bus import SENT
from tests.worker.queues.test_broker import pieces
from worker.events.bus import Delivery as Message
from worker.events.bus import Lag
from worker.events.redis_bus import RedisBus, open_redis_bus
from worker.queues.broker_queue import BrokerQueue, open_broker_queue

pytestmark = pytest.mark.live("valkey")

UNTOLD = tuple(fault for fault in TCP_FAULTS if fault != "throttled")
"""An answer of a few bytes comes in time even byte by byte."""


@pytest.fixture
def proxy(valkey_url: str) -> Iterator[Proxy]:
    with proxied("127.0.0.1", urlsplit(valkey_url).port or 6379) as opened:
        yield opened


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
def settings(proxy: Proxy, valkey_url: str, fault: Fault) -> Iterator[Settings]:
    prefix = "t" + uuid.uuid4().hex[:12]
    url = f"redis://localhost:{proxy.port}/0"
    yield read_settings({}, redis_url=url, index_prefix=prefix, redis_timeout_s=time_limit_s(fault), monitor_interval_s=600.0, **QUICK)
    with redis.Redis.from_url(valkey_url) as client:
        for key in client.scan_iter(f"{prefix}:*"):
            client.delete(key)


@pytest.fixture
def bus(settings: Settings, clock: LeapingClock) -> Iterator[RedisBus]:
    with closing(open_redis_bus(settings, clock)) as opened:
        yield opened


@pytest.fixture
def queue(settings: Settings, clock: LeapingClock) -> Iterator[BrokerQueue]:
    with open_broker_queue(settings, clock, lambda _duty: "monitors") as opened:
        yield opened


def reading(bus: RedisBus, clock: LeapingClock) -> Dependency:
    metrics = Metrics()
    metrics.watch(bus)
    return Dependency("redis", lambda: bus.lag("readers"), clock, metrics, ("redis",), told=lambda lag: not isinstance(lag, Lag))


def publishing(bus: RedisBus, clock: LeapingClock) -> Dependency:
    metrics = Metrics()
    metrics.watch(bus)
    return Dependency("redis", lambda: bus.publish([SENT]), clock, metrics, ("redis",), repeats=False)


def nudging(queue: BrokerQueue, clock: LeapingClock) -> Dependency:
    """A door tells the workers of new work; False admits that they were not told."""
    metrics, numbers = Metrics(), count()
    metrics.watch(queue)
    told = lambda value: value is False  # noqa: E731
    return Dependency("broker", lambda: queue.nudge(*pieces(f"w{next(numbers)}")), clock, metrics, ("broker",), told=told, repeats=False)


@pytest.mark.parametrize("fault", TCP_FAULTS)
def test_a_bus_that_cannot_be_read_is_no_empty_bus(fault: Fault, bus: RedisBus, clock: LeapingClock, proxy: Proxy) -> None:
    endures(reading(bus, clock), proxy, fault)


@pytest.mark.parametrize("fault", ["half_open", "reset"])
def test_an_event_is_on_the_bus_or_known_not_to_be_acknowledged(fault: Fault, bus: RedisBus, clock: LeapingClock, proxy: Proxy) -> None:
    endures(publishing(bus, clock), proxy, fault)


@pytest.mark.parametrize("fault", UNTOLD)
def test_workers_are_told_or_the_door_knows_that_they_were_not(fault: Fault, queue: BrokerQueue, clock: LeapingClock, proxy: Proxy) -> None:
    endures(nudging(queue, clock), proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "half_open"])
def test_failed_publishing_piles_nothing_up(fault: Fault, queue: BrokerQueue, clock: LeapingClock, proxy: Proxy) -> None:
    piles_nothing_up(nudging(queue, clock), proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "garbage", "throttled"])
def test_failed_reading_piles_nothing_up(fault: Fault, bus: RedisBus, clock: LeapingClock, proxy: Proxy) -> None:
    piles_nothing_up(reading(bus, clock), proxy, fault)


NONSENSE = (
    b":x\r\n", b"$-5\r\n", b"$x\r\n", b"*x\r\n", b"*-1\r\n", b"%1\r\n+a\r\n+b\r\n", b"+\xff\xfe\r\n", b"$2\r\n\xff\xfe\r\n", b"*0\r\n", b"_\r\n",
    b"#t\r\n", b"+OK\r\n",
    b"*3\r\n$1\r\na\r\n*0\r\n$1\r\n0\r\n",
)  # fmt: skip


@pytest.mark.parametrize("said", NONSENSE)
def test_what_speaks_the_protocol_and_says_nonsense_is_unavailable(said: bytes) -> None:
    """Every answer is of the right form and the wrong kind; whatever the driver or we make of it, the caller is told that it is the dependency's fault."""

    def answer(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(said * 200)

    with listening(answer) as url:
        settings = read_settings(
            {}, redis_url=url.replace("http", "redis") + "/0", redis_timeout_s=0.3, breaker_failures=100, retry_attempts=1
        )
        with (
            closing(open_redis_bus(settings, SystemClock())) as bus,
            open_broker_queue(settings, SystemClock(), lambda _duty: "monitors") as queue,
        ):
            message = Message(0, "1-1", SENT, 1)
            for call in (lambda: bus.lag("g"), lambda: bus.read("g", "one"), bus.dead, lambda: bus.publish([SENT])):
                _answers_or_is_unavailable(call)
            for call in (lambda: bus.acknowledge("g", [message]), lambda: bus.forget(ACME), queue.ledger.last_beat):
                _answers_or_is_unavailable(call)
            assert queue.nudge(*pieces("w1")) in (True, False)
            assert queue.health(datetime.now(UTC)).status in ("late", "unavailable")


def _answers_or_is_unavailable(call: Callable[[], object]) -> None:
    with suppress(Unavailable):
        call()
