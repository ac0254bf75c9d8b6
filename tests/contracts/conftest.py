"""The engines and state stores that the contract suites run against, one parameter each."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant, tenant_named
from search.documents import DocumentWrite, WriteOutcome
from search.engines.embedded import open_embedded
from search.ports import Engine, StateStore
from tests.contracts.writes import DIMENSION, MODEL

Opener = Callable[[Path], AbstractContextManager[Engine]]


def embedded(folder: Path) -> AbstractContextManager[Engine]:
    """An embedded engine over a new file."""
    return open_embedded(folder / "store.db", model=MODEL, dimension=DIMENSION, clock=SystemClock())


OPENERS: dict[str, Opener] = {"embedded": embedded}
"""Every engine under contract. Each must also offer its state store as ``.state``."""


@pytest.fixture(scope="session", params=list(OPENERS))
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with OPENERS[request.param](tmp_path_factory.mktemp("engine")) as opened:
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
