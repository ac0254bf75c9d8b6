"""What every cache holds to; what it does not promise (that an entry is still there) nobody tests."""

import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest

from runtime.clock import SystemClock
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.caching.cache import MAX_ENTRY_BYTES, Cache
from search.caching.memory import MemoryCache
from search.caching.redis_cache import RedisCache
from search.caching.redis_link import RedisLink

ACME, BIRCH = tenant_named("acme"), tenant_named("birch")
NAME = "0" * 64


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.live("valkey"))])
def cache(request: pytest.FixtureRequest) -> Iterator[Cache]:
    if request.param == "memory":
        yield MemoryCache(SystemClock(), entries=100, ttl_s=600)
        return
    settings = read_settings({}, redis_url=request.getfixturevalue("valkey_url"), cache_timeout_s=30)
    link = RedisLink(settings, "cache", SystemClock())
    with closing(RedisCache(link, "t" + uuid.uuid4().hex[:12], ttl_s=600)) as opened:
        yield opened


def test_what_was_put_is_there_and_the_last_one_counts(cache: Cache) -> None:
    assert cache.get(ACME, NAME) is None
    cache.put(ACME, NAME, b"\x00first\xff")
    assert cache.get(ACME, NAME) == b"\x00first\xff"
    cache.put(ACME, NAME, b"second")
    assert cache.get(ACME, NAME) == b"second"


def test_tenants_share_nothing(cache: Cache) -> None:
    cache.put(ACME, NAME, b"ours")
    assert cache.get(BIRCH, NAME) is None
    assert cache.get(tenant_named("acm"), NAME) is None


def test_forgetting_takes_all_of_a_tenant_and_nothing_else(cache: Cache) -> None:
    longer = tenant_named("acme-2")
    for tenant in (ACME, BIRCH, longer):
        for number in range(3):
            cache.put(tenant, f"{number:064d}", b"value")
    assert cache.forget(ACME) == 3
    assert cache.get(ACME, NAME) is None
    assert (cache.get(BIRCH, NAME), cache.get(longer, NAME)) == (b"value", b"value")
    assert cache.forget(ACME) == 0


def test_what_is_too_long_is_not_kept(cache: Cache) -> None:
    cache.put(ACME, NAME, bytes(MAX_ENTRY_BYTES + 1))
    assert cache.get(ACME, NAME) is None
    cache.put(ACME, NAME, bytes(MAX_ENTRY_BYTES))
    assert len(cache.get(ACME, NAME) or b"") == MAX_ENTRY_BYTES
