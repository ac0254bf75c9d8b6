"""A generation that takes the place of another one while documents are written, deleted and asked for: nothing acknowledged is lost, nothing deleted
comes back or stays, and no vector meets those of another model."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import httpx
import pytest

from runtime.clock import SystemClock
from runtime.errors import Conflict, InvalidRequest, Misconfigured, NotFound, Unavailable
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch_errors import WritesBlocked
from search.engines.opensearch_generations import Generation
from search.engines.opensearch_serving import Place, open_place, open_served
from search.engines.store import Store
from search.ingest.erasure import delete_documents
from search.ingest.pipeline import Ingester
from search.ingest.rows import Row
from search.moving.renewal import Renewal
from search.ranking import LegQuery
from tests.search.embedding.serving import Embeddings, embedding

ACME, OTHER = tenant_named("acme"), tenant_named("other-co")
CLOCK = SystemClock()

pytestmark = pytest.mark.live("opensearch")


@pytest.fixture(scope="module")
def models() -> Iterator[Embeddings]:
    with embedding() as served:
        yield served


@dataclass
class Desk:
    """A place with one model served, and renewals of it."""

    settings: Settings
    stack: ExitStack
    place: Place = field(init=False)
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.stack.enter_context(open_place(self.settings, CLOCK))
        self.store = self.process()

    def process(self, **more: object) -> Store:
        """What a process has open."""
        return self.stack.enter_context(open_served(self.settings.model_copy(update=more), CLOCK))

    def write(self, *texts: str, tenant: Tenant = ACME, store: Store | None = None) -> None:
        """Documents that are called as they read."""
        chosen = store or self.store
        fields = {"source": "email", "occurred_at": "2026-03-01T10:00:00Z"}
        rows = [Row(number, {"doc_id": text, "text": text, **fields}) for number, text in enumerate(texts, 1)]
        report = Ingester(chosen.engine, chosen.embedder, CLOCK, self.settings).ingest(tenant, rows)
        assert report.indexed == len(texts), report

    def renewal(self, model: str = "two") -> Renewal:
        spelled = f"openai:{model}"
        generations = self.place.generations
        new = generations.make(spelled, *self.made_by(spelled))
        embedder = self.stack.enter_context(self.place.embedder(new))
        return Renewal(self.place, generations.known().live, new, embedder)

    def back(self) -> Renewal:
        known = self.place.generations.known()
        before = known.named(known.before)
        return Renewal(self.place, known.live, before, self.stack.enter_context(self.place.embedder(before)))

    def made_by(self, spelled: str) -> tuple[str, int]:
        with self.place.embedder(Generation("", "", 0, spelled)) as embedder:
            return embedder.model, embedder.dimension

    def ids(self, store: Store | None = None, tenant: Tenant = ACME) -> set[str]:
        engine = (store or self.store).engine
        engine.refresh(tenant)
        return {document.doc_id for document in engine.documents(tenant, EVERYTHING, first=1000).documents}

    def cosine(self, text: str, store: Store | None = None) -> float:
        """Of a text and the document that is called so, as one request finds it."""
        chosen = store or self.store
        with chosen.held():
            vector = chosen.embedder.embed([text])[0]
            legs = chosen.engine.legs(ACME, LegQuery(text, vector, EVERYTHING, 10))
            assert not legs.lost
            return max(hit.score for hit in legs.vector if hit.candidate.passage.doc_id == text)

    def words_under(self, prefix: str, word: str) -> int:
        """How many records of a generation hold a word, of whatever tenant."""
        httpx.post(f"{self.settings.engine_url}/{prefix}-*/_refresh", timeout=60).raise_for_status()
        query = {"size": 0, "track_total_hits": True, "query": {"match": {"lexical": word}}}
        found = httpx.post(f"{self.settings.engine_url}/{prefix}-*/_search", json=query, timeout=60).raise_for_status()
        return int(found.json()["hits"]["total"]["value"])


@pytest.fixture
def desk(opensearch_url: str, opensearch_prefix: str, models: Embeddings) -> Iterator[Desk]:
    settings = read_settings({}, engine_url=opensearch_url, index_prefix=opensearch_prefix, embedder="openai:one", embedder_url=models.url)
    with ExitStack() as stack:
        yield Desk(settings, stack)


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread."""
    pause = threading.Event()
    for _ in range(600):
        if true():
            return
        pause.wait(0.05)
    raise AssertionError("it did not come about")


