"""Writers that are killed, come second, or wake up late: whatever happens between two requests, one document stays one document."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, DocumentWrite, StoredVersion
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_ledger import LEASE_S
from search.engines.opensearch_names import Names
from search.ranking import LegQuery
from tests.contracts.writes import document, unit_vector, write_of, written
from tests.search.engines.scripted import Killed, engine_on
from tests.servers import remove_prefix

pytestmark = pytest.mark.live("opensearch")

JANUARY = datetime(2026, 1, 10, tzinfo=UTC)
MARCH = datetime(2026, 3, 10, tzinfo=UTC)
TEXT = "First sentence. Second sentence."


@pytest.fixture(scope="module")
def prefix(opensearch_url: str) -> Iterator[str]:
    """One prefix for the module; each test has its own tenant."""
    prefix = "t" + uuid.uuid4().hex[:12]
    yield prefix
    remove_prefix(opensearch_url, prefix)


@pytest.fixture
def tenant() -> Tenant:
    return tenant_named("t-" + uuid.uuid4().hex[:12])


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 6, 1, tzinfo=UTC))


@pytest.fixture
def engine(opensearch_url: str, prefix: str, clock: SettableClock) -> Iterator[OpenSearchEngine]:
    opened = engine_on(opensearch_url, prefix, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def scripted(opensearch_url: str, prefix: str, clock: SettableClock) -> Callable[[Callable[[int], None]], OpenSearchEngine]:
    """Another writer on the same cluster, with a script."""
    return lambda before_bulk: engine_on(opensearch_url, prefix, clock=clock, before_bulk=before_bulk)


def dying_before(bulk: int) -> Callable[[int], None]:
    def die(number: int) -> None:
        if number == bulk:
            raise Killed

    return die


@contextmanager
def killed() -> Iterator[None]:
    with pytest.raises(Killed):
        yield


def long_ago(clock: SettableClock) -> None:
    """Let every claim's lease run out."""
    clock.instant += timedelta(seconds=LEASE_S)


def long(doc_id: str = "a", version: int | None = None) -> DocumentWrite:
    """Two passages in January."""
    return write_of(document(doc_id, TEXT, occurred_at=JANUARY), version=version, passages=[(0, 15), (16, 32)])


def short(doc_id: str = "a", version: int | None = None) -> DocumentWrite:
    """One passage in March."""
    return written(doc_id, "Only sentence.", occurred_at=MARCH, version=version)


def passages(engine: OpenSearchEngine, tenant: Tenant) -> list[tuple[str, int]]:
    """Every passage both legs can find, with its version."""
    engine.refresh(tenant)
    legs = engine.legs(tenant, LegQuery("sentence", unit_vector("sentence"), EVERYTHING))
    lexical, vector = (
        sorted((hit.candidate.passage.passage_id, hit.candidate.version) for hit in leg) for leg in (legs.lexical, legs.vector)
    )
    assert lexical == vector
    return lexical


@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_a_new_document_whose_writer_was_killed_is_written_by_the_next_attempt(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock, bulk: int
) -> None:
    with killed():
        scripted(dying_before(bulk)).write(tenant, [long()])
    assert engine.stored(tenant, ["a"]) == {}
    long_ago(clock)
    (outcome,) = engine.write(tenant, [long()])
    assert (outcome.kind, outcome.version) == ("indexed", 1)
    assert [each.kind for each in engine.write(tenant, [long()])] == ["unchanged"]
    assert passages(engine, tenant) == [("a#000000", 1), ("a#000001", 1)]
    assert engine.corpus(tenant).documents == 1


@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_a_move_whose_writer_was_killed_never_doubles_the_document(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock, bulk: int
) -> None:
    engine.write(tenant, [long()])
    with killed():
        scripted(dying_before(bulk)).write(tenant, [short()])
    assert engine.stored(tenant, ["a"])["a"].version == 1
    long_ago(clock)
    assert [(each.kind, each.version) for each in engine.write(tenant, [short()])] == [("updated", 2)]
    assert passages(engine, tenant) == [("a#000000", 2)]
    assert (engine.corpus(tenant).documents, engine.corpus(tenant).passages) == (1, 1)


@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_what_a_killed_move_left_behind_goes_with_the_next_version_wherever_that_is(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock, bulk: int
) -> None:
    engine.write(tenant, [long()])
    with killed():
        scripted(dying_before(bulk)).write(tenant, [short()])
    long_ago(clock)
    elsewhere = written("a", "Another sentence.", occurred_at=datetime(2026, 5, 1, tzinfo=UTC))
    assert [each.kind for each in engine.write(tenant, [elsewhere])] == ["updated"]
    assert [key for key, _ in passages(engine, tenant)] == ["a#000000"]
    assert engine.documents(tenant, EVERYTHING).total == 1


