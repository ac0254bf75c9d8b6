"""Answers that are partial, foreign or in the middle of a change."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import httpx
import pytest

from runtime.clock import Deadline, SystemClock
from runtime.errors import DeadlineExceeded, ServiceError, Unavailable
from runtime.resilience import BreakerState
from runtime.tenancy import Tenant, tenant_named
from search.documents import EVERYTHING, Filters
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_cluster import whole
from search.engines.opensearch_connection import connected
from search.engines.opensearch_indices import shipped
from search.engines.opensearch_names import Names
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, document, unit_vector, write_of, written
from tests.search.engines.scripted import engine_on, settings_of

pytestmark = pytest.mark.live("opensearch")

TENANT = tenant_named("a-tenant")
QUERY = LegQuery("late fees", unit_vector("late fees"), EVERYTHING)


@pytest.fixture
def engine(opensearch_url: str, opensearch_prefix: str) -> Iterator[OpenSearchEngine]:
    opened = engine_on(opensearch_url, opensearch_prefix)
    opened.write(TENANT, [written("a", "late fees"), written("b", "late trains")])
    opened.refresh(TENANT)
    yield opened
    opened.close()


@pytest.fixture
def http(opensearch_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=opensearch_url, timeout=30, event_hooks={"response": [lambda response: response.raise_for_status()]}
    ) as client:
        yield client


AddIndex = Callable[..., None]


@pytest.fixture
def add_index(http: httpx.Client, opensearch_prefix: str) -> AddIndex:
    """Puts another index, with one record, behind the tenant's alias."""
    names = Names(opensearch_prefix, TENANT)

    def add(index: str, record_tenant: Tenant = TENANT, **properties: object) -> None:
        http.delete(f"/_index_template/{opensearch_prefix}-months")
        body = shipped("records")["template"]
        body["mappings"]["properties"]["vector"]["dimension"] = DIMENSION
        for name, mapping in properties.items():
            if mapping is None:
                del body["mappings"]["properties"][name]
            else:
                body["mappings"]["properties"][name] = mapping
        http.put(f"/{index}", json=body | {"aliases": {names.alias: {}}})
        record = {
            "tenant": record_tenant, "doc_id": "z", "passage_id": "z#000000", "number": 0, "start": 0, "end": 9, "version": 1, "content_hash": "h",
            "deleted": False, "group_key": "g", "source_kind": "k", "source_name": "", "source_weight": 0.5, "occurred_at": 1_700_000_000_000,
            "text": "a fees b",
        }  # fmt: skip
        http.put(f"/{index}/_doc/z", params={"refresh": "true"}, json=record)

    return add


def test_a_leg_that_failed_on_one_shard_is_named_and_the_other_is_whole(
    engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex
) -> None:
    add_index(Names(opensearch_prefix, TENANT).month_index("202604"), vector={"type": "keyword"})
    legs = engine.legs(TENANT, QUERY)
    assert (set(legs.lost), legs.vector, legs.scope) == ({"vector"}, (), 3)
    assert "shards failed" in legs.lost["vector"]
    assert legs.lexical[0].candidate.passage.doc_id == "a"


def test_the_lexical_leg_can_be_the_lost_one(engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex) -> None:
    add_index(Names(opensearch_prefix, TENANT).month_index("202604"), lexical={"type": "date"}, text={"type": "text", "index": False})
    legs = engine.legs(TENANT, QUERY)
    assert (set(legs.lost), legs.lexical) == ({"lexical"}, ())
    assert {hit.candidate.passage.doc_id for hit in legs.vector} == {"a", "b"}


def test_both_legs_lost_is_unavailable(engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex) -> None:
    add_index(
        Names(opensearch_prefix, TENANT).month_index("202604"),
        lexical={"type": "date"}, text={"type": "text", "index": False}, vector={"type": "keyword"},
    )  # fmt: skip
    with pytest.raises(Unavailable) as raised:
        engine.legs(TENANT, QUERY)
    assert raised.value.dependency == "opensearch"


def test_a_count_that_would_be_partial_is_unavailable(engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex) -> None:
    add_index(Names(opensearch_prefix, TENANT).month_index("202604"), occurred_at={"type": "text"})
    for count in (
        lambda: engine.documents(TENANT, EVERYTHING),
        lambda: engine.aggregate(TENANT, BucketQuery("month", EVERYTHING)),
        lambda: engine.corpus(TENANT),
    ):
        with pytest.raises(Unavailable):
            count()


