"""A tenant moves between its own months and the pool while it is read and written: nothing is lost, doubled, or seen by others."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from runtime.clock import SettableClock, SystemClock
from runtime.errors import NotFound, Unavailable
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, Filters
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_connection import connected
from search.engines.opensearch_names import Names, pool_index
from search.engines.opensearch_placement import Where
from search.engines.opensearch_tenancy import GRACE_S, Tenancy
from search.engines.opensearch_writing import HELD_S
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, write_of, written
from tests.search.engines.scripted import Killed, engine_on, settings_of

pytestmark = pytest.mark.live("opensearch")

ACME, NEIGHBOUR = tenant_named("acme"), tenant_named("acme-2")
BOTH_WAYS = pytest.mark.parametrize("start", ["own", "pool"])
JANUARY = datetime(2026, 1, 10, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def other(where: Where) -> Where:
    return "pool" if where == "own" else "own"


def at_once(seconds: float) -> None:
    """No search began before the swap, so that none is waited for; other waits are for the index, whose clock is real."""
    if seconds < GRACE_S:
        time.sleep(seconds)


def tenancy(engine: OpenSearchEngine, clock: Any = None) -> Tenancy:
    """What moves tenants, on an engine of its own."""
    return Tenancy(engine._cluster, engine._indices, engine._prefix, clock or SystemClock(), at_once)


@pytest.fixture
def open_engine(opensearch_url: str, opensearch_prefix: str) -> Iterator[Callable[..., OpenSearchEngine]]:
    """Further processes on the same cluster: nothing of one is known to another."""
    opened: list[OpenSearchEngine] = []

    def another(**options: Any) -> OpenSearchEngine:
        opened.append(engine_on(opensearch_url, opensearch_prefix, **options))
        return opened[-1]

    yield another
    for engine in opened:
        engine.close()


@pytest.fixture
def raw(opensearch_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=opensearch_url, timeout=60) as client:
        yield client


def fill(engine: OpenSearchEngine, tenant: Tenant, note: str = "") -> None:
    """Two months, a document of two passages, a new version, a deletion."""
    for n in range(6):
        engine.write(tenant, [written(f"d-{n}", f"late fees {n} {note}", occurred_at=JANUARY if n % 2 else None)])
    long = written("long", "First half of it. Second half of it.", title="Late fees")
    engine.write(tenant, [write_of(long.document, passages=[(0, 17), (18, 36)]), written("gone", "late fees gone")])
    engine.write(tenant, [written("d-0", f"late fees anew {note}")])
    engine.delete(tenant, ["gone"])
    engine.refresh(tenant)


def content(engine: OpenSearchEngine, tenant: Tenant) -> dict[str, object]:
    """All that can be read of a tenant, each thing by another call."""
    engine.refresh(tenant)
    page = engine.documents(tenant, EVERYTHING, first=100)
    legs = engine.legs(tenant, LegQuery("late fees half", unit_vector("late fees 1"), EVERYTHING, depth=100))
    corpus = engine.corpus(tenant)
    return {
        "documents": page.documents,
        "single": [engine.document(tenant, document.doc_id) for document in page.documents],
        "total": page.total,
        "lexical": sorted(hit.candidate.passage.passage_id for hit in legs.lexical),
        "vector": sorted(hit.candidate.passage.passage_id for hit in legs.vector),
        "scope": legs.scope,
        "corpus": (corpus.documents, corpus.passages, corpus.groups, corpus.sources),
        "stored": engine.stored(tenant, [*(f"d-{n}" for n in range(6)), "long", "gone"]),
    }


def records(raw: httpx.Client, prefix: str, tenant: Tenant, pattern: str) -> int:
    """Records of a tenant in these indices, whatever any alias says."""
    raw.post(f"/{pattern}/_refresh")
    query = {"query": {"term": {"tenant": tenant}}}
    found = raw.post(f"/{pattern}/_count", params={"allow_no_indices": "true"}, json=query).json()
    return int(found["count"])


def nothing_left(raw: httpx.Client, prefix: str, tenant: Tenant, where: Where) -> bool:
    """Whether a tenant that is there has left nothing in the other place."""
    names = Names(prefix, tenant)
    if where == "own":
        return records(raw, prefix, tenant, f"{prefix}-_pool-*") == 0
    return not [name for name in raw.get(f"/{names.alias}-*/_alias").json() if names.holds(name)]


@BOTH_WAYS
def test_everything_is_as_before_after_a_move_and_nothing_stays_behind(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str, start: Where
) -> None:
    engine = open_engine(newcomers=start)
    fill(engine, ACME)
    fill(engine, NEIGHBOUR, "of the neighbour")
    before, neighbour, generation = content(engine, ACME), content(engine, NEIGHBOUR), engine.generation(NEIGHBOUR)
    mover = tenancy(open_engine())
    for where in (other(start), start):
        moved = mover.place(ACME, where)
        assert (moved.where, moved.documents) == (where, 7)
        assert moved.records >= 9
        home = mover.home(ACME)
        assert home is not None
        assert (home.where, home.documents, home.unfinished, home.shards) == (where, 7, False, 3 if where == "own" else 1)
        assert nothing_left(raw, opensearch_prefix, ACME, where)
        assert content(engine, ACME) == before
        assert (content(engine, NEIGHBOUR), engine.generation(NEIGHBOUR)) == (neighbour, generation)
        assert engine.write(ACME, [written("gone", "late fees gone")])[0].kind == "deleted_earlier"
        assert engine.write(ACME, [written("d-1", "late fees 1 ", occurred_at=JANUARY)])[0].kind == "unchanged"
    assert mover.place(ACME, start).records == 0
    with pytest.raises(NotFound):
        mover.place(tenant_named("nobody"), "pool")


def test_a_process_keeps_to_a_move_it_was_never_told_of_and_so_do_new_months(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str
) -> None:
    engine = open_engine(newcomers="own")
    fill(engine, ACME)
    tenancy(open_engine()).place(ACME, "pool")
    later = datetime(2026, 5, 5, tzinfo=UTC)
    assert [each.kind for each in engine.write(ACME, [written("d-2", "late fees changed"), written("may", "late", occurred_at=later)])] == [
        "updated",
        "indexed",
    ]
    assert engine.delete(ACME, ["d-3"]) == ("d-3",)
    engine.refresh(ACME)
    assert {document.doc_id for document in engine.documents(ACME, EVERYTHING).documents} == {
        "d-0",
        "d-1",
        "d-2",
        "d-4",
        "d-5",
        "long",
        "may",
    }
    assert nothing_left(raw, opensearch_prefix, ACME, "pool")


def test_tenants_of_a_release_without_a_pool_have_their_own_months_and_can_be_moved(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str
) -> None:
    fill(open_engine(), ACME)
    names = Names(opensearch_prefix, ACME)
    mark = {"remove": {"index": names.ledger_index(), "alias": f"{names.ledger}.own"}}
    raw.post("/_aliases", json={"actions": [mark]}).raise_for_status()
    engine = open_engine(newcomers="pool")
    before = content(engine, ACME)
    assert engine.delete(ACME, ["d-5"]) == ("d-5",)
    assert engine.write(ACME, [written("d-5", "late fees 5 ", occurred_at=JANUARY, version=9)])[0].kind == "indexed"
    home = tenancy(engine).home(ACME)
    assert home is not None
    assert home.where == "own"
    assert tenancy(open_engine()).place(ACME, "pool").documents == 7
    assert content(engine, ACME)["lexical"] == before["lexical"]


@dataclass
class Doomed(Cluster):
    """A cluster whose client is killed before its n-th change, and does nothing any more."""

    cluster: Cluster
    last: int
    changes: int = 0
    dead: bool = field(default=False)

    def __post_init__(self) -> None:
        super().__init__(self.cluster._client, self.cluster.reads, self.cluster.writes, self.cluster.location)

    def _perform(self, method: str, path: Any, body: Any, *rest: Any, **named: Any) -> Any:
        changes = method in ("PUT", "DELETE") or path[0] in ("_bulk", "_aliases")
        self.changes += changes
        if self.dead or (changes and self.changes > self.last):
            self.dead = True
            raise Killed
        return super()._perform(method, path, body, *rest, **named)


@BOTH_WAYS
def test_killed_before_any_of_its_changes_it_is_run_again_in_either_direction(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, raw: httpx.Client, start: Where
) -> None:
    clock = SettableClock(NOW)
    engine = open_engine(newcomers=start, clock=clock)
    engine._writer._sleep = lambda _s: setattr(clock, "elapsed_s", clock.elapsed_s + HELD_S / 4)
    fill(engine, ACME)
    before = content(engine, ACME)
    directions = itertools.cycle([other(start), start])
    for last in itertools.count(0):
        doomed = Doomed(connected(settings_of(opensearch_url, opensearch_prefix), clock), last)
        killed = OpenSearchEngine(doomed, opensearch_prefix, model=MODEL, dimension=DIMENSION, clock=clock)
        try:
            tenancy(killed, clock).place(ACME, other(start))
        except Killed:
            pass
        else:
            break
        assert content(engine, ACME) == before, last
        assert engine.write(ACME, [written("d-4", f"late fees 4 {last}")])[0].kind == "updated", last
        before = content(engine, ACME)
        where = next(directions)
        tenancy(open_engine(clock=clock), clock).place(ACME, where)
        assert content(engine, ACME) == before, last
        assert nothing_left(raw, opensearch_prefix, ACME, where)
        tenancy(open_engine(clock=clock), clock).place(ACME, start)
        assert content(engine, ACME) == before, last
    assert last > 8
    assert content(engine, ACME) == before


@BOTH_WAYS
@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_a_writer_that_slept_through_a_move_ends_up_where_the_tenant_is(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str, start: Where, bulk: int
) -> None:
    clock, later = SettableClock(NOW), SettableClock(NOW + timedelta(minutes=1))
    engine = open_engine(newcomers=start, clock=clock)
    fill(engine, ACME)

    def moved(number: int) -> None:
        if number == bulk:
            tenancy(open_engine(), later).place(ACME, other(start))

    sleeping = open_engine(clock=clock, before_bulk=moved)
    (outcome,) = sleeping.write(ACME, [written("d-1", "late fees woken up", version=7)])
    assert outcome.version == 7
    engine.refresh(ACME)
    found = engine.documents(ACME, EVERYTHING, match="woken").documents
    assert [(each.doc_id, each.version) for each in found] == [("d-1", 7)]
    assert engine.documents(ACME, EVERYTHING).total == 7
    assert nothing_left(raw, opensearch_prefix, ACME, other(start))


@BOTH_WAYS
@pytest.mark.parametrize("bulk", [1, 2, 3])
def test_a_deletion_that_slept_through_a_move_deletes_where_the_tenant_is(
    open_engine: Callable[..., OpenSearchEngine], start: Where, bulk: int
) -> None:
    clock, later = SettableClock(NOW), SettableClock(NOW + timedelta(minutes=1))
    engine = open_engine(newcomers=start, clock=clock)
    fill(engine, ACME)

    def moved(number: int) -> None:
        if number == bulk:
            tenancy(open_engine(), later).place(ACME, other(start))

    open_engine(clock=clock, before_bulk=moved).delete(ACME, ["d-1"])
    assert engine.stored(ACME, ["d-1"])["d-1"].deleted
    assert engine.document(ACME, "d-1") is None
    assert engine.documents(ACME, EVERYTHING).total == 6


class Pausing(Cluster):
    """A cluster whose client lets others act before it swaps."""

    def __init__(self, cluster: Cluster, act: Callable[[], None]) -> None:
        super().__init__(cluster._client, cluster.reads, cluster.writes, cluster.location)
        self._acts = [act]

    def post(self, *path: str, body: Any, **params: str) -> Any:
        added = [action["add"]["alias"] for action in (body or {}).get("actions", ()) if "add" in action]
        if self._acts and any(alias.endswith("-acme") for alias in added):
            self._acts.pop()()
        return super().post(*path, body=body, **params)


def pausing(url: str, prefix: str, act: Callable[[], None]) -> Tenancy:
    """A move that lets others act before it swaps."""
    cluster = Pausing(connected(settings_of(url, prefix), SystemClock()), act)
    return tenancy(OpenSearchEngine(cluster, prefix, model=MODEL, dimension=DIMENSION, clock=SystemClock()))


@BOTH_WAYS
def test_writers_that_are_held_back_too_long_go_on_and_the_move_takes_what_they_wrote(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, start: Where
) -> None:
    clock = SettableClock(NOW)
    engine = open_engine(newcomers=start, clock=clock)
    engine._writer._sleep = lambda _s: setattr(clock, "elapsed_s", clock.elapsed_s + HELD_S / 4)
    fill(engine, ACME)

    def written_meanwhile() -> None:
        assert engine.write(ACME, [written("d-1", "late fees of an impatient writer")])[0].kind == "updated"

    assert pausing(opensearch_url, opensearch_prefix, written_meanwhile).place(ACME, other(start)).documents == 7
    engine.refresh(ACME)
    assert [each.doc_id for each in engine.documents(ACME, EVERYTHING, match="impatient").documents] == ["d-1"]
    assert engine.documents(ACME, EVERYTHING).total == 7


@BOTH_WAYS
def test_of_two_moves_at_once_only_the_later_one_ends(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, raw: httpx.Client, start: Where
) -> None:
    engine = open_engine(newcomers=start)
    fill(engine, ACME)
    before = content(engine, ACME)
    later = tenancy(open_engine())
    first = pausing(opensearch_url, opensearch_prefix, lambda: later.place(ACME, other(start)) and None)
    with pytest.raises(Unavailable, match="another move"):
        first.place(ACME, other(start))
    assert content(engine, ACME) == before
    assert nothing_left(raw, opensearch_prefix, ACME, other(start))


@BOTH_WAYS
def test_a_move_that_wakes_up_after_the_tenant_was_moved_back_removes_nothing(
    open_engine: Callable[..., OpenSearchEngine], opensearch_prefix: str, raw: httpx.Client, start: Where
) -> None:
    engine, sleeping = open_engine(newcomers=start), open_engine()
    fill(engine, ACME)
    before = content(engine, ACME)

    def moved_back(seconds: float) -> None:
        if seconds == GRACE_S:
            tenancy(open_engine()).place(ACME, start)

    mover = Tenancy(sleeping._cluster, sleeping._indices, opensearch_prefix, SystemClock(), moved_back)
    with pytest.raises(Unavailable, match="another move"):
        mover.place(ACME, other(start))
    assert content(engine, ACME) == before
    assert nothing_left(raw, opensearch_prefix, ACME, start)


def test_a_tenant_that_is_erased_while_it_is_moved_leaves_nothing_anywhere(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, raw: httpx.Client
) -> None:
    engine = open_engine(newcomers="own")
    fill(engine, ACME)
    moving = pausing(opensearch_url, opensearch_prefix, lambda: engine.erase(ACME) and None)
    with pytest.raises(Unavailable):
        moving.place(ACME, "pool")
    assert records(raw, opensearch_prefix, ACME, f"{opensearch_prefix}-*") == 0
    assert engine.write(ACME, [written("d-1", "late fees again")])[0].version == 1
    engine.refresh(ACME)
    assert engine.documents(ACME, EVERYTHING).total == 1


@dataclass
class Interrupted(Cluster):
    """A cluster whose client lets others act before its n-th change."""

    cluster: Cluster
    at: int
    act: Callable[[], None]
    changes: int = 0

    def __post_init__(self) -> None:
        super().__init__(self.cluster._client, self.cluster.reads, self.cluster.writes, self.cluster.location)

    def _perform(self, method: str, path: Any, body: Any, *rest: Any, **named: Any) -> Any:
        if method in ("PUT", "DELETE") or path[0] in ("_bulk", "_aliases"):
            self.changes += 1
            if self.changes == self.at:
                self.act()
        return super()._perform(method, path, body, *rest, **named)


def live(raw: httpx.Client, prefix: str, tenant: Tenant) -> list[tuple[str, int]]:
    """Passages of a tenant in any index, whatever any alias says."""
    raw.post(f"/{prefix}-*/_refresh")
    query = {"size": 100, "query": {"bool": {"filter": [{"term": {"tenant": tenant}}, {"term": {"deleted": False}}]}}}
    hits = raw.post(f"/{prefix}-*/_search", json=query).json()["hits"]["hits"]
    return sorted((hit["_source"]["passage_id"], hit["_source"]["version"]) for hit in hits)


@BOTH_WAYS
def test_what_is_written_while_a_tenant_is_erased_is_gone_with_it_or_stays_whole_and_can_be_deleted(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, raw: httpx.Client, start: Where
) -> None:
    clock = SettableClock(NOW)
    engine = open_engine(newcomers=start, clock=clock)
    engine._writer._sleep = lambda _s: setattr(clock, "elapsed_s", clock.elapsed_s + HELD_S / 4)
    fates = set()

    def written_meanwhile() -> None:
        assert engine.write(ACME, [written("late", "late fees"), written("late-2", "more", occurred_at=JANUARY)])

    for at in itertools.count(1):
        fill(engine, ACME)
        cluster = Interrupted(connected(settings_of(opensearch_url, opensearch_prefix), clock), at, written_meanwhile)
        OpenSearchEngine(cluster, opensearch_prefix, model=MODEL, dimension=DIMENSION, clock=clock).erase(ACME)
        if cluster.changes < at:
            break
        stored = {doc_id: each.version for doc_id, each in engine.stored(ACME, ["late", "late-2", "d-1", "long"]).items()}
        assert live(raw, opensearch_prefix, ACME) == sorted((f"{doc_id}#000000", version) for doc_id, version in stored.items()), at
        assert len(engine.delete(ACME, ["late", "late-2"])) == len(stored)
        assert live(raw, opensearch_prefix, ACME) == []
        fates.add(len(stored))
    assert fates == {0, 2}


@BOTH_WAYS
def test_an_erasure_killed_before_any_of_its_changes_is_run_again_and_leaves_nothing(
    open_engine: Callable[..., OpenSearchEngine], opensearch_url: str, opensearch_prefix: str, raw: httpx.Client, start: Where
) -> None:
    clock = SettableClock(NOW)
    engine = open_engine(newcomers=start, clock=clock)
    engine._writer._sleep = lambda _s: setattr(clock, "elapsed_s", clock.elapsed_s + HELD_S / 4)
    for last in itertools.count(0):
        fill(engine, ACME)
        doomed = Doomed(connected(settings_of(opensearch_url, opensearch_prefix), clock), last)
        try:
            OpenSearchEngine(doomed, opensearch_prefix, model=MODEL, dimension=DIMENSION, clock=clock).erase(ACME)
        except Killed:
            pass
        else:
            break
        assert engine.write(ACME, [written("late", f"late fees {last}")])[0].kind in ("indexed", "updated"), last
        open_engine(clock=clock).erase(ACME)
        assert live(raw, opensearch_prefix, ACME) == [], last
        assert records(raw, opensearch_prefix, ACME, f"{opensearch_prefix}-*") == 0
        assert len(raw.get(f"/{Names(opensearch_prefix, ACME).alias}-*/_alias").json()) == 1
    assert last >= 3


@dataclass
class Traffic:
    """Writers and askers of a tenant until told to stop. What a writer was told is stored is remembered."""

    engines: list[OpenSearchEngine]
    stop: threading.Event = field(default_factory=threading.Event)
    acknowledged: dict[str, tuple[str, bool]] = field(default_factory=dict)
    asked: int = 0

    def write(self, engine: OpenSearchEngine, name: str) -> None:
        for n in itertools.count():
            if self.stop.is_set():
                return
            doc_id, text = f"{name}-{n % 7}", f"changing {name} {n}"
            when = JANUARY if n % 2 else None
            outcome = engine.write(ACME, [written(doc_id, text, occurred_at=when, source="changing")])[0]
            assert outcome.kind in ("indexed", "updated"), outcome
            self.acknowledged[doc_id] = (text, False)
            if n % 5 == 0:
                assert engine.delete(ACME, [doc_id]) == (doc_id,)
                self.acknowledged[doc_id] = (text, True)

    def ask(self, engine: OpenSearchEngine) -> None:
        """What does not change is found whole at every moment, each document once."""
        steady = Filters(sources=("ticket",))
        wanted = sorted(f"steady-{n}" for n in range(30))
        query = LegQuery("steady", unit_vector("steady 1"), steady, depth=100)
        while not self.stop.is_set():
            page = engine.documents(ACME, steady, first=100)
            assert (sorted(each.doc_id for each in page.documents), page.total) == (wanted, 30)
            legs = engine.legs(ACME, query)
            for leg in (legs.lexical, legs.vector):
                assert sorted(hit.candidate.passage.doc_id for hit in leg) == wanted
            assert (legs.scope, legs.lost) == (30, {})
            self.asked += 1


def test_there_and_back_under_writes_and_questions_no_write_is_lost_and_no_hit_is_missing_or_doubled(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str
) -> None:
    engine = open_engine()
    for month in (JANUARY, None):
        engine.write(
            ACME,
            [written(f"steady-{n}", f"steady {n}", occurred_at=month) for n in range(30) if (n % 2 == 0) == (month is None)],
        )
    engine.refresh(ACME)
    traffic = Traffic([])
    mover = Tenancy(open_engine()._cluster, open_engine()._indices, opensearch_prefix, SystemClock(), time.sleep)
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(traffic.write, open_engine(), name) for name in ("a", "b")]
        work += [pool.submit(traffic.ask, open_engine()) for _ in range(2)]
        try:
            for where in ("pool", "own"):
                assert mover.place(ACME, where).records > 30  # type: ignore[arg-type]
                assert not [each for each in work if each.done()]
        finally:
            traffic.stop.set()
        for each in work:
            each.result(timeout=60)
    assert traffic.asked > 0
    assert nothing_left(raw, opensearch_prefix, ACME, "own")
    engine.refresh(ACME)
    found = engine.documents(ACME, Filters(sources=("changing",)), first=100).documents
    assert {each.doc_id: each.text for each in found} == {name: text for name, (text, gone) in traffic.acknowledged.items() if not gone}
    assert len(found) == len({each.doc_id for each in found})


def test_the_same_id_in_two_tenants_of_a_pool_is_two_documents_and_erasing_one_leaves_the_other_byte_for_byte(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str
) -> None:
    engine = open_engine(newcomers="pool")
    fill(engine, ACME, "ours")
    fill(engine, NEIGHBOUR, "theirs")
    assert "ours" in repr(content(engine, ACME))
    assert "theirs" not in repr(content(engine, ACME))
    pool = f"{opensearch_prefix}-_pool-*"

    def theirs() -> object:
        query = {"size": 100, "version": True, "seq_no_primary_term": True, "query": {"term": {"tenant": NEIGHBOUR}}, "sort": ["_seq_no"]}
        return raw.post(f"/{pool}/_search", json=query).json()["hits"]["hits"]

    before, shown, generation = theirs(), content(engine, NEIGHBOUR), engine.generation(NEIGHBOUR)
    assert engine.erase(ACME) == 7
    assert records(raw, opensearch_prefix, ACME, pool) == 0
    assert (theirs(), content(engine, NEIGHBOUR), engine.generation(NEIGHBOUR)) == (before, shown, generation)
    assert engine.corpus(ACME).documents == 0
    fill(engine, ACME, "once more")  # at lower versions than before, at once
    assert "once more" in repr(content(engine, ACME))
    assert content(engine, ACME)["total"] == 7
    assert content(engine, NEIGHBOUR) == shown
    assert raw.head(f"/{pool_index(opensearch_prefix, '202603')}").status_code == 200


def test_a_month_of_the_pool_goes_when_the_last_tenant_left_it(
    open_engine: Callable[..., OpenSearchEngine], raw: httpx.Client, opensearch_prefix: str
) -> None:
    engine = open_engine(newcomers="pool")
    january = pool_index(opensearch_prefix, "202601")
    for tenant in (ACME, NEIGHBOUR):
        fill(engine, tenant)
        engine.delete(tenant, ["d-1", "d-3"])
    assert not engine.months.drop(ACME, "2026-01")
    for tenant in (ACME, NEIGHBOUR):
        engine.delete(tenant, ["d-5"])
    assert engine.months.drop(ACME, "2026-01")
    assert list(engine.months.held(ACME).sizes) == ["2026-03"]
    assert records(raw, opensearch_prefix, NEIGHBOUR, january) == 3
    assert engine.months.drop(NEIGHBOUR, "2026-01")
    assert raw.head(f"/{january}").status_code == 404
    for tenant in (ACME, NEIGHBOUR):
        assert engine.write(tenant, [written("d-1", "late fees 1 ", occurred_at=JANUARY)])[0].kind == "deleted_earlier"
        assert engine.write(tenant, [written("d-1", "late fees corrected", occurred_at=JANUARY)])[0].kind == "indexed"
