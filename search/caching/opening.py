"""The cache of these settings, wired."""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from runtime.clock import Clock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from search.caching.cache import Cache, NoCache
from search.caching.counts import CachedCounts
from search.caching.entries import Entries
from search.caching.memory import MemoryCache
from search.caching.secret import StoreSecret
from search.caching.settled import Settled
from search.ports import Counts, Embedder, Engine, StateStore

DEPENDENCY = "cache"

WITHOUT_INFLUENCE = tuple(
    "allowed_ auth body_ breaker_ bulkhead_ cache dashboards_ default_tenant delivery_ engine_password environment event_ host job_ key_ log_ max_batch_ "
    "max_body_ mcp_ monitor_ oidc_ otlp_ port public_ rate_ redis_ retry_ smtp_ webhook_ worker_".split()
)
"""What the settings begin with that change no answer and no count: processes that differ in them share entries. A new setting keeps them apart."""


@dataclass(frozen=True, slots=True)
class Caching:
    """What is shared by whatever uses the cache. ``entries`` is None where nothing is kept."""

    cache: Cache
    entries: Entries | None
    settled: Settled

    def counts(self, engine: Engine, clock: Clock) -> Counts:
        """The counts of an engine, those of a moment ago given again."""
        return engine if self.entries is None else CachedCounts(engine, self.entries, self.settled, clock)


@contextmanager
def open_caching(
    settings: Settings, engine: Engine, state: StateStore, embedder: Embedder, clock: Clock, metrics: Metrics
) -> Iterator[Caching]:
    """The cache of ``WA_CACHE``, closed at the end.

    Raises:
        Misconfigured: ``WA_REDIS_URL`` names no server.
    """
    cache, settled = _cache(settings, clock), Settled(engine)
    metrics.watch(cache)
    try:
        if settings.cache == "off":
            yield Caching(cache, None, settled)
        else:
            secret, own = StoreSecret(state), secrets.token_bytes(32)
            entries = Entries(cache, secret if cache.shared else lambda: own, metrics, sharing=sharing(settings, embedder))
            yield Caching(cache, entries, settled)
    finally:
        cache.close()


def sharing(settings: Settings, embedder: Embedder) -> str:
    """Everything beside a request and the documents that decides what comes out; processes that agree in it share entries."""
    said = {name: text for name, text in settings.describe().items() if not name.startswith(WITHOUT_INFLUENCE)}
    place = socket.gethostname() if settings.engine_url.startswith("sqlite") else ""  # the same path is another file elsewhere
    return json.dumps([_release(), place, embedder.model, embedder.dimension, said], sort_keys=True)


def _release() -> str:
    try:
        return version("wisdomagent")
    except PackageNotFoundError:
        return ""


def _cache(settings: Settings, clock: Clock) -> Cache:
    if settings.cache == "off":
        return NoCache()
    if settings.cache == "memory" or not settings.redis_url:
        return MemoryCache(clock, entries=settings.cache_entries, ttl_s=settings.cache_ttl_s)
    from search.caching.redis_cache import RedisCache
    from search.caching.redis_link import RedisLink

    return RedisCache(RedisLink(settings, DEPENDENCY, clock), settings.index_prefix, ttl_s=settings.cache_ttl_s)