def test_a_spoilt_index_of_one_tenant_does_not_open_the_circuit_for_all(
    engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex
) -> None:
    add_index(Names(opensearch_prefix, TENANT).month_index("202604"), occurred_at={"type": "text"})
    for _ in range(10):
        with pytest.raises(Unavailable):
            engine.documents(TENANT, EVERYTHING)
    assert [guard.breaker_state for guard in engine.guards] == [BreakerState.CLOSED, BreakerState.CLOSED]
    assert engine.guards[0].retries == 0


def every_read(engine: OpenSearchEngine) -> list[Callable[[], object]]:
    return [
        lambda: engine.legs(TENANT, QUERY),
        lambda: engine.documents(TENANT, EVERYTHING),
        lambda: engine.document(TENANT, "z"),
        lambda: engine.group_members(TENANT, ["g"], EVERYTHING),
        lambda: engine.aggregate(TENANT, BucketQuery("source", EVERYTHING)),
    ]


def test_a_hit_from_an_index_of_another_tenant_is_an_error_and_never_an_answer(
    engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex
) -> None:
    add_index(Names(opensearch_prefix, tenant_named("a")).month_index("202604"))
    for read in every_read(engine):
        with pytest.raises(ServiceError, match="another tenant"):
            read()


def test_records_of_another_tenant_in_our_own_index_are_not_seen(
    engine: OpenSearchEngine, opensearch_prefix: str, add_index: AddIndex
) -> None:
    add_index(Names(opensearch_prefix, TENANT).month_index("202604"), tenant_named("a"))
    assert engine.documents(TENANT, EVERYTHING).total == 2
    assert engine.document(TENANT, "z") is None
    assert engine.legs(TENANT, QUERY).scope == 2
    assert {hit.candidate.passage.doc_id for hit in engine.legs(TENANT, LegQuery("fees", None, EVERYTHING)).lexical} == {"a"}


def test_while_a_document_is_replaced_only_its_newest_version_is_ranked(
    engine: OpenSearchEngine, http: httpx.Client, opensearch_prefix: str
) -> None:
    engine.write(TENANT, [write_of(document("c", "late fees one. late fees two."), passages=[(0, 14), (15, 29)])])
    engine.refresh(TENANT)
    month = Names(opensearch_prefix, TENANT).month_alias("202603")
    record = http.get(f"/{month}/_doc/c%23000001").json()["_source"] | {"version": 2}
    http.put(f"/{month}/_doc/c%23000001", params={"version": 4, "version_type": "external_gte", "refresh": "true"}, json=record)
    legs = engine.legs(TENANT, QUERY)
    for leg in (legs.lexical, legs.vector):
        assert [hit.candidate.passage.passage_id for hit in leg if hit.candidate.passage.doc_id == "c"] == ["c#000001"]
        assert [hit.rank for hit in leg] == list(range(1, len(leg) + 1))


def test_a_spent_deadline_is_told_before_anything_is_sent(engine: OpenSearchEngine) -> None:
    with pytest.raises(DeadlineExceeded):
        engine.legs(TENANT, QUERY, deadline=Deadline.after(0.0, SystemClock()))


def test_a_filter_that_matches_nothing_is_an_empty_answer(engine: OpenSearchEngine) -> None:
    nothing = Filters(since=datetime(2030, 1, 1, tzinfo=UTC))
    legs = engine.legs(TENANT, LegQuery("late fees", unit_vector("late fees"), nothing))
    assert (legs.lexical, legs.vector, legs.scope, dict(legs.lost)) == ((), (), 0, {})


def test_a_search_that_names_no_index_is_never_sent(opensearch_url: str, opensearch_prefix: str) -> None:
    cluster = connected(settings_of(opensearch_url, opensearch_prefix), SystemClock())
    for index in ("", "*", "wa-*", "_all,x", "a,b", None, []):
        with pytest.raises(ValueError, match="names no index"):
            cluster.searches(({"index": index}, {"size": 0}), tenant=TENANT, accept=whole)
    with pytest.raises(ValueError, match="names no index"):
        cluster.searches(({}, {"size": 0}), tenant=TENANT, accept=whole)
    with pytest.raises(ValueError, match="begins with names"):
        cluster.get("")
    with pytest.raises(ValueError, match="pattern is never deleted"):
        cluster.drop("wa-*")


def test_a_closed_engine_answers_nothing(opensearch_url: str, opensearch_prefix: str) -> None:
    engine = engine_on(opensearch_url, opensearch_prefix)
    engine.close()
    with pytest.raises(ServiceError, match="closed"):
        engine.documents(TENANT, EVERYTHING)


def test_the_description_holds_no_secret(opensearch_url: str, opensearch_prefix: str) -> None:
    given = opensearch_url.replace("://", "://someone:secret@")
    described = dict(engine_on(given, opensearch_prefix).describe())
    assert described["location"] == opensearch_url
    assert described["model"] == MODEL
    assert "secret" not in str(described)
