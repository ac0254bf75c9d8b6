"""Indices that are not as they must be are refused by name, before anything is written to them or read from them."""

import copy
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import httpx
import pytest

from runtime.clock import SystemClock
from runtime.errors import Misconfigured
from runtime.events import Event
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.opensearch_connection import connected
from search.engines.opensearch_indices import differences, shipped
from search.engines.opensearch_names import Names
from search.engines.opensearch_state import _key
from search.state_facts import FACTS, Fact
from tests.contracts.writes import DIMENSION, MODEL, written
from tests.search.engines.scripted import engine_on, settings_of

live = pytest.mark.live("opensearch")

TENANT = tenant_named("a-tenant")


@pytest.fixture
def http(opensearch_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=opensearch_url, timeout=30, event_hooks={"response": [lambda response: response.raise_for_status()]}
    ) as client:
        yield client


def record_body() -> dict[str, object]:
    """The body of a month index as the engine makes it."""
    body = copy.deepcopy(shipped("records")["template"])
    body["mappings"]["_meta"] |= {"model": MODEL, "dimension": DIMENSION}
    body["mappings"]["properties"]["vector"]["dimension"] = DIMENSION
    return body  # type: ignore[no-any-return]


def opened(url: str, prefix: str, model: str = MODEL, dimension: int = DIMENSION) -> OpenSearchEngine:
    with open_opensearch(settings_of(url, prefix), model=model, dimension=dimension, clock=SystemClock()) as engine:
        return engine


def test_the_templates_are_package_data() -> None:
    names = {each.name for each in files("search.engines.templates").iterdir()}
    assert {"records.json", "months.json", "ledger.json", "state.json"} <= names


