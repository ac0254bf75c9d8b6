"""A cache in Redis or Valkey, shared by all processes of a deployment."""

from functools import partial
from typing import Any

from runtime.resilience import Guard
from runtime.tenancy import Tenant
from search.caching.cache import MAX_ENTRY_BYTES
from search.caching.redis_link import RedisLink

_PAGE = 1000


class RedisCache:
    """Implements :class:`search.caching.cache.Cache`. A key is ``PREFIX:cache:TENANT:NAME``; every one has a time to live."""

    shared = True

    def __init__(self, link: RedisLink, prefix: str, *, ttl_s: float) -> None:
        self._link = link
        self._prefix = f"{prefix}:cache"
        self._ttl_ms = max(1, int(ttl_s * 1000))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What every call goes through."""
        return self._link.guards

    def get(self, tenant: Tenant, name: str) -> bytes | None:
        """See :class:`search.caching.cache.Cache`. No more is read than an entry may have, whatever lies there."""
        found = self._link.call(lambda client: client.getrange(self._key(tenant, name), 0, MAX_ENTRY_BYTES))
        return found if isinstance(found, bytes) and found else None

    def put(self, tenant: Tenant, name: str, value: bytes) -> None:
        """See :class:`search.caching.cache.Cache`."""
        if len(value) <= MAX_ENTRY_BYTES:
            self._link.call(lambda client: client.set(self._key(tenant, name), value, px=self._ttl_ms))

    def forget(self, tenant: Tenant) -> int:
        """See :class:`search.caching.cache.Cache`."""
        cursor, removed = 0, 0
        while True:
            cursor, gone = self._link.call(partial(self._forgotten, tenant=tenant, cursor=cursor))
            removed += gone
            if cursor == 0:
                return removed

    def close(self) -> None:
        """See :class:`search.caching.cache.Cache`."""
        self._link.close()

    def _forgotten(self, client: Any, tenant: Tenant, cursor: int) -> tuple[int, int]:
        following, keys = client.scan(cursor, match=f"{self._prefix}:{tenant}:*", count=_PAGE)
        return int(following), int(client.unlink(*keys)) if keys else 0

    def _key(self, tenant: Tenant, name: str) -> str:
        return f"{self._prefix}:{tenant}:{name}"
