"""A Redis that is gone, silent, cut short, slow by the byte or something else: a cache that says so at once, and never a wrong value."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest
import redis

from runtime.clock import SystemClock
from runtime.errors import CircuitOpen, Misconfigured, Unavailable
from runtime.resilience import BreakerState
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.caching import redis_link
from search.caching.cache import MAX_ENTRY_BYTES
from search.caching.redis_cache import RedisCache
from search.caching.redis_link import RedisLink
from tests.faults.sockets import listening, nobody_listening, resetting, saying_nothing
from tests.servers import running_valkey

ACME = tenant_named("acme")
live = pytest.mark.live("valkey")


@contextmanager
def cache_at(url: str, **settings: Any) -> Iterator[RedisCache]:
    chosen = read_settings({}, redis_url=url, **{"cache_timeout_s": 30} | settings)
    with closing(RedisCache(RedisLink(chosen, "cache", SystemClock()), "town", ttl_s=600)) as opened:
        yield opened


def saying(answer: bytes) -> Callable[[socket.socket], None]:
    def say(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(answer)

    return say


def dripping(connection: socket.socket) -> None:
    """A byte of a long answer now and then, each sooner than any timeout of one read."""
    connection.recv(65536)
    connection.sendall(b"$100000\r\n")
    pause = threading.Event()
    while not pause.wait(0.01):
        connection.sendall(b"x")


NONSENSE = {
    "another protocol": b"HTTP/1.1 200 OK\r\n\r\n",
    "a length that is none": b"$many\r\nxx\r\n",
    "an error": b"-LOADING Redis is loading the dataset in memory\r\n",
    "no entry": b":12\r\n",
    "bytes": b"\xff\xfe\x00\r\n",
    "a list of nothing": b"*1\r\n*1\r\n$-1\r\n",
    "an endless list": b"*99999999999\r\n",
}


@pytest.mark.parametrize("said", NONSENSE)
def test_nonsense_is_unavailable_or_nothing(said: str) -> None:
    with (
        listening(saying(NONSENSE[said])) as url,
        cache_at(url.replace("http", "redis"), cache_timeout_s=0.2) as cache,
        contextlib.suppress(Unavailable),
    ):
        assert cache.get(ACME, "n") is None


@pytest.mark.parametrize("misbehave", [resetting, saying_nothing, dripping])
def test_a_connection_that_fails_is_unavailable_within_its_time_and_says_no_address(misbehave: Callable[[socket.socket], None]) -> None:
    with listening(misbehave) as url, cache_at(url.replace("http://", "redis://:secret@"), cache_timeout_s=0.1) as cache:
        for call in (lambda: cache.get(ACME, "n"), lambda: cache.put(ACME, "n", b"v"), lambda: cache.forget(ACME)):
            with pytest.raises(Unavailable) as refused:
                call()
            assert refused.value.dependency == "cache"
            assert "secret" not in str(refused.value)
            assert "127.0.0.1" not in str(refused.value)


def test_failures_open_the_circuit_and_nothing_piles_up() -> None:
    url = nobody_listening().replace("http", "redis")
    with cache_at(url, breaker_failures=3) as cache:

        def failed(_number: int) -> bool:
            try:
                cache.get(ACME, "n")
            except Unavailable:
                return True
            return False

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(failed, range(100)))
        assert cache.guards[0].breaker_state is BreakerState.OPEN
        assert cache.guards[0].in_flight == 0
        with pytest.raises(CircuitOpen):
            cache.get(ACME, "n")


def test_every_exception_of_the_driver_is_translated() -> None:
    raised = [each for each in vars(redis.exceptions).values() if isinstance(each, type) and issubclass(each, Exception)]
    others = [each.__name__ for each in raised if each.__module__.startswith("redis") and not issubclass(each, redis_link.UNREACHABLE)]
    assert others == ["IncorrectPolicyType"]  # a defect of whoever routes commands in a cluster


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(Misconfigured, match="WA_REDIS_URL"):
        RedisLink(read_settings({}, redis_url="127.0.0.1:6379"), "cache", SystemClock())


@live
def test_no_more_is_read_than_an_entry_may_have(valkey_url: str) -> None:
    with cache_at(valkey_url) as cache, redis.Redis.from_url(valkey_url) as client:
        client.set("town:cache:acme:large", bytes(20 * MAX_ENTRY_BYTES))
        assert len(cache.get(ACME, "large") or b"") == MAX_ENTRY_BYTES + 1
        cache.forget(ACME)


@live
def test_a_key_of_another_type_is_unavailable_until_it_is_overwritten(valkey_url: str) -> None:
    with cache_at(valkey_url) as cache, redis.Redis.from_url(valkey_url) as client:
        client.rpush("town:cache:acme:list", "one")
        with pytest.raises(Unavailable):
            cache.get(ACME, "list")
        cache.put(ACME, "list", b"value")
        assert cache.get(ACME, "list") == b"value"
        assert 0 < client.pttl("town:cache:acme:list") <= 600_000
        cache.forget(ACME)


@live
def test_a_server_that_died_is_called_again_when_it_is_back() -> None:
    with running_valkey() as server, cache_at(server.url, breaker_failures=100) as cache:
        cache.put(ACME, "n", b"v")
        server.kill()
        with pytest.raises(Unavailable):
            cache.get(ACME, "n")
        server.start()
        assert cache.get(ACME, "n") is None
        cache.put(ACME, "n", b"v")
        assert cache.get(ACME, "n") == b"v"
