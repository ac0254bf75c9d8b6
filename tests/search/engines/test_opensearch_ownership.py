"""Nothing of another tenant comes out of OpenSearch, whoever put it in our indices and whatever answers in the cluster's place."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from runtime.clock import SystemClock
from runtime.errors import ServiceError
from runtime.resilience import BreakerState
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING
from search.embedding.opening import open_embedder
from search.engines.opening import open_engine
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_connection import connected
from search.engines.opensearch_names import Names, is_behind, state_index
from search.engines.opensearch_ownership import ForeignHit
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.fronting import fronting
from tests.search.engines.scripted import engine_on, settings_of

pytestmark = pytest.mark.live("opensearch")

OURS = tenant_named("a-tenant")
THEIRS = tenant_named("b-tenant")
CANARY = "canary of the other tenant"
QUERY = LegQuery("late fees canary", unit_vector("late fees"), EVERYTHING)

Read = Callable[[OpenSearchEngine], object]
READS: dict[str, Read] = {
    "legs": lambda engine: engine.legs(OURS, QUERY),
    "lexical leg": lambda engine: engine.legs(OURS, LegQuery("canary", None, EVERYTHING)),
    "documents": lambda engine: engine.documents(OURS, EVERYTHING),
    "matching documents": lambda engine: engine.documents(OURS, EVERYTHING, match="canary"),
    "document": lambda engine: engine.document(OURS, "foreign"),
    "group members": lambda engine: engine.group_members(OURS, ["g-foreign"], EVERYTHING),
    "themes": lambda engine: engine.aggregate(OURS, BucketQuery("theme", EVERYTHING, ids_per_bucket=10)),
    "weeks": lambda engine: engine.aggregate(OURS, BucketQuery("week", EVERYTHING, ids_per_bucket=10)),
    "counts alone": lambda engine: engine.aggregate(OURS, BucketQuery("source", EVERYTHING, ids_per_bucket=0)),
    "corpus": lambda engine: engine.corpus(OURS),
    "stored": lambda engine: engine.stored(OURS, ["foreign"]),
    "state entry": lambda engine: engine.state.get(OURS, "trace", "foreign"),
    "state entries": lambda engine: engine.state.entries(OURS, "trace"),
}


@pytest.fixture
def engine(opensearch_url: str, opensearch_prefix: str) -> Iterator[OpenSearchEngine]:
    opened = engine_on(opensearch_url, opensearch_prefix)
    opened.write(OURS, [written("a", "late fees"), written("b", "late trains")])
    opened.state.put(OURS, "trace", "own", {"question": "ours"})
    opened.refresh(OURS)
    yield opened
    opened.close()


@pytest.fixture
def raw(opensearch_url: str) -> Iterator[httpx.Client]:
    """A client of somebody who may write anything."""
    hooks = {"response": [lambda response: response.raise_for_status()]}
    with httpx.Client(base_url=opensearch_url, timeout=30, event_hooks=hooks) as client:
        yield client


def foreign_record(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant": tenant, "doc_id": "foreign", "passage_id": "foreign#000000", "number": 0, "start": 0, "end": 9, "version": 1, "content_hash": "h",
        "deleted": False, "group_key": "g-foreign", "source_kind": "k", "source_name": "", "source_weight": 0.5, "theme_id": "canary",
        "occurred_at": 1_772_600_000_000, "text": CANARY, "vector": unit_vector("late fees").tolist(),
    }  # fmt: skip


def test_a_record_of_another_tenant_inside_our_own_index_is_seen_by_no_read(
    engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str
) -> None:
    month = Names(opensearch_prefix, OURS).month_index("202603")
    raw.put(f"/{month}/_doc/foreign", params={"refresh": "true"}, json=foreign_record(THEIRS))
    for name, read in READS.items():
        assert "canary of" not in repr(read(engine)), name
    assert engine.corpus(OURS).documents == engine.documents(OURS, EVERYTHING).total == 2


@pytest.mark.parametrize("owner", [THEIRS, OURS], ids=["of its tenant", "that claims to be ours"])
def test_an_alias_of_ours_over_the_index_of_another_tenant_shows_no_record(
    engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str, owner: Tenant
) -> None:
    engine.write(THEIRS, [written("theirs", CANARY)])
    month = Names(opensearch_prefix, THEIRS).month_index("202603")
    raw.put(f"/{month}/_doc/foreign", params={"refresh": "true"}, json=foreign_record(owner))
    raw.post("/_aliases", json={"actions": [{"add": {"index": month, "alias": Names(opensearch_prefix, OURS).alias}}]})
    reads_documents = set(READS) - {"stored", "state entry", "state entries"}
    for name in reads_documents:
        if owner == OURS:
            with pytest.raises(ForeignHit):
                READS[name](engine)
        else:
            assert "canary of" not in repr(READS[name](engine)), name
    assert [guard.breaker_state for guard in engine.guards] == [BreakerState.CLOSED, BreakerState.CLOSED]


def test_an_alias_over_the_ledger_of_another_tenant_is_neither_read_nor_written_nor_removed(
    engine: OpenSearchEngine, raw: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    engine.write(THEIRS, [written("theirs", CANARY)])
    ours, theirs = (Names(opensearch_prefix, tenant) for tenant in (OURS, THEIRS))
    moved = [
        {"remove_index": {"index": ours.ledger_index()}},
        {"add": {"index": theirs.ledger_index(), "alias": ours.ledger, "is_write_index": True}},
    ]
    raw.post("/_aliases", json={"actions": moved})
    another = engine_on(opensearch_url, opensearch_prefix)
    for call in (
        lambda: another.stored(OURS, ["theirs"]),
        lambda: another.generation(OURS),
        lambda: another.delete(OURS, ["theirs"]),
        lambda: another.write(OURS, [written("new", "text")]),
        lambda: another.erase(OURS),
    ):
        with pytest.raises(ForeignHit):
            call()
    another.close()
    assert engine.stored(THEIRS, ["theirs"])["theirs"].version == 1


def test_an_entry_of_another_tenant_under_our_key_is_an_error(engine: OpenSearchEngine, raw: httpx.Client, opensearch_prefix: str) -> None:
    index = state_index(opensearch_prefix)
    raw.post(f"/{index}/_refresh")
    (hit,) = raw.post(f"/{index}/_search", json={"query": {"term": {"entry_id": "own"}}}).json()["hits"]["hits"]
    raw.put(f"/{index}/_doc/{hit['_id']}", params={"refresh": "true"}, json={**hit["_source"], "tenant": THEIRS})
    for call in (
        lambda: engine.state.get(OURS, "trace", "own"),
        lambda: engine.state.put(OURS, "trace", "own", {}),
        lambda: engine.state.remove(OURS, "trace", ["own"]),
    ):
        with pytest.raises(ForeignHit):
            call()
    assert engine.state.entries(OURS, "trace")[0] == ()


def swapped(path: str, answer: Any) -> Any:
    """Everything in an answer as if it were the other tenant's."""
    if isinstance(answer, dict):
        if answer.get("tenant") == OURS:
            return {**answer, "tenant": THEIRS, "text": CANARY}
        return {key: [THEIRS] if (key, value) == ("tenant", [OURS]) else swapped(path, value) for key, value in answer.items()}
    return [swapped(path, each) for each in answer] if isinstance(answer, list) else answer