def test_another_model_takes_over_without_a_restart_and_gives_back_what_was_written_since(desk: Desk) -> None:
    desk.write("late parcel", "broken lamp", "wrong bill")
    other = desk.process()
    assert desk.store.embedder.model.startswith("openai:one")
    renewal = desk.renewal()
    assert renewal.build().documents == 3
    assert desk.cosine("late parcel") > 0.99
    desk.write("came meanwhile")
    generation = desk.store.engine.generation(ACME)
    renewal.serve()
    for store in (desk.store, other):
        until(lambda store=store: store.embedder.model.startswith("openai:two"))
        assert desk.cosine("late parcel", store) > 0.99
        assert desk.cosine("came meanwhile", store) > 0.99
    assert desk.ids() == {"late parcel", "broken lamp", "wrong bill", "came meanwhile"}
    assert desk.store.engine.generation(ACME) > generation
    assert desk.process().engine.describe()["notice"].startswith("WA_EMBEDDER=openai:one is not used")

    desk.write("written since", store=other)
    back = desk.back()
    assert back.build().documents == 1
    back.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:one"))
    assert desk.ids() == {"late parcel", "broken lamp", "wrong bill", "came meanwhile", "written since"}
    assert desk.cosine("written since") > 0.99
    assert "notice" not in desk.store.engine.describe()


def test_a_request_ends_with_what_it_began_with(desk: Desk) -> None:
    desk.write("late parcel")
    with desk.store.held():
        vector = desk.store.embedder.embed(["late parcel"])[0]
        renewal = desk.renewal()
        renewal.build()
        renewal.serve()
        until(lambda: _in_a_thread(lambda: desk.store.embedder.model).startswith("openai:two"))
        legs = desk.store.engine.legs(ACME, LegQuery("late parcel", vector, EVERYTHING, 10))
        assert legs.vector[0].score > 0.99
        desk.write("written by it")  # with vectors of the new model, though it embeds with the old one
        assert desk.ids() == {"late parcel", "written by it"}
    assert desk.cosine("written by it") > 0.99


def test_who_writes_while_writes_are_stopped_waits_and_writes_to_the_new_one(desk: Desk) -> None:
    desk.write("late parcel")
    renewal = desk.renewal()
    renewal.build()
    generations = desk.place.generations
    live = generations.known().live
    token = generations.close(live)
    with pytest.raises(WritesBlocked):
        desk.place.prepared(live, desk.store.embedder).delete(ACME, ["late parcel"])
    writing = [
        threading.Thread(target=desk.write, args=("came just then",), kwargs={"store": desk.process()}),
        threading.Thread(target=desk.write, args=("of a new tenant",), kwargs={"store": desk.process(), "tenant": OTHER}),
    ]
    for thread in writing:
        thread.start()
    assert desk.cosine("late parcel") > 0.99  # questions go on
    until(lambda: bool(desk.place.cluster.get("_resolve", "index", f"{live.prefix}-other.co-ledger*")["indices"]))
    renewal._catch_up(last=True)
    generations.serve(renewal._target, live, token)
    for thread in writing:
        thread.join(60)
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    assert desk.ids() == {"late parcel", "came just then"}
    assert desk.ids(tenant=OTHER) == {"of a new tenant"}


def test_a_writer_killed_in_the_middle_costs_nothing_that_was_acknowledged(desk: Desk) -> None:
    desk.write("late parcel", "broken lamp")
    first = desk.place.engine(desk.place.generations.known().live)
    ledger = f"{desk.settings.index_prefix}-acme-ledger"
    entry = desk.place.cluster.record(ledger, "late parcel", tenant=None)  # type: ignore[arg-type]
    assert entry is not None
    before = {name: entry["_source"][name] for name in ("version", "content_hash", "deleted")}
    claimed = {**entry["_source"], "version": 2, "content_hash": "x", "pending": True, "claimed_ms": 0, "before": before}
    desk.place.cluster.put(ledger, "_doc", "late parcel", body=claimed)
    renewal = desk.renewal()
    renewal.build()
    renewal.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    assert desk.ids() == {"late parcel", "broken lamp"}
    assert first.stored(ACME, ["late parcel"])["late parcel"].version == 1


def test_what_is_deleted_or_erased_while_it_is_made_and_afterwards_is_gone_from_every_generation(desk: Desk) -> None:
    desk.write("secret alpha", "secret beta", "kept")
    desk.write("secret gamma", tenant=OTHER)
    renewal = desk.renewal()
    renewal.build()
    new, old = renewal._target.prefix, renewal._source.prefix
    assert desk.words_under(new, "secret") == desk.words_under(old, "secret") == 3

    delete_documents(desk.store.engine, desk.store.state, ACME, doc_ids=["secret alpha"])
    delete_documents(desk.store.engine, desk.store.state, OTHER, everything=True)
    assert desk.words_under(new, "secret") == desk.words_under(old, "secret") == 1  # at once, whatever becomes of the renewal
    desk.write("gamma again", tenant=OTHER)
    renewal.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    assert desk.ids() == {"secret beta", "kept"}
    assert desk.ids(tenant=OTHER) == {"gamma again"}

    delete_documents(desk.store.engine, desk.store.state, ACME, doc_ids=["secret beta"])
    assert desk.words_under(new, "secret") == desk.words_under(old, "secret") == 0
    delete_documents(desk.store.engine, desk.store.state, OTHER, everything=True)
    assert desk.words_under(old, "gamma") == 0
    desk.write("after the erasure", tenant=OTHER)
    back = desk.back()
    back.build()
    back.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:one"))
    assert desk.ids() == {"kept"}
    assert desk.ids(tenant=OTHER) == {"after the erasure"}


