"""The shipped roles, held against OpenSearch's security plugin itself: what we call is granted, and nothing beyond our prefix."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import yaml

from runtime.clock import SystemClock
from runtime.errors import Misconfigured, ServiceError
from runtime.settings import Settings, read_settings
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.opensearch_placement import Where
from search.engines.opensearch_queries import one_document
from search.engines.opensearch_serving import open_place
from search.engines.opensearch_tenancy import Tenancy
from search.moving.renewal import Renewal
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.fronting import Call, fronting
from tests.faults.securing import SHIPPED, SecuredNode
from tests.search.moving.places import Known
from tests.servers import ROOT

ACME, OTHER = tenant_named("acme"), tenant_named("other-co")
QUERY = LegQuery("late fees", unit_vector("late fees"), EVERYTHING)
BOTH: tuple[Where, ...] = ("pool", "own")
CLOCK = SystemClock()
CANARY = "canary of the other tenant"


def settings_of(node: SecuredNode, user: str = "wisdomagent", prefix: str = "wa") -> Settings:
    return read_settings(
        {},
        engine_url=node.url.replace("://", f"://{user}@"),
        engine_password_file=node.password_file,
        engine_ca_file=node.authority,
        index_prefix=prefix,
    )


def everything(engine: OpenSearchEngine) -> None:
    """Every kind of call that the code makes; the tenant ``acme`` keeps its documents and an entry."""
    for tenant, text in ((ACME, "late fees"), (OTHER, f"late fees {CANARY}")):
        engine.write(tenant, [written("a", text), written("b", "late trains", day=40)])
        engine.write(tenant, [written("a", f"{text} again")])
        engine.refresh(tenant)
        assert engine.legs(tenant, QUERY).scope == 2
        assert engine.documents(tenant, EVERYTHING).total == engine.corpus(tenant).documents == 2
        assert engine.document(tenant, "a") is not None
        assert engine.aggregate(tenant, BucketQuery("source", EVERYTHING)).total == 2
        engine.group_members(tenant, ["g"], EVERYTHING)
        engine.state.put(tenant, "trace", "1", {"text": text})
        engine.state.put(tenant, "trace", "2", {"text": text})
        assert engine.state.get(tenant, "trace", "1") is not None
        assert len(engine.state.entries(tenant, "trace")[0]) == 2
        assert engine.state.remove(tenant, "trace", ["2"]) == 1
        assert len(engine.months.held(tenant).sizes) == 2
    assert len(list(engine.state.scan("trace"))) == 2
    assert engine.state.outbox() == ()
    assert engine.delete(ACME, ["b"]) == ("b",)
    assert engine.months.drop(ACME, "2026-04")
    assert engine.erase(OTHER) == 2
    engine.write(OTHER, [written("a", f"late fees {CANARY}")])
    for tenant in (ACME, OTHER):
        placed = Tenancy(engine._cluster, engine._indices, engine._prefix, SystemClock(), lambda _s: None)
        for where in BOTH:
            assert placed.place(tenant, where).where == where
    engine.refresh(OTHER)
    assert "cluster_status" in engine.describe()


def renewed_there_and_back(settings: Settings) -> None:
    """Every call of ``wisdom reembed``."""
    with open_place(settings, CLOCK) as place:
        first = place.generations.known().live
        second = place.generations.make("openai:another", "another", DIMENSION)
        for source, target, embedder in ((first, second, Known("another")), (second, first, Known())):
            renewal = Renewal(place, source, target, embedder)
            renewal.build()
            renewal.serve()
            assert place.generations.known().live.prefix == target.prefix
            assert place.generations.size(target) > 0
        place.engine(second).erase(OTHER)
        place.generations.open(first)
        place.generations.drop(second)


def apis(calls: list[Call]) -> set[str]:
    """The names of the APIs that were called, as ``_msearch``."""
    return {name for call in calls for name in re.findall(r"/(_[a-z_]+)", call.path) if name != "_state"}


@pytest.mark.live("opensearch")
def test_the_calls_of_this_test_are_all_that_the_code_can_make(opensearch_url: str, opensearch_prefix: str) -> None:
    named: set[str] = set()
    for file in [*(ROOT / "search" / "engines").glob("opensearch*.py"), *(ROOT / "search" / "moving").glob("*.py")]:
        for call in re.findall(r"(?:_cluster|cluster|self)\.(?:get|put|post|find|rows|drop|_perform)\(([^)]*)", file.read_text("utf-8")):
            named |= set(re.findall(r'"(_[a-z_]+)"', call))
    with fronting(opensearch_url) as front:
        settings = read_settings({}, engine_url=front.url, index_prefix=opensearch_prefix)
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            everything(engine)
        renewed_there_and_back(settings)
    assert {"_msearch", "_mget", "_bulk", "_alias", "_aliases", "_doc", "_stats"} <= named
    assert named - {"_source_includes", "_meta"} <= apis(front.calls) | {"_settings"}
    paths = [call.path for call in front.calls]
    for path in paths:
        first = path.split("/")[1]
        assert re.match(rf"{opensearch_prefix}[2-9]?[-_]|_|\Z", first), path


@pytest.fixture(scope="module")
def filled(opensearch_secured: SecuredNode) -> Iterator[OpenSearchEngine]:
    """The service as the user with the writer's role, after it made every call."""
    settings = settings_of(opensearch_secured)
    with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        everything(engine)
        renewed_there_and_back(settings)
        yield engine


