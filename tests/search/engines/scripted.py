"""A real cluster whose client does something of the test's choosing before a bulk request: stop like a killed process, wait, or let others act."""

from collections.abc import Callable, Sequence

from runtime.clock import Clock, Deadline, SystemClock
from runtime.settings import Settings, read_settings
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_cluster import Cluster, Operation
from search.engines.opensearch_connection import connected
from search.engines.opensearch_items import Item
from search.engines.opensearch_placement import Where
from tests.contracts.writes import DIMENSION, MODEL


class Killed(BaseException):
    """The writing process is gone: nothing of ours catches this."""


class ScriptedCluster(Cluster):
    """Calls ``before_bulk(n)`` before the n-th bulk request with operations; a claim is 1, its passages are 2, its settlement is 3."""

    def __init__(self, cluster: Cluster, before_bulk: Callable[[int], None]) -> None:
        super().__init__(cluster._client, cluster.reads, cluster.writes, cluster.location)
        self._before_bulk = before_bulk
        self._bulks = 0

    def bulk(self, operations: Sequence[Operation], *, refresh: bool = False, deadline: Deadline | None = None) -> tuple[Item, ...]:
        """As its parent's, after the script."""
        if operations:
            self._bulks += 1
            self._before_bulk(self._bulks)
        return super().bulk(operations, refresh=refresh, deadline=deadline)


def settings_of(url: str, prefix: str) -> Settings:
    """Settings of a test's own prefix."""
    return read_settings({}, engine_url=url, index_prefix=prefix)


def engine_on(
    url: str, prefix: str, *, clock: Clock | None = None, before_bulk: Callable[[int], None] | None = None, newcomers: Where = "own"
) -> OpenSearchEngine:
    """An engine under ``prefix``, prepared."""
    clock = clock or SystemClock()
    cluster = connected(settings_of(url, prefix), clock)
    scripted = cluster if before_bulk is None else ScriptedCluster(cluster, before_bulk)
    engine = OpenSearchEngine(scripted, prefix, model=MODEL, dimension=DIMENSION, clock=clock, newcomers=newcomers)
    engine.prepare()
    return engine
