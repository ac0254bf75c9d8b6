"""The board against a real node that was asked, refused, filled and fed bad rows: every field is mapped, every visualisation shows something."""

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from grounding.answers import Outcome
from runtime.tenancy import Tenant, tenant_named
from scripts.dashboard_objects import HIDDEN, Scope, saved_objects
from scripts.dashboard_roles import role_of
from search.ingest.rows import rows_of
from tests.dashboards.compiled import FIELD, Json, body_of, buckets_in, query_of, source_of, state_of, values_in
from tests.grounding.desk import ACME, NOW, Desk, open_desk, record
from tests.servers import remove_prefix

pytestmark = pytest.mark.live("opensearch")

OTHER = tenant_named("other-shop")
SPAN = (NOW - timedelta(days=30), NOW + timedelta(days=1))
CANARY = "Kanarienvogel"
DOCUMENTS = (
    record("R-1", "Standard delivery took nine days instead of three.", theme_id="late_delivery"),
    record("R-2", f"The courier app shows the wrong delivery window to {CANARY}.", theme_id="app", day="2026-11-14"),
    record("R-3", "Express delivery arrived the next morning, very happy.", day="2026-11-20"),
    record("R-4", "Nobody told me that delivery was moved to Friday.", theme_id="late_delivery") | {"source": "email"},
)
BAD = (record("B-1", "  "), record("B-2", "fine", rating=CANARY), record("B-3", "fine", rating="many"))
QUESTIONS = ("How long did standard delivery take?", f"Who is the fastest sprinter called {CANARY}?", "hello there")


