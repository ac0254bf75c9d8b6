"""A cluster of two nodes, of which one is killed. Real processes; the service knows the address of both."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from runtime.clock import Deadline, SystemClock
from runtime.errors import ServiceError, Unavailable
from runtime.settings import Settings, read_settings
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.servers import MavenNode

pytestmark = pytest.mark.live("opensearch-two-nodes")

Pair = tuple[MavenNode, MavenNode]
TENANT = tenant_named("a-tenant")
QUERY = LegQuery("late fees", unit_vector("late fees"), EVERYTHING)
PATIENCE_S = 60.0


def settings_of(pair: Pair, prefix: str) -> Settings:
    url = ",".join([pair[0].url, pair[1].url.removeprefix("http://")])
    return read_settings({}, engine_url=url, index_prefix=prefix, engine_timeout_s=10.0, breaker_open_s=0.2)


def eventually(done: Callable[[], bool]) -> None:
    """Asks until it is so; fails when patience is over."""
    patience = Deadline.after(PATIENCE_S, SystemClock())
    while not done():
        assert patience.remaining_s() > 0, "it did not come about in time"
        threading.Event().wait(0.1)


def is_whole(engine: OpenSearchEngine) -> bool:
    """True when both nodes are there and hold a copy of everything."""
    try:
        found = engine.describe()
    except Unavailable:
        return False
    return (found.get("nodes"), found.get("cluster_status")) == ("2", "green")


@dataclass
class Load:
    """What one thread after another wrote and asked while something broke."""

    engine: OpenSearchEngine
    acknowledged: list[str] = field(default_factory=list)
    found: int = 0
    failures: list[ServiceError] = field(default_factory=list)

    def write(self, number: int) -> None:
        doc_id = f"n{number}"
        (outcome,) = self.engine.write(TENANT, [written(doc_id, f"late fees {number}", day=number % 3)])
        assert outcome.kind in ("indexed", "unchanged")
        self.acknowledged.append(doc_id)

    def search(self, _number: int) -> None:
        legs = self.engine.legs(TENANT, QUERY)
        assert (dict(legs.lost), legs.scope >= 50) == ({}, True)
        self.found += 1

    @contextmanager
    def running(self, *calls: Callable[[int], None]) -> Iterator[None]:
        """Makes these calls again and again, each in a thread of its own."""
        over = threading.Event()

        def again(call: Callable[[int], None]) -> None:
            number = 0
            while not over.is_set():
                try:
                    call(number)
                except ServiceError as error:
                    self.failures.append(error)
                number += 1
                over.wait(0.02)

        threads = [threading.Thread(target=again, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def await_more(self, amount: int = 10) -> None:
        """Until so many more writes were acknowledged and searches answered."""
        written_before, found_before = len(self.acknowledged), self.found
        eventually(lambda: len(self.acknowledged) >= written_before + amount and self.found >= found_before + amount)


@pytest.fixture
def engine(opensearch_pair: Pair) -> Iterator[OpenSearchEngine]:
    """Fifty documents on a cluster that is whole; everything is whole again afterwards."""
    with open_opensearch(settings_of(opensearch_pair, "two"), model=MODEL, dimension=DIMENSION, clock=SystemClock()) as opened:
        opened.write(TENANT, [written(f"d{number}", f"late fees of {number}") for number in range(50)])
        opened.refresh(TENANT)
        eventually(lambda: is_whole(opened))
        yield opened


def test_everything_has_a_copy_on_each_of_two_nodes(engine: OpenSearchEngine) -> None:
    described = engine.describe()
    assert (described["nodes"], described["cluster_status"], described["shards_missing"]) == ("2", "green", "0")
    assert described["shard_balance"] == "1.00"


def test_when_a_node_dies_searches_and_writes_go_on_and_nothing_acknowledged_is_lost(
    engine: OpenSearchEngine, opensearch_pair: Pair
) -> None:
    load = Load(engine)
    with load.running(load.write, load.search):
        load.await_more()
        opensearch_pair[1].kill()
        load.await_more()
        described = engine.describe()
        assert (described["nodes"], described["shard_balance"]) == ("1", "1.00")
        opensearch_pair[1].start()
        load.await_more()
    assert load.failures == []
    assert set(engine.stored(TENANT, load.acknowledged[-1000:])) == set(load.acknowledged[-1000:])
    engine.refresh(TENANT)
    assert engine.corpus(TENANT).documents == 50 + len(set(load.acknowledged))
    eventually(lambda: is_whole(engine))


def test_when_the_manager_dies_searches_go_on_and_writes_say_so_until_it_is_back(engine: OpenSearchEngine, opensearch_pair: Pair) -> None:
    load = Load(engine)
    before = engine.corpus(TENANT).documents
    with load.running(load.search):
        opensearch_pair[0].kill()
        with pytest.raises(Unavailable) as raised:
            engine.write(TENANT, [written("late", "late fees while nobody manages")])
        assert raised.value.dependency == "opensearch"
        found = load.found
        eventually(lambda: load.found >= found + 10)
        assert engine.document(TENANT, "d1") is not None
        assert engine.describe()["cluster_status"] == "red"
    assert load.failures == []
    opensearch_pair[0].start()  # while the cluster forms again it answers nothing for a moment
    eventually(lambda: is_whole(engine))
    (outcome,) = engine.write(TENANT, [written("late", "late fees while nobody manages")])
    assert outcome.kind in ("indexed", "updated", "unchanged")
    engine.refresh(TENANT)
    assert engine.corpus(TENANT).documents == before + 1