@pytest.mark.live("opensearch-secured")
def test_the_writers_role_grants_every_call_and_nothing_outside_the_prefix(
    filled: OpenSearchEngine, opensearch_secured: SecuredNode
) -> None:
    assert filled.legs(ACME, QUERY).scope == 1
    with pytest.raises(Misconfigured, match="opensearch/security"):
        open_failing(settings_of(opensearch_secured, prefix="xx"))
    with opensearch_secured.user() as administrator:
        administrator.put("/foreign", json={}).raise_for_status()
        administrator.put("/foreign/_doc/1", params={"refresh": "true"}, json={"text": CANARY}).raise_for_status()
        administrator.put("/wax-acme", json={}).raise_for_status()
    with opensearch_secured.user("wisdomagent") as user:
        for path in (
            "/foreign/_search",
            "/wax-acme/_search",
            "/foreign/_doc/1",
            "/wa_other/_search",
            "/.opendistro_security/_search",
            "/_cat/indices",
        ):
            assert user.get(path).status_code == 403, path
        assert CANARY not in user.get("/*/_search", params={"ignore_unavailable": "true", "q": "text:canary", "index": "foreign"}).text
        assert user.put("/xx-acme", json={}).status_code == 403
        assert user.put("/foreign/_doc/2", json={}).status_code == 403
        assert user.delete("/foreign").status_code == 403
        assert user.put("/_cluster/settings", json={"persistent": {"action.auto_create_index": "true"}}).status_code == 403
        moved = {"actions": [{"add": {"index": "foreign", "alias": "wa-acme"}}]}
        assert user.post("/_aliases", json=moved).status_code == 403


@pytest.mark.live("opensearch-secured")
def test_the_readers_role_reads_and_changes_nothing(filled: OpenSearchEngine, opensearch_secured: SecuredNode) -> None:
    opensearch_secured.user("reader", "wisdomagent-readers").close()
    with open_opensearch(settings_of(opensearch_secured, "reader"), model=MODEL, dimension=DIMENSION, clock=SystemClock()) as reader:
        assert reader.legs(ACME, QUERY).scope == reader.documents(ACME, EVERYTHING).total == reader.corpus(ACME).documents == 1
        assert reader.state.get(ACME, "trace", "1") is not None
        assert len(reader.stored(ACME, ["a"])) == 1
        for change in (
            lambda: reader.write(ACME, [written("new", "text")]),
            lambda: reader.delete(ACME, ["a"]),
            lambda: reader.erase(ACME),
            lambda: reader.state.put(ACME, "trace", "new", {}),
            lambda: reader.state.remove(ACME, "trace", ["1"]),
        ):
            with pytest.raises(ServiceError, match=r"security_exception|no permissions"):
                change()
    assert filled.documents(ACME, EVERYTHING).total == 1


@pytest.mark.live("opensearch-secured")
def test_the_role_of_one_tenant_shows_that_tenant_alone_even_where_its_patterns_are_too_wide(
    filled: OpenSearchEngine, opensearch_secured: SecuredNode
) -> None:
    role = yaml.safe_load((SHIPPED / "roles.yml").read_text("utf-8"))["wisdomagent_tenant_acme"]
    wide = {**role, "index_permissions": [{**role["index_permissions"][0], "index_patterns": ["wa-*", "wa_state"]}]}
    with opensearch_secured.user() as administrator:
        administrator.put("/_plugins/_security/api/roles/wide", json=wide).raise_for_status()
        administrator.put("/_plugins/_security/api/rolesmapping/wide", json={"backend_roles": ["wide"]}).raise_for_status()
    with opensearch_secured.user("person", "wisdomagent-tenant-acme") as person:
        assert tenants_seen(person, "wa-acme") == tenants_seen(person, "wa_state") == {"acme"}
        assert person.get("/wa-other.co/_search").status_code == 403
        assert person.put("/wa-acme-202603-000001/_doc/x", json={}).status_code == 403
    with opensearch_secured.user("wide", "wide") as person:
        assert tenants_seen(person, "wa-*") == {"acme"}
        vector = {"knn": {"vector": {"vector": unit_vector("late fees").tolist(), "k": 10}}}
        for query in ({"match": {"lexical": "canary fees"}}, vector):
            found = person.post("/wa-*/_search", json={"query": query}).raise_for_status().json()["hits"]["hits"]
            assert {hit["_source"]["tenant"] for hit in found} == {"acme"}
        counted = person.post("/wa-*/_search", json={"size": 0, "aggs": {"tenants": {"terms": {"field": "tenant"}}}}).json()
        assert [bucket["key"] for bucket in counted["aggregations"]["tenants"]["buckets"]] == ["acme"]
        month = next(iter(filled._cluster.get("wa-other.co-202603", "_alias")))
        assert person.get(f"/{month}/_doc/a%23000000").json()["found"] is False