@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_a_deletion_that_was_killed_is_completed_by_the_next_one(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock, bulk: int
) -> None:
    engine.write(tenant, [long()])
    with killed():
        scripted(dying_before(bulk)).delete(tenant, ["a"])
    assert engine.stored(tenant, ["a"])["a"].deleted is False
    long_ago(clock)
    assert engine.delete(tenant, ["a"]) == ("a",)
    assert passages(engine, tenant) == []
    assert engine.stored(tenant, ["a"]) == {"a": StoredVersion(1, long().content_hash, deleted=True)}
    assert engine.delete(tenant, ["a"]) == ()


def test_a_deletion_reaches_what_an_unfinished_write_left_behind(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock
) -> None:
    engine.write(tenant, [long()])
    with killed():
        scripted(dying_before(3)).write(tenant, [short()])
    long_ago(clock)
    assert engine.delete(tenant, ["a"]) == ("a",)
    assert passages(engine, tenant) == []


def test_a_writer_that_wakes_up_after_a_deletion_brings_nothing_back(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock
) -> None:
    def slept(number: int) -> None:
        if number == 2:  # between claim and passages
            long_ago(clock)
            engine.delete(tenant, ["a"])

    scripted(slept).write(tenant, [long(version=4)])
    assert passages(engine, tenant) == []
    assert engine.stored(tenant, ["a"])["a"].deleted
    assert engine.document(tenant, "a") is None


def test_a_writer_that_wakes_up_after_a_newer_version_elsewhere_changes_nothing(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant, clock: SettableClock
) -> None:
    def slept(number: int) -> None:
        if number == 2:
            long_ago(clock)
            engine.write(tenant, [short(version=9)])

    scripted(slept).write(tenant, [long(version=4)])
    assert passages(engine, tenant) == [("a#000000", 9)]
    assert engine.stored(tenant, ["a"])["a"].version == 9


def test_an_erased_tenant_that_is_being_written_ends_up_whole(
    engine: OpenSearchEngine, scripted: Callable[..., OpenSearchEngine], tenant: Tenant
) -> None:
    engine.write(tenant, [short("b")])

    def erased(number: int) -> None:
        if number == 2:
            engine.erase(tenant)

    outcomes = scripted(erased).write(tenant, [long()])
    assert [each.kind for each in outcomes] == ["indexed"]
    assert passages(engine, tenant) == [("a#000000", 1), ("a#000001", 1)]
    assert set(engine.stored(tenant, ["a", "b"])) == {"a"}
    assert engine.delete(tenant, ["a"]) == ("a",)
    assert passages(engine, tenant) == []


def test_a_ledger_older_than_the_records_learns_from_them(
    engine: OpenSearchEngine, opensearch_url: str, prefix: str, tenant: Tenant, clock: SettableClock
) -> None:
    engine.write(tenant, [long(version=5)])
    ledger = Names(prefix, tenant).ledger_index()
    httpx.delete(f"{opensearch_url}/{ledger}", timeout=30).raise_for_status()
    restored = engine_on(opensearch_url, prefix, clock=clock)
    assert [(each.kind, each.version) for each in restored.write(tenant, [long()])] == [("unchanged", 5)]
    assert [(each.kind, each.version) for each in restored.write(tenant, [short()])] == [("updated", 6)]
    assert passages(engine, tenant) == [("a#000000", 6)]


def at_once(*work: Callable[[], object]) -> list[object]:
    start = threading.Barrier(len(work))

    def run(each: Callable[[], object]) -> object:
        start.wait(timeout=30)
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return [future.result(timeout=120) for future in [pool.submit(run, each) for each in work]]


def test_writers_at_once_with_different_content_lose_no_version(engine: OpenSearchEngine, tenant: Tenant) -> None:
    writes = [written("a", f"content {number}", occurred_at=JANUARY) for number in range(6)]
    outcomes = at_once(*(lambda each=each: engine.write(tenant, [each])[0] for each in writes))
    assert sorted(outcome.version for outcome in outcomes) == [1, 2, 3, 4, 5, 6]  # type: ignore[attr-defined]
    last = max(zip(outcomes, writes, strict=True), key=lambda pair: pair[0].version)[1]  # type: ignore[attr-defined]
    engine.refresh(tenant)
    found = engine.document(tenant, "a")
    assert found is not None
    assert (found.version, found.text) == (6, last.document.text)