def test_a_month_that_is_dropped_is_dropped_everywhere(desk: Desk) -> None:
    desk.write("old words")
    renewal = desk.renewal()
    renewal.build()
    renewal.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    delete_documents(desk.store.engine, desk.store.state, ACME, doc_ids=["old words"])
    assert desk.store.months.drop(ACME, "2026-03")
    for prefix in (renewal._source.prefix, renewal._target.prefix):
        assert desk.place.cluster.get("_resolve", "index", f"{prefix}-acme-2*")["indices"] == []


def test_one_that_was_erased_while_nobody_looked_is_made_anew(desk: Desk) -> None:
    desk.write("secret alpha")
    desk.renewal().build()
    desk.place.engine(desk.place.generations.known().live).erase(ACME)  # killed before it went to the other generation
    desk.write("secret alpha", "kept")
    again = desk.renewal()
    again.build()
    again.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    assert desk.ids() == {"secret alpha", "kept"}


def test_killed_before_the_alias_is_moved_it_is_run_again_or_writes_are_let_in(desk: Desk) -> None:
    desk.write("late parcel")
    killed = desk.renewal()
    killed.build()
    token = desk.place.generations.close(killed._source)
    again = desk.renewal()
    again.build()
    with pytest.raises(NotFound):
        desk.place.generations.serve(killed._target, killed._source, token)  # it was not killed, only slow
    desk.write("written after that")
    again.serve()
    until(lambda: desk.store.embedder.model.startswith("openai:two"))
    assert desk.ids() == {"late parcel", "written after that"}


def test_what_does_not_hold_the_same_is_not_served(desk: Desk) -> None:
    desk.write("late parcel")
    renewal = desk.renewal()
    renewal.build()
    desk.place.engine(renewal._target).purge(ACME, ["late parcel"])
    with pytest.raises(Conflict, match="do not hold the same"):
        renewal.serve()
    desk.write("it takes writes again")
    assert desk.store.embedder.model.startswith("openai:one")
    assert not desk.place.generations.known().closing


def test_a_generation_is_no_store_of_its_own_and_what_is_served_is_not_dropped(desk: Desk) -> None:
    desk.write("late parcel")
    renewal = desk.renewal()
    renewal.build()
    new = renewal._target.prefix
    with pytest.raises(Misconfigured, match=f"WA_INDEX_PREFIX={desk.settings.index_prefix}$"):
        desk.process(index_prefix=new, embedder="openai:two")
    with pytest.raises(InvalidRequest, match="live store already"):
        desk.place.generations.make("openai:one", *desk.made_by("openai:one"))
    with pytest.raises(InvalidRequest, match="is served"):
        desk.place.generations.drop(renewal._source)
    desk.place.generations.drop(renewal._target)
    assert desk.place.cluster.get("_resolve", "index", f"{new}-*")["indices"] == []
    assert [each.prefix for each in desk.place.generations.known().all] == [desk.settings.index_prefix]


class Ahead(SystemClock):
    """The machine's clock, and more seconds."""

    more_s = 0.0

    def seconds(self) -> float:
        return super().seconds() + self.more_s


def test_who_cannot_open_the_new_model_says_so_answers_for_a_while_and_then_no_more(
    opensearch_url: str, opensearch_prefix: str, models: Embeddings
) -> None:
    settings = read_settings({}, engine_url=opensearch_url, index_prefix=opensearch_prefix, embedder_threads=1)
    clock = Ahead()
    with ExitStack() as stack:
        lacking = stack.enter_context(open_served(settings, clock))
        desk = Desk(settings.model_copy(update={"embedder_url": models.url}), stack)
        desk.write("late parcel")
        renewal = desk.renewal()
        renewal.build()
        renewal.serve()
        until(lambda: desk.store.embedder.model.startswith("openai:two"))
        clock.more_s += 2.0
        assert desk.ids(lacking) == {"late parcel"}
        assert "WA_EMBEDDER_URL" in lacking.engine.describe()["problem"]
        clock.more_s += 31.0
        with pytest.raises(Unavailable, match="WA_EMBEDDER_URL"):
            lacking.engine.documents(ACME, EVERYTHING)
        back = desk.back()
        back.build()
        back.serve()
        clock.more_s += 6.0
        assert desk.ids(lacking) == {"late parcel"}
        assert "problem" not in lacking.engine.describe()


def _in_a_thread(call: Callable[[], str]) -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]
