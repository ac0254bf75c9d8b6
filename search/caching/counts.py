"""Aggregations, kept as long as the documents they were made of stand."""

from runtime.clock import Clock
from runtime.errors import ServiceError
from runtime.tenancy import Tenant
from search.caching.entries import Entries, Key
from search.caching.settled import Settled
from search.documents import DocumentPage, Filters
from search.listing import filters_as_json
from search.ports import Engine
from search.ranking import BucketQuery, Buckets


class CachedCounts:
    """Implements :class:`search.ports.Counts` over an engine. Never under a verifier, whose second count must be one."""

    def __init__(self, engine: Engine, entries: Entries, settled: Settled, clock: Clock) -> None:
        self._engine = engine
        self._entries = entries
        self._settled = settled
        self._clock = clock

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :class:`search.ports.Engine`."""
        generation = self._settled.generation(tenant)
        if generation is None:
            return self._engine.aggregate(tenant, query)
        key, now = self._key(tenant, generation, query), self._clock.now()
        found = self._entries.recall(key, Buckets, now, lambda buckets: buckets.generation == generation)
        if found.value is not None:
            return found.value
        buckets = self._engine.aggregate(tenant, query)
        if found.how != "error" and self._is_of(tenant, buckets, generation):
            self._entries.keep(key, buckets, now)
        return buckets

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :class:`search.ports.Engine`."""
        return self._engine.documents(tenant, filters, match=match, first=first, after=after)

    def _key(self, tenant: Tenant, generation: int, query: BucketQuery) -> Key:
        return self._entries.key(
            "aggregate",
            tenant,
            generation,
            by=query.by,
            filters=filters_as_json(query.filters),
            match=query.match,
            time_zone=query.time_zone,
            ids_per_bucket=query.ids_per_bucket,
        )

    def _is_of(self, tenant: Tenant, buckets: Buckets, generation: int) -> bool:
        try:
            return buckets.generation == generation and self._settled.stands(tenant, generation)
        except ServiceError:
            return False