def test_writers_at_once_with_the_same_documents_count_each_once(engine: OpenSearchEngine, tenant: Tenant) -> None:
    batch = [written(f"d{number:03}", f"text {number}", occurred_at=JANUARY) for number in range(200)]
    both = at_once(lambda: engine.write(tenant, batch), lambda: engine.write(tenant, list(reversed(batch))))
    kinds = Counter(outcome.kind for outcomes in both for outcome in outcomes)  # type: ignore[attr-defined]
    assert kinds == {"indexed": 200, "unchanged": 200}
    engine.refresh(tenant)
    assert engine.corpus(tenant).documents == 200


def test_writers_at_once_that_move_a_document_to_different_months_leave_one(engine: OpenSearchEngine, tenant: Tenant) -> None:
    engine.write(tenant, [long()])
    moves = [written("a", "A sentence.", occurred_at=datetime(2026, month, 1, tzinfo=UTC)) for month in (2, 3, 4, 5)]
    at_once(*(lambda each=each: engine.write(tenant, [each]) for each in moves))
    assert passages(engine, tenant) == [("a#000000", 5)]
    assert engine.documents(tenant, EVERYTHING).total == 1


def test_a_month_that_was_removed_meanwhile_is_made_again(
    engine: OpenSearchEngine, opensearch_url: str, prefix: str, tenant: Tenant
) -> None:
    engine.write(tenant, [short("a")])
    httpx.delete(f"{opensearch_url}/{Names(prefix, tenant).month_index('202603')}", timeout=30).raise_for_status()
    assert [each.kind for each in engine.write(tenant, [short("b")])] == ["indexed"]
    assert passages(engine, tenant) == [("b#000000", 1)]


def test_a_write_block_is_unavailable_and_the_replay_after_it_writes_everything(
    engine: OpenSearchEngine, opensearch_url: str, prefix: str, tenant: Tenant, clock: SettableClock
) -> None:
    engine.write(tenant, [short("a")])
    month = f"{opensearch_url}/{Names(prefix, tenant).month_index('202603')}/_settings"
    httpx.put(month, json={"index.blocks.write": True}, timeout=30).raise_for_status()
    with pytest.raises(Unavailable, match="cluster_block_exception"):
        engine.write(tenant, [short("b"), short("c")])
    for _ in range(6):
        long_ago(clock)
        with pytest.raises(Unavailable):
            engine.write(tenant, [short("b")])
    assert passages(engine, tenant) == [("a#000000", 1)]
    assert set(engine.stored(tenant, ["a", "b", "c"])) == {"a"}
    httpx.put(month, json={"index.blocks.write": None}, timeout=30).raise_for_status()
    long_ago(clock)
    assert [each.kind for each in engine.write(tenant, [short("a"), short("b"), short("c")])] == ["unchanged", "indexed", "indexed"]


def test_a_month_the_cluster_has_no_room_for_refuses_its_documents_and_no_others(
    engine: OpenSearchEngine, opensearch_url: str, tenant: Tenant
) -> None:
    engine.write(tenant, [short("a")])
    limit = "cluster.max_shards_per_node"
    httpx.put(f"{opensearch_url}/_cluster/settings", json={"persistent": {limit: 1}}, timeout=30).raise_for_status()
    try:
        outcomes = engine.write(tenant, [short("b"), long("c")])
    finally:
        httpx.put(f"{opensearch_url}/_cluster/settings", json={"persistent": {limit: None}}, timeout=30).raise_for_status()
    assert [(each.kind, each.field) for each in outcomes] == [("indexed", ""), ("rejected", "occurred_at")]
    assert limit in outcomes[1].reason


def test_versions_go_on_counting_changes_after_an_erase(engine: OpenSearchEngine, tenant: Tenant) -> None:
    seen = [engine.generation(tenant)]
    for act in (lambda: engine.write(tenant, [short("a")]), lambda: engine.erase(tenant), lambda: engine.write(tenant, [short("a")])):
        act()
        seen.append(engine.generation(tenant))
    assert seen == sorted(set(seen))
    assert engine.stored(tenant, ["a"])["a"].version == 1


def test_a_batch_larger_than_one_bulk_request_is_written_whole(engine: OpenSearchEngine, tenant: Tenant) -> None:
    big = "x" * 900_000
    batch = [written(f"d{number:04}", f"{number} {big if number % 100 == 0 else ''}", occurred_at=JANUARY) for number in range(1000)]
    assert Counter(each.kind for each in engine.write(tenant, batch)) == {"indexed": 1000}
    engine.refresh(tenant)
    assert engine.corpus(tenant).documents == 1000
