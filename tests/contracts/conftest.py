"""The engines and state stores that the contract suites run against, one parameter each."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import DocumentWrite, WriteOutcome
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.engines.opensearch import open_opensearch
from search.engines.told import ToldEngine
from search.ports import Engine, StateStore
from tests.contracts.writes import DIMENSION, MODEL
from tests.servers import remove_prefix


def embedded(folder: Path) -> AbstractContextManager[Engine]:
    """An embedded engine over a new file."""
    return open_embedded(folder / "store.db", model=MODEL, dimension=DIMENSION, clock=SystemClock())


@contextmanager
def opensearch(url: str, placement: str = "own") -> Iterator[Engine]:
    """An OpenSearch engine under a new prefix, with nothing left under it at the end. In a pool, all tenants of a suite share its months."""
    settings = read_settings({}, engine_url=url, index_prefix="t" + uuid.uuid4().hex[:12], placement=placement)
    try:
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
            yield opened
    finally:
        remove_prefix(url, settings.index_prefix)


class Told(ToldEngine):
    """An engine that tells, with its state store beside it as the others have."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        super().__init__(engine, engine.state, SystemClock())
        self.state = engine.state


@contextmanager
def told(folder: Path) -> Iterator[Engine]:
    """An embedded engine whose changes are told."""
    with open_embedded(folder / "store.db", model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
        yield Told(opened)


ENGINES = (
    "embedded",
    "told",
    pytest.param("opensearch", marks=pytest.mark.live("opensearch")),
    pytest.param("opensearch-pool", marks=pytest.mark.live("opensearch")),
    pytest.param("opensearch-compat", marks=pytest.mark.live("opensearch-compat")),
)
"""Every engine under contract. Each must also offer its state store as ``.state``."""


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    if request.param in ("embedded", "told"):
        opener = {"embedded": embedded, "told": told}[request.param](tmp_path_factory.mktemp("engine"))
    else:
        url = "opensearch_compat_url" if request.param == "opensearch-compat" else "opensearch_url"
        opener = opensearch(request.getfixturevalue(url), "pool" if request.param == "opensearch-pool" else "own")
    with opener as opened:
        yield opened


@pytest.fixture
def state(engine: Engine) -> StateStore:
    store: StateStore = engine.state  # type: ignore[attr-defined]
    return store


@pytest.fixture
def tenant() -> Tenant:
    """A tenant of the test's own."""
    return tenant_named("t" + uuid.uuid4().hex[:12])


@pytest.fixture
def other_tenant() -> Tenant:
    return tenant_named("o" + uuid.uuid4().hex[:12])


@pytest.fixture
def put(engine: Engine, tenant: Tenant) -> Callable[..., tuple[WriteOutcome, ...]]:
    """Writes documents of the test's tenant and makes them visible."""

    def write_and_refresh(*writes: DocumentWrite) -> tuple[WriteOutcome, ...]:
        outcomes = engine.write(tenant, writes)
        engine.refresh(tenant)
        return outcomes

    return write_and_refresh
