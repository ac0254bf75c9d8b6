"""The stores that ingest jobs run on, one parameter each."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from runtime.clock import SettableClock, SystemClock
from runtime.settings import read_settings
from search.engines.embedded import open_embedded
from search.engines.opensearch import open_opensearch
from search.ports import Engine
from tests.search.ingest.hashing import HashingEmbedder
from tests.servers import remove_prefix
from tests.worker.jobs.bench import Bench, bench

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODEL, DIMENSION = HashingEmbedder.model, HashingEmbedder.dimension


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(NOW)


@pytest.fixture(scope="session")
def opensearch(opensearch_url: str) -> Iterator[Engine]:
    settings = read_settings({}, engine_url=opensearch_url, index_prefix="t" + uuid.uuid4().hex[:12])
    try:
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
            yield opened
    finally:
        remove_prefix(opensearch_url, settings.index_prefix)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("jobs") / "store.db"
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
        yield opened


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.live("opensearch"))])
def both(request: pytest.FixtureRequest, clock: SettableClock) -> Iterator[Bench]:
    """A bench on each store, with a tenant of the test's own."""
    yield from _emptied(bench(request.getfixturevalue(request.param), clock, "t" + uuid.uuid4().hex[:12]))


@pytest.fixture
def desk(embedded: Engine, clock: SettableClock) -> Iterator[Bench]:
    """A bench on the embedded store."""
    yield from _emptied(bench(embedded, clock, "t" + uuid.uuid4().hex[:12]))


def _emptied(made: Bench) -> Iterator[Bench]:
    yield made
    for tenant, _ in list(made.jobs.unfinished()):
        made.state.erase(tenant)