def mapped(mappings: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every field of a mapping, at any depth."""
    for field in mappings.get("properties", {}).values():
        yield field
        yield from mapped(field)


def test_every_keyword_is_bounded_and_no_source_is_excluded() -> None:
    for name in ("records", "state"):
        body = shipped(name)
        mappings = body.get("template", body)["mappings"]
        assert "_source" not in mappings
        assert mappings["dynamic"] == "strict"
        assert all(field["ignore_above"] <= 8191 for field in mapped(mappings) if field.get("type") == "keyword")


def test_differences_name_the_place_and_ignore_what_is_added() -> None:
    expected = {"vector": {"method": {"engine": "lucene", "parameters": {"m": 16}}}, "attributes": {"enabled": False}}
    assert list(differences(expected, {**copy.deepcopy(expected), "more": 1})) == []
    assert list(differences(expected, {"vector": {"method": {"engine": "faiss"}}})) == [
        "vector.method.engine",
        "vector.method.parameters.m",
        "attributes.enabled",
    ]


@live
def test_opening_twice_changes_nothing(opensearch_url: str, opensearch_prefix: str) -> None:
    first = engine_on(opensearch_url, opensearch_prefix)
    first.write(TENANT, [written("a", "text")])
    second = engine_on(opensearch_url, opensearch_prefix)
    second.refresh(TENANT)
    assert second.documents(TENANT, EVERYTHING).total == 1


@live
def test_processes_that_open_an_empty_cluster_at_once_all_succeed(opensearch_url: str, opensearch_prefix: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        engines = [future.result(timeout=60) for future in [pool.submit(engine_on, opensearch_url, opensearch_prefix) for _ in range(4)]]
        outcomes = [future.result(timeout=60) for future in [pool.submit(each.write, TENANT, [written("a", "text")]) for each in engines]]
    assert sorted(kind for ((kind),) in ([each.kind for each in outcome] for outcome in outcomes)) == ["indexed"] + ["unchanged"] * 3


@live
@pytest.mark.parametrize(("model", "dimension"), [("another-model", DIMENSION), (MODEL, 8)])
def test_another_model_or_dimension_is_refused_and_both_are_named(
    opensearch_url: str, opensearch_prefix: str, model: str, dimension: int
) -> None:
    opened(opensearch_url, opensearch_prefix)
    with pytest.raises(Misconfigured) as raised:
        opened(opensearch_url, opensearch_prefix, model, dimension)
    for text in (MODEL, model, str(DIMENSION), str(dimension), "WA_EMBEDDER", "WA_INDEX_PREFIX"):
        assert text in str(raised.value)


Spoil = Callable[[dict[str, object]], object]


def with_another_vector_engine(body: dict) -> None:  # type: ignore[type-arg]
    del body["mappings"]["properties"]["vector"]["method"]


def without_mapping(body: dict) -> None:  # type: ignore[type-arg]
    del body["mappings"]


def of_another_model(body: dict) -> None:  # type: ignore[type-arg]
    body["mappings"]["_meta"]["model"] = "another-model"


def with_another_analyser(body: dict) -> None:  # type: ignore[type-arg]
    body["mappings"]["properties"]["lexical"]["analyzer"] = "standard"


def that_takes_any_field(body: dict) -> None:  # type: ignore[type-arg]
    body["mappings"]["dynamic"] = True


@live
@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (with_another_vector_engine, "vector.method"),
        (without_mapping, "was not made by WisdomAgent"),
        (of_another_model, "another-model"),
        (with_another_analyser, "lexical.analyzer"),
        (that_takes_any_field, "dynamic"),
    ],
)
def test_a_month_that_is_not_as_it_must_be_is_refused_at_start_and_when_it_is_met(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str, spoil: Spoil, place: str
) -> None:
    engine = engine_on(opensearch_url, opensearch_prefix)
    http.delete(f"/_index_template/{opensearch_prefix}-months")
    names = Names(opensearch_prefix, TENANT)
    body = record_body()
    spoil(body)
    http.put(f"/{names.month_index('202603')}", json=body | {"aliases": {names.month_alias("202603"): {"is_write_index": True}}})
    for act in (lambda: engine.write(TENANT, [written("a", "text")]), lambda: opened(opensearch_url, opensearch_prefix)):
        with pytest.raises(Misconfigured) as raised:
            act()
        assert place in str(raised.value)
        assert names.month_index("202603") in str(raised.value)


@live
def test_an_index_of_someone_else_in_the_place_of_our_state_is_refused(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    http.put(f"/{opensearch_prefix}_state")
    with pytest.raises(Misconfigured, match="was not made by WisdomAgent"):
        opened(opensearch_url, opensearch_prefix)


@live
def test_an_index_under_the_prefix_that_has_not_our_form_is_none_of_our_business(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    http.put(f"/{opensearch_prefix}-some-other-thing")
    assert opened(opensearch_url, opensearch_prefix)


@live
def test_a_month_made_by_hand_gets_the_whole_mapping_from_the_template(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    opened(opensearch_url, opensearch_prefix)
    names = Names(opensearch_prefix, TENANT)
    http.put(f"/{names.month_index('202604')}")
    assert opened(opensearch_url, opensearch_prefix)
    found = http.get(f"/{names.month_index('202604')}/_mapping").json()[names.month_index("202604")]["mappings"]
    assert found["_meta"]["model"] == MODEL


@live
def test_a_month_is_made_with_its_mapping_when_the_template_is_missing(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    engine = engine_on(opensearch_url, opensearch_prefix)
    http.delete(f"/_index_template/{opensearch_prefix}-months")
    assert [each.kind for each in engine.write(TENANT, [written("a", "text")])] == ["indexed"]
    assert opened(opensearch_url, opensearch_prefix)


@live
def test_one_index_takes_the_writes_of_a_month_and_the_tenant_alias_takes_none(
    http: httpx.Client, opensearch_url: str, opensearch_prefix: str
) -> None:
    engine_on(opensearch_url, opensearch_prefix).write(TENANT, [written("a", "text")])
    names = Names(opensearch_prefix, TENANT)
    aliases = http.get(f"/{names.month_index('202603')}/_alias").json()[names.month_index("202603")]["aliases"]
    assert aliases == {names.month_alias("202603"): {"is_write_index": True}, names.alias: {}}


@live
def test_a_write_to_a_month_that_is_not_there_makes_no_index_by_accident(
    opensearch_url: str, opensearch_prefix: str, http: httpx.Client
) -> None:
    http.put("/_cluster/settings", json={"persistent": {"action.auto_create_index": "true"}})
    try:
        engine = engine_on(opensearch_url, opensearch_prefix)
        names = Names(opensearch_prefix, TENANT)
        engine.write(TENANT, [written("a", "text")])
        http.delete(f"/{names.month_index('202603')}")
        engine.delete(TENANT, ["a"])
        assert names.month_alias("202603") not in http.get(f"/{opensearch_prefix}*/_settings").json()
    finally:
        http.put("/_cluster/settings", json={"persistent": {"action.auto_create_index": None}})


@live
def test_what_answers_and_is_not_opensearch_is_refused_by_url(opensearch_url: str, opensearch_prefix: str) -> None:
    elsewhere = settings_of(f"{opensearch_url}?x=1", opensearch_prefix)
    with pytest.raises(Misconfigured, match="WA_ENGINE_URL"):
        connected(elsewhere, SystemClock())
    with (
        pytest.raises(Misconfigured, match="not OpenSearch"),
        open_opensearch(
            settings_of(f"{opensearch_url}/_cluster/health", opensearch_prefix), model=MODEL, dimension=DIMENSION, clock=SystemClock()
        ),
    ):
        pass


@live
def test_a_state_index_of_the_release_before_gets_the_fields_of_the_outbox(
    opensearch_url: str, opensearch_prefix: str, http: httpx.Client
) -> None:
    body = shipped("state")
    body["mappings"]["_meta"] |= {"model": MODEL, "dimension": DIMENSION}
    for name in ("outbox", "outbox_ids", "outbox_places"):
        del body["mappings"]["properties"][name]
    http.put(f"/{opensearch_prefix}_state", json=body)
    before = {
        "tenant": TENANT,
        "kind": "trace",
        "entry_id": "run",
        "version": 3,
        "created_ms": 1,
        "labels": {},
        "label_terms": [],
        "body": "{}",
    }
    http.put(f"/{opensearch_prefix}_state/_doc/{_key(TENANT, 'trace', 'run')}", json=before)
    event = Event("e1", "digest.published", TENANT, datetime(2026, 3, 1, tzinfo=UTC), "d")
    with open_opensearch(settings_of(opensearch_url, opensearch_prefix), model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        assert engine.state.put(TENANT, "trace", "run", {"n": 2}, expected=3, event=event).version == 4
        assert engine.state.outbox() == (event,)
        engine.state.settle([event])
        assert engine.state.outbox() == ()
        assert engine.state.remove(TENANT, "trace", ["run"]) == 1


@live
@pytest.mark.parametrize("missing", [("seconds", "degraded"), None])
def test_a_state_index_of_an_earlier_release_gets_the_facts_it_lacks(
    opensearch_url: str, opensearch_prefix: str, http: httpx.Client, missing: tuple[str, ...] | None
) -> None:
    body = shipped("state")
    body["mappings"]["_meta"] |= {"model": MODEL, "dimension": DIMENSION}
    properties = body["mappings"]["properties"]
    for name in missing or ():
        del properties["facts"]["properties"][name]
    if missing is None:
        del properties["facts"]
    http.put(f"/{opensearch_prefix}_state", json=body)
    old = {
        "tenant": TENANT,
        "kind": "trace",
        "entry_id": "old",
        "version": 1,
        "created_ms": 1,
        "labels": {},
        "label_terms": [],
        "body": "{}",
    }
    http.put(f"/{opensearch_prefix}_state/_doc/{_key(TENANT, 'trace', 'old')}", json=old)
    settings = settings_of(opensearch_url, opensearch_prefix)
    facts: dict[str, Fact] = {"seconds": 1.5, "degraded": ("vector_leg",)}
    with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        engine.state.put(TENANT, "trace", "run", {}, facts=facts)
        found = {entry.entry_id: dict(entry.facts) for entry in engine.state.entries(TENANT, "trace")[0]}
    assert found == {"old": {}, "run": facts}
    assert http.get(f"/{opensearch_prefix}_state/_mapping/field/facts.seconds").json()[f"{opensearch_prefix}_state"]["mappings"]


@live
def test_a_state_index_with_facts_of_other_types_is_refused(opensearch_url: str, opensearch_prefix: str, http: httpx.Client) -> None:
    body = shipped("state")
    body["mappings"]["_meta"] |= {"model": MODEL, "dimension": DIMENSION}
    body["mappings"]["properties"]["facts"]["properties"]["seconds"] = {"type": "keyword"}
    http.put(f"/{opensearch_prefix}_state", json=body)
    with pytest.raises(Misconfigured, match=r"facts\.properties\.seconds"):
        opened(opensearch_url, opensearch_prefix)


def test_every_fact_is_mapped_with_its_type_and_no_other_is() -> None:
    mapped = shipped("state")["mappings"]["properties"]["facts"]
    assert {name: field["type"] for name, field in mapped["properties"].items()} == dict(FACTS)
    assert mapped["dynamic"] == "strict"