def misplaced(path: str, answer: Any) -> Any:
    """Everything in an answer as if it came from the other tenant's index."""
    return json.loads(json.dumps(answer).replace("-a.tenant", "-b.tenant").replace("_state", "_estate"))


@pytest.mark.parametrize("rewrite", [swapped, misplaced])
def test_answers_mixed_up_on_the_way_are_refused_counted_and_logged_without_content(
    opensearch_url: str,
    opensearch_prefix: str,
    engine: OpenSearchEngine,
    rewrite: Callable[[str, Any], Any],
) -> None:
    told: list[None] = []
    with fronting(opensearch_url, rewrite=rewrite) as front, capture_logs() as logged:
        cluster = connected(settings_of(front.url, opensearch_prefix), SystemClock(), lambda: told.append(None))
        misled = OpenSearchEngine(cluster, opensearch_prefix, model=MODEL, dimension=DIMENSION, clock=SystemClock())
        refused = {
            "legs": lambda: misled.legs(OURS, QUERY),
            "documents": lambda: misled.documents(OURS, EVERYTHING),
            "document": lambda: misled.document(OURS, "a"),
            "themes": lambda: misled.aggregate(OURS, BucketQuery("source", EVERYTHING, ids_per_bucket=10)),
            "state entry": lambda: misled.state.get(OURS, "trace", "own"),
            "state entries": lambda: misled.state.entries(OURS, "trace"),
        }
        if rewrite is misplaced:
            refused |= {"stored": lambda: misled.stored(OURS, ["a"]), "corpus": lambda: misled.corpus(OURS)}
        for name, call in refused.items():
            with pytest.raises(ForeignHit, match="nothing was returned"):
                pytest.fail(f"{name} came through: {call()!r}")
        cluster.close()
    assert len(told) == len(refused)
    assert "foreign_hit" in {each["event"] for each in logged}
    for text in ("late fees", CANARY):
        assert text not in str(logged)


@pytest.mark.parametrize(
    ("alias", "index"),
    [
        ("wa-acme", "wa-acme-202603-000001"),
        ("wa-acme-202603", "wa-acme-202603-000002"),
        ("wa-acme-ledger", "wa-acme-ledger.000001"),
        ("wa_state", "wa_state"),
        ("wa-acme-202603-000001", "wa-acme-202603-000001"),
    ],
)
def test_an_index_is_behind_its_own_alias_and_nothing_like_it_is(alias: str, index: str) -> None:
    assert is_behind(alias, index)
    for strange in (
        f"{index}x",
        f"x{index}",
        index.replace("acme", "acm"),
        index.replace("acme", "acme.b"),
        index.replace("wa", "wb", 1),
        "",
        "*",
    ):
        assert strange == index or not is_behind(alias, strange)


def test_a_foreign_hit_is_counted_where_operators_look(opensearch_url: str, opensearch_prefix: str) -> None:
    metrics = Metrics()
    with (
        fronting(opensearch_url, rewrite=swapped) as front,
        open_embedder(settings_of(front.url, opensearch_prefix)) as embedder,
        open_engine(settings_of(front.url, opensearch_prefix), embedder, SystemClock(), metrics) as store,
    ):
        store.state.put(OURS, "trace", "own", {})
        assert metrics.registry.get_sample_value("wa_foreign_hits_total") == 0
        with pytest.raises(ServiceError, match="another tenant"):
            store.state.get(OURS, "trace", "own")
    assert metrics.registry.get_sample_value("wa_foreign_hits_total") == 1
