"""Stores to move documents between: both engines, as a service has them."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.settings import Settings, read_settings
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.engines.opening import Store
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.told import ToldEngine
from tests.contracts.writes import DIMENSION, MODEL
from tests.search.moving.places import Known
from tests.servers import remove_prefix

Opened = Callable[[], Store]
LIVE = pytest.mark.live("opensearch")
STORES = ("embedded", pytest.param("opensearch", marks=LIVE), pytest.param("opensearch-pool", marks=LIVE))


def settings_over(url: str, placement: str = "own") -> Settings:
    """Settings of a new place: a file in this folder, or a prefix of its own."""
    return read_settings({}, engine_url=url, index_prefix="t" + uuid.uuid4().hex[:12], placement=placement)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store with engine, state and months."""
    clock = SystemClock()
    with ExitStack() as stack:
        engine: EmbeddedEngine | OpenSearchEngine
        if request.param == "embedded":
            engine = stack.enter_context(open_embedded(tmp_path / "store.db", model=MODEL, dimension=DIMENSION, clock=clock))
        else:
            settings = settings_over(request.getfixturevalue("opensearch_url"), "pool" if request.param == "opensearch-pool" else "own")
            stack.callback(remove_prefix, settings.engine_url, settings.index_prefix)
            engine = stack.enter_context(open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=clock))
        yield Store(ToldEngine(engine, engine.state, clock), engine.state, engine.months, Known())
