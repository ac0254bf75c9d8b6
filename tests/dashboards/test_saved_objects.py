"""The saved objects as a file: made from the code, closed in themselves, in the form that is imported."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from runtime.tenancy import tenant_named
from scripts.dashboard_objects import HIDDEN, MIGRATED, Scope, as_ndjson, saved_objects
from scripts.make_dashboards import FILE, shipped
from tests.dashboards.compiled import source_of, state_of

SCOPES = (Scope(), Scope("wa", tenant_named("acme-shop_1")), Scope("other"))


def objects_of(scope: Scope, kind: str) -> list[dict[str, Any]]:
    return [each for each in saved_objects(scope) if each["type"] == kind]


def test_the_file_is_what_the_code_makes() -> None:
    assert FILE.read_text(encoding="utf-8") == shipped(), "opensearch/dashboards is stale: run `make docs`"


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.name)
def test_there_is_enough_to_look_at_and_every_reference_is_in_the_file(scope: Scope) -> None:
    objects = saved_objects(scope)
    kinds = Counter(each["type"] for each in objects)
    assert kinds["index-pattern"] == 2
    assert kinds["search"] >= 3
    assert kinds["visualization"] >= 6
    assert kinds["dashboard"] == 1
    known = [(each["type"], each["id"]) for each in objects]
    assert len(set(known)) == len(known)
    for at, each in enumerate(objects):
        referred = [(reference["type"], reference["id"]) for reference in each["references"]]
        assert set(referred) <= set(known[:at])
        assert set(named_references(each)) == {reference["name"] for reference in each["references"]}
    on_board = {reference["id"] for reference in objects[-1]["references"]}
    assert on_board == {each["id"] for each in objects if each["type"] == "visualization"}


def named_references(saved: dict[str, Any]) -> Iterator[str]:
    """The names by which an object refers to others, in the texts inside it."""
    attributes = saved["attributes"]
    if "kibanaSavedObjectMeta" in attributes and "indexRefName" in source_of(saved):
        yield source_of(saved)["indexRefName"]
    yield from (panel["panelRefName"] for panel in json.loads(attributes.get("panelsJSON", "[]")))


def test_objects_of_different_boards_never_replace_each_other() -> None:
    ids = [{each["id"] for each in saved_objects(scope)} for scope in (*SCOPES, Scope("wa", tenant_named("acme")))]
    assert all(not first & second for first, second in combinations(ids, 2))


def test_every_text_inside_is_json_and_every_object_says_its_format() -> None:
    for line in as_ndjson(saved_objects(Scope())).splitlines():
        saved = json.loads(line)
        assert saved["migrationVersion"] == {saved["type"]: MIGRATED[saved["type"]]}
        texts = [
            value for name, value in saved["attributes"].items() if name.endswith("JSON") or name in ("visState", "sourceFilters", "fields")
        ]
        texts += list(saved["attributes"].get("kibanaSavedObjectMeta", {}).values())
        assert all(isinstance(json.loads(text), dict | list) for text in texts)


def test_aggregations_are_numbered_and_every_order_and_series_names_one() -> None:
    for saved in objects_of(Scope(), "visualization"):
        state = state_of(saved)
        ids = [each["id"] for each in state["aggs"]]
        assert ids == [str(number) for number in range(1, len(ids) + 1)]
        metrics = {each["id"] for each in state["aggs"] if each["schema"] == "metric"}
        assert metrics
        assert {each["params"]["orderBy"] for each in state["aggs"] if each["type"] == "terms"} <= metrics
        assert {each["data"]["id"] for each in state["params"].get("seriesParams", [])} <= metrics
        assert state["title"] == saved["attributes"]["title"]


def test_panels_lie_inside_the_board_and_not_on_each_other() -> None:
    for scope in SCOPES:
        (board,) = objects_of(scope, "dashboard")
        panels = [panel["gridData"] for panel in json.loads(board["attributes"]["panelsJSON"])]
        assert all(panel["x"] >= 0 and panel["x"] + panel["w"] <= 48 for panel in panels)
        for one, other in combinations(panels, 2):
            beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def test_a_board_of_a_tenant_asks_for_its_tenant_everywhere_and_names_no_pattern_of_others() -> None:
    scope = Scope("wa", tenant_named("acme-shop_1"))
    patterns = [each["attributes"]["title"] for each in objects_of(scope, "index-pattern")]
    assert patterns == ["wa-acme.shop_1", "wa_state"]
    asked = [source_of(each)["query"]["query"] for kind in ("search", "visualization") for each in objects_of(scope, kind)]
    assert all(query.startswith('tenant:"acme-shop_1" AND ') for query in asked)
    assert not any("tenant" in each["id"].rpartition("-")[2] for each in saved_objects(scope))


def test_no_list_shows_what_somebody_wrote() -> None:
    assert {"body", "outbox", "labels", "label_terms"} <= set(HIDDEN["state"])
    for pattern, of in zip(objects_of(Scope(), "index-pattern"), ("documents", "state"), strict=True):
        assert [each["value"] for each in json.loads(pattern["attributes"]["sourceFilters"])] == list(HIDDEN[of])
    shown = {column for each in objects_of(Scope(), "search") for column in each["attributes"]["columns"]}
    assert not shown & {name for names in HIDDEN.values() for name in names}


ATTRIBUTES = {
    "index-pattern": {"title", "timeFieldName", "sourceFilters", "fields"},
    "search": {"title", "description", "columns", "sort", "version", "kibanaSavedObjectMeta"},
    "visualization": {"title", "description", "visState", "uiStateJSON", "version", "kibanaSavedObjectMeta"},
    "dashboard": {
        *("title", "description", "panelsJSON", "optionsJSON", "version", "timeRestore", "timeFrom", "timeTo", "refreshInterval"),
        "kibanaSavedObjectMeta",
    },
}
"""Dashboards maps its own objects strictly: an attribute it does not know is an import that fails."""


def test_objects_have_the_attributes_that_dashboards_maps_and_no_others() -> None:
    for saved in saved_objects(Scope()):
        assert set(saved["attributes"]) == ATTRIBUTES[saved["type"]]
        assert set(saved) == {"type", "id", "attributes", "references", "migrationVersion"}