@pytest.mark.live("opensearch-secured")
def test_in_the_pool_the_role_of_one_tenant_shows_that_tenant_alone(filled: OpenSearchEngine, opensearch_secured: SecuredNode) -> None:
    placed = Tenancy(filled._cluster, filled._indices, filled._prefix, SystemClock(), lambda _s: None)
    for tenant in (ACME, OTHER):
        placed.place(tenant, "pool")
    try:
        with opensearch_secured.user("person", "wisdomagent-tenant-acme") as person:
            assert tenants_seen(person, "wa-acme") == tenants_seen(person, "wa-_pool-*") == {"acme"}
            for query in ({"match": {"lexical": "canary fees"}}, {"term": {"tenant": "other-co"}}):
                found = person.post("/wa-_pool-*/_search", json={"query": query}).raise_for_status().json()["hits"]["hits"]
                assert {hit["_source"]["tenant"] for hit in found} <= {"acme"}
            assert person.get("/wa-other.co/_search").json().get("hits", {}).get("hits", []) == []
            month = next(iter(filled._cluster.get("wa-_pool-202603", "_alias")))
            (key,) = (hit["_id"] for hit in filled._cluster.search("wa-other.co", one_document(OTHER, "a"), tenant=OTHER)["hits"]["hits"])
            assert person.get(f"/{month}/_doc/{quote(key, safe='')}").json()["found"] is False
            assert person.put(f"/{month}/_doc/x", json={}).status_code == 403
    finally:
        for tenant in (ACME, OTHER):
            placed.place(tenant, "own")


@pytest.mark.live("opensearch-secured")
def test_the_role_for_dashboards_shows_no_text(filled: OpenSearchEngine, opensearch_secured: SecuredNode) -> None:
    with opensearch_secured.user("operator", "wisdomagent-operators") as operator:
        found = operator.post("/wa-*/_search", json={"query": {"term": {"tenant": "other-co"}}}).raise_for_status().json()
        entries = operator.post("/wa_state/_search", json={}).raise_for_status().json()
        assert tenants_seen(operator, "wa-*") == {"acme", "other-co"}
        assert {"doc_id", "theme_id", "occurred_at"} & found["hits"]["hits"][0]["_source"].keys()
        for shown in (found, entries):
            assert "late fees" not in json.dumps(shown)
            assert CANARY not in json.dumps(shown)
        assert operator.post("/wa-*/_search", json={"query": {"match": {"lexical": "canary"}}}).json()["hits"]["total"]["value"] == 0
        assert operator.put("/wa_state/_doc/x", json={}).status_code == 403


def test_the_shipped_roles_name_our_prefix_alone_and_no_action_is_a_wildcard_over_all() -> None:
    roles = yaml.safe_load((SHIPPED / "roles.yml").read_text("utf-8"))
    mapped = yaml.safe_load((SHIPPED / "roles_mapping.yml").read_text("utf-8"))
    assert roles.keys() == mapped.keys()
    for name, role in roles.items():
        if name == "_meta":
            continue
        for granted in role["index_permissions"]:
            ours = re.compile(r"wa_(state|live|closing_\*|opening_\*)|wa-.*|/wa\[2-9\](-.*|_state)/")
            assert all(ours.fullmatch(pattern) for pattern in granted["index_patterns"]), name
            assert all(action.startswith("indices:") and action.count("*") <= 1 for action in granted["allowed_actions"]), name
            assert not [action for action in granted["allowed_actions"] if action.rstrip("*").endswith(":") or action.endswith("/*")], name
        assert not [action for action in role["cluster_permissions"] if "*" in action], name


def tenants_seen(client: httpx.Client, indices: str) -> set[str]:
    """Whose records a user finds there."""
    body: dict[str, Any] = {"size": 100, "query": {"exists": {"field": "tenant"}}}
    found = client.post(f"/{indices}/_search", json=body).raise_for_status().json()["hits"]["hits"]
    return {hit["_source"]["tenant"] for hit in found}


def open_failing(settings: Settings) -> None:
    """Opens, and closes what opened against expectation."""
    with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()):
        pass
