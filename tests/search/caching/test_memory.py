from datetime import UTC, datetime

import pytest

from runtime.clock import SettableClock
from runtime.tenancy import tenant_named
from search.caching.memory import MemoryCache

ACME = tenant_named("acme")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 3, 1, tzinfo=UTC))


def test_an_entry_ends_with_its_time(clock: SettableClock) -> None:
    cache = MemoryCache(clock, entries=10, ttl_s=5)
    cache.put(ACME, "a", b"1")
    clock.elapsed_s += 4.9
    assert cache.get(ACME, "a") == b"1"
    clock.elapsed_s += 0.1
    assert cache.get(ACME, "a") is None
    assert cache._bytes == 0


def test_the_one_not_asked_for_longest_goes_first(clock: SettableClock) -> None:
    cache = MemoryCache(clock, entries=2, ttl_s=5)
    cache.put(ACME, "a", b"1")
    cache.put(ACME, "b", b"2")
    cache.get(ACME, "a")
    cache.put(ACME, "c", b"3")
    assert [cache.get(ACME, name) for name in "abc"] == [b"1", None, b"3"]


def test_bytes_are_bounded_whatever_is_put(clock: SettableClock) -> None:
    cache = MemoryCache(clock, entries=1000, ttl_s=5, max_bytes=1000)
    for number in range(200):
        cache.put(ACME, str(number % 30), bytes(number * 7 % 400))
        assert cache._bytes == sum(len(value) for _, value in cache._kept.values()) <= 1000
    cache.put(ACME, "large", bytes(1001))
    assert cache.get(ACME, "large") is None
    cache.close()
    assert cache._bytes == 0