@dataclass(frozen=True, slots=True)
class Watched:
    """A node with two tenants on it. ``asked`` are the runs of acme."""

    http: httpx.Client
    prefix: str
    asked: tuple[Outcome, ...]

    def scope(self, tenant: Tenant | None) -> Scope:
        return Scope(self.prefix, tenant)

    def search(self, pattern: str, body: Json) -> Json:
        answer = self.http.post(f"/{pattern}/_search", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["_shards"]["failed"] == 0
        found: Json = answer.json()
        return found


@pytest.fixture(scope="module")
def watched(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    prefix = "t" + uuid.uuid4().hex[:12]
    try:
        with (
            open_desk(tmp_path_factory.mktemp("desk"), engine_url=opensearch_url, index_prefix=prefix) as desk,
            httpx.Client(base_url=opensearch_url, timeout=30) as http,
        ):
            asked = filled(desk, ACME)
            filled(desk, OTHER)
            http.post(f"/{prefix}_state,{prefix}-*/_refresh").raise_for_status()
            yield Watched(http, prefix, asked)
    finally:
        remove_prefix(opensearch_url, prefix)


def filled(desk: Desk, tenant: Tenant) -> tuple[Outcome, ...]:
    """Documents, an ingest with rejections, an answer, two refusals, and a run that lost a part."""
    desk.load(DOCUMENTS, tenant)
    assert desk.service.ingester.ingest(tenant, rows_of([*BAD, DOCUMENTS[0]])).rejected == len(BAD)
    asked = tuple(desk.ask(question, tenant) for question in QUESTIONS)
    assert [outcome.refusal is None for outcome in asked] == [True, False, False]
    lost = replace(asked[0].trace, run_id=asked[0].run_id[::-1])
    desk.service.traces.save(tenant, lost, asked[0].grounding, {"vector_leg": "the embedder did not answer"})
    return (*asked, replace(asked[0], run_id=lost.run_id))


def each_object(scope: Scope, kind: str) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """The objects of a kind, with the index pattern each is over and its time field."""
    patterns = {each["id"]: each["attributes"] for each in saved_objects(scope) if each["type"] == "index-pattern"}
    for saved in saved_objects(scope):
        if saved["type"] == kind:
            over = patterns[saved["references"][0]["id"]]
            yield saved, over["title"], over["timeFieldName"]


def aggregated(saved: Mapping[str, Any]) -> set[str]:
    return {each["params"]["field"] for each in state_of(saved)["aggs"] if "field" in each["params"]}


def queried(saved: Mapping[str, Any]) -> set[str]:
    query = source_of(saved)["query"]["query"]
    return {name for name in re.findall(FIELD, query) if name != "_exists_"} | set(re.findall(r"_exists_:([\w.]+)", query))


SCOPES = pytest.mark.parametrize("tenant", [None, ACME, OTHER], ids=str)


@SCOPES
def test_every_field_of_every_object_is_mapped_and_can_do_what_is_asked_of_it(watched: Watched, tenant: Tenant | None) -> None:
    seen = 0
    for kind in ("visualization", "search"):
        for saved, pattern, time_field in each_object(watched.scope(tenant), kind):
            counted = aggregated(saved) if kind == "visualization" else set()
            columns = set(saved["attributes"].get("columns", ()))
            sorted_by = {field for field, _ in saved["attributes"].get("sort", ())}
            used = counted | queried(saved) | columns | sorted_by | {time_field}
            caps = watched.http.get(f"/{pattern}/_field_caps", params={"fields": ",".join(sorted(used))}).json()["fields"]
            assert used <= set(caps), saved["id"]
            for name in used:
                (can,) = caps[name].values()  # one type in every index of the pattern
                assert can["searchable"]
                assert can["aggregatable"]
                seen += 1
            assert list(caps[time_field]) == ["date"]
    assert seen > 50


@SCOPES
def test_every_visualisation_shows_something(watched: Watched, tenant: Tenant | None) -> None:
    for saved, pattern, time_field in each_object(watched.scope(tenant), "visualization"):
        answer = watched.search(pattern, body_of(saved, time_field, *SPAN))
        splits = [each for each in state_of(saved)["aggs"] if each["schema"] != "metric"]
        metrics = [each["id"] for each in state_of(saved)["aggs"] if each["schema"] == "metric" and each["type"] != "count"]
        assert answer["hits"]["total"]["value"] > 0, saved["id"]
        found = list(buckets_in(answer.get("aggregations", {})))
        assert {name for name, buckets in found if buckets} == {each["id"] for each in splits}, saved["id"]
        valued = {name for name, value in values_in(answer.get("aggregations", {})) if value is not None}
        assert valued == set(metrics), saved["id"]


def shown(watched: Watched, tenant: Tenant | None, name: str) -> Json:
    """What a visualisation is answered."""
    scope = watched.scope(tenant)
    ((saved, pattern, time_field),) = (each for each in each_object(scope, "visualization") if each[0]["id"] == scope.id(name))
    return watched.search(pattern, body_of(saved, time_field, *SPAN))


def counts(buckets: list[Json]) -> dict[str, int]:
    return {bucket["key"]: bucket["doc_count"] for bucket in buckets}


def test_the_numbers_are_those_of_what_happened(watched: Watched) -> None:
    runs = shown(watched, ACME, "numbers")
    assert runs["hits"]["total"]["value"] == len(watched.asked) == 4
    assert runs["aggregations"]["3"]["value"] == pytest.approx(watched.asked[0].grounding.groundedness)
    reasons = counts(shown(watched, ACME, "reasons")["aggregations"]["2"]["buckets"])
    assert reasons == {outcome.refusal.reason.value: 1 for outcome in watched.asked if outcome.refusal}
    assert counts(shown(watched, ACME, "degraded")["aggregations"]["2"]["buckets"]) == {"vector_leg": 1}
    fields = shown(watched, ACME, "rejections")["aggregations"]["2"]["buckets"]
    assert {bucket["key"]: bucket["1"]["value"] for bucket in fields} == {"rating": 2.0, "text": 1.0}
    themes = counts(shown(watched, ACME, "themes")["aggregations"]["2"]["buckets"])
    assert themes == {"late_delivery": 2, "app": 1, "__missing__": 1}
    both = counts(shown(watched, None, "tenants")["aggregations"]["4"]["buckets"])
    assert both == {ACME: 4, OTHER: 4}


def test_the_board_of_a_tenant_shows_nothing_of_others(watched: Watched) -> None:
    for saved, pattern, time_field in (*each_object(watched.scope(ACME), "visualization"), *each_object(watched.scope(ACME), "search")):
        body = {"query": query_of(saved, time_field, *SPAN), "size": 0, "aggs": {"whose": {"terms": {"field": "tenant"}}}}
        assert set(counts(watched.search(pattern, body)["aggregations"]["whose"]["buckets"])) == {ACME}, saved["id"]


def test_a_deleted_document_leaves_the_board_and_many_passages_are_one_document(
    opensearch_url: str, opensearch_prefix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("desk")
    with (
        open_desk(folder, engine_url=opensearch_url, index_prefix=opensearch_prefix) as desk,
        httpx.Client(base_url=opensearch_url, timeout=30) as http,
    ):
        desk.load([record("long", "This sentence is one of many in a long text. " * 60), record("gone", "This one goes.")])
        desk.service.engine.delete(ACME, ["gone"])
        http.post(f"/{opensearch_prefix}-*/_refresh").raise_for_status()
        found = shown(Watched(http, opensearch_prefix, ()), ACME, "sources")
    assert found["hits"]["total"]["value"] == 1


@SCOPES
def test_every_list_finds_something_and_shows_no_word_that_somebody_wrote(watched: Watched, tenant: Tenant | None) -> None:
    for saved, pattern, time_field in each_object(watched.scope(tenant), "search"):
        body = {
            "query": query_of(saved, time_field, *SPAN),
            "sort": [{field: order} for field, order in saved["attributes"]["sort"]],
            "docvalue_fields": [{"field": time_field, "format": "date_time"}],
            "_source": {"excludes": list(HIDDEN["state"])},
        }
        answer = watched.search(pattern, body)
        assert answer["hits"]["hits"], saved["id"]
        assert CANARY not in str(answer)


def test_no_fact_holds_a_word_that_somebody_wrote(watched: Watched) -> None:
    everything = watched.search(f"{watched.prefix}_state", {"size": 1000, "_source": ["facts", "entry_id"], "query": {"match_all": {}}})
    assert sum("facts" in hit["_source"] for hit in everything["hits"]["hits"]) >= 16
    assert CANARY not in str(everything)
    whole = watched.search(f"{watched.prefix}_state", {"size": 1000, "query": {"match_all": {}}})
    assert CANARY in str(whole)  # in bodies, which no field of the mapping shows


@SCOPES
def test_the_role_of_a_reader_reaches_every_field_of_the_board_and_no_word_that_somebody_wrote(
    watched: Watched, tenant: Tenant | None
) -> None:
    documents, state = role_of(watched.scope(tenant))["index_permissions"]
    for kind in ("visualization", "search"):
        for saved, pattern, time_field in each_object(watched.scope(tenant), kind):
            role = state if pattern.endswith("_state") else documents
            used = queried(saved) | {time_field} | set(saved["attributes"].get("columns", ()))
            assert used | (aggregated(saved) if kind == "visualization" else set()) <= set(role["fls"])
    for role in (documents, state):
        caps = watched.http.get(f"/{','.join(role['index_patterns'])}/_field_caps", params={"fields": ",".join(role["fls"])}).json()
        assert set(role["fls"]) <= set(caps["fields"])
        body = {"size": 1000, "query": json.loads(role["dls"]) if role["dls"] else {"match_all": {}}, "_source": role["fls"]}
        found = watched.search(",".join(role["index_patterns"]), body)["hits"]["hits"]
        assert {hit["_source"]["tenant"] for hit in found} == ({ACME, OTHER} if tenant is None else {tenant})
        assert CANARY not in str(found)
        assert {hit["_source"].get("kind") for hit in found} <= {None, "trace", "ingest", "ingest_rejection"}
