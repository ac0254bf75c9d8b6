"""A worker that delivers, on a store of its own that holds the documents of its digests."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runtime.clock import SettableClock
from search.engines.embedded import EmbeddedEngine, open_embedded
from tests.contracts.writes import DIMENSION, MODEL, written
from tests.worker.deliveries.digests import ACME, BIRCH, Desk, desk


@pytest.fixture
def clock() -> SettableClock:
    """At the present, because receivers look at the timestamp of a signature."""
    return SettableClock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture
def store(tmp_path: Path, clock: SettableClock) -> Iterator[EmbeddedEngine]:
    with open_embedded(tmp_path / "store.db", model=MODEL, dimension=DIMENSION, clock=clock) as opened:
        for tenant in (ACME, BIRCH):
            opened.write(tenant, [written("d-1", "Card payments are declined."), written("d-2", "My card was declined.")])
        yield opened


@pytest.fixture
def opened(store: EmbeddedEngine, clock: SettableClock) -> Callable[..., Desk]:
    """A worker over the store with other settings; every call is another process, as far as guards go."""
    return lambda **given: desk(store, store.state, clock, **given)


@pytest.fixture
def worker(opened: Callable[..., Desk]) -> Desk:
    return opened()
