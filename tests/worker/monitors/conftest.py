import uuid
from collections.abc import Iterator

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant, tenant_named
from search.engines.embedded import EmbeddedEngine, open_embedded
from tests.contracts.writes import DIMENSION, MODEL
from tests.worker.monitors.watch import Watch


@pytest.fixture(scope="session")
def embedded_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedEngine]:
    with open_embedded(tmp_path_factory.mktemp("monitors") / "store.db", model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
        yield opened


@pytest.fixture
def tenant() -> Tenant:
    return tenant_named("t" + uuid.uuid4().hex[:12])


@pytest.fixture
def watch(embedded_store: EmbeddedEngine, tenant: Tenant) -> Watch:
    """An evaluator of the test's own tenant over a new store."""
    return Watch(embedded_store, embedded_store.state, tenant)
