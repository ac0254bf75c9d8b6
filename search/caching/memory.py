"""A cache in this process, bounded in entries, bytes and time; the entries that were not asked for longest go first."""

import threading
from collections import OrderedDict

from runtime.clock import Clock
from runtime.tenancy import Tenant
from search.caching.cache import MAX_ENTRY_BYTES

MAX_BYTES = 64 * 1024 * 1024


class MemoryCache:
    """Implements :class:`search.caching.cache.Cache`."""

    shared = False

    def __init__(self, clock: Clock, *, entries: int, ttl_s: float, max_bytes: int = MAX_BYTES) -> None:
        self._clock = clock
        self._entries = entries
        self._ttl_s = ttl_s
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Tenant, str], tuple[float, bytes]] = OrderedDict()
        self._bytes = 0

    def get(self, tenant: Tenant, name: str) -> bytes | None:
        """See :class:`search.caching.cache.Cache`."""
        with self._lock:
            found = self._kept.get((tenant, name))
            if found is None:
                return None
            if found[0] <= self._clock.seconds():
                self._drop((tenant, name))
                return None
            self._kept.move_to_end((tenant, name))
            return found[1]

    def put(self, tenant: Tenant, name: str, value: bytes) -> None:
        """See :class:`search.caching.cache.Cache`."""
        if len(value) > min(MAX_ENTRY_BYTES, self._max_bytes):
            return
        with self._lock:
            self._drop((tenant, name))
            self._kept[(tenant, name)] = (self._clock.seconds() + self._ttl_s, value)
            self._bytes += len(value)
            while len(self._kept) > self._entries or self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def forget(self, tenant: Tenant) -> int:
        """See :class:`search.caching.cache.Cache`."""
        with self._lock:
            theirs = [key for key in self._kept if key[0] == tenant]
            for key in theirs:
                self._drop(key)
        return len(theirs)

    def close(self) -> None:
        """See :class:`search.caching.cache.Cache`."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _drop(self, key: tuple[Tenant, str]) -> None:
        self._bytes -= len(self._kept.pop(key, (0.0, b""))[1])
