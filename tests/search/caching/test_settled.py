"""What is worked out over a generation holds for all of it, also where documents are found only a while after they were written."""

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant, tenant_named
from search.caching.counts import CachedCounts
from search.caching.entries import Entries
from search.caching.memory import MemoryCache
from search.caching.settled import Settled
from search.documents import EVERYTHING
from search.ports import Engine
from search.ranking import BucketQuery
from tests.contracts.writes import written

QUERY = BucketQuery("theme", EVERYTHING)


class Watched:
    """An engine that notes which of its calls are made."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self._engine, name)


class Still:
    """An engine at a generation, whose refresh may fail."""

    def __init__(self, *, refreshes: bool = True) -> None:
        self.number = 1
        self._refreshes = refreshes

    def generation(self, _tenant: Tenant) -> int:
        return self.number

    def refresh(self, _tenant: Tenant) -> None:
        if not self._refreshes:
            raise Unavailable("may only read", dependency="engine")


def counts(engine: Any) -> CachedCounts:
    clock = SettableClock(datetime(2026, 3, 1, tzinfo=UTC))
    entries = Entries(MemoryCache(clock, entries=10, ttl_s=300), lambda: bytes(32), Metrics(), sharing="")
    return CachedCounts(engine, entries, Settled(engine), clock)


@pytest.mark.live("opensearch")
def test_what_is_written_and_not_yet_refreshed_is_counted_before_a_count_is_kept(opensearch_engine: Engine) -> None:
    tenant, engine = tenant_named("t" + uuid.uuid4().hex[:12]), Watched(opensearch_engine)
    remembered = counts(engine)
    for number in range(1, 4):
        opensearch_engine.write(tenant, [written(f"d{number}", "The lift is stuck.")])
        assert [remembered.aggregate(tenant, QUERY).total for _ in range(2)] == [number, number]
    opensearch_engine.refresh(tenant)
    assert remembered.aggregate(tenant, QUERY).total == 3
    assert engine.calls.count("refresh") == 3
    assert engine.calls.count("aggregate") == 3


def test_a_generation_is_settled_once() -> None:
    engine = Watched(still := Still())
    settled = Settled(engine)
    tenant = tenant_named("acme")
    assert [settled.generation(tenant) for _ in range(3)] == [1, 1, 1]
    still.number = 2
    assert [settled.generation(tenant) for _ in range(3)] == [2, 2, 2]
    assert engine.calls.count("refresh") == 2
    assert settled.stands(tenant, 2)
    assert not settled.stands(tenant, 1)


def test_a_generation_that_cannot_be_settled_is_none() -> None:
    assert Settled(Still(refreshes=False)).generation(tenant_named("acme")) is None  # type: ignore[arg-type]
