"""Boards: what Grafana would silently get wrong."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.promql import BOARDS, MONITORING, read

PROVISIONING = MONITORING / "grafana" / "provisioning"


def panels(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["panels"]
    return found


def test_there_is_a_board_of_the_service_and_one_of_answers() -> None:
    boards = [json.loads(path.read_text(encoding="utf-8")) for path in BOARDS]
    assert [path.stem for path in BOARDS] == ["grounding", "service"]
    assert len({board["uid"] for board in boards}) == len({board["title"] for board in boards}) == len(boards)
    links = {link["url"].removeprefix("/d/") for board in boards for link in board["links"]}
    assert links == {board["uid"] for board in boards}


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_panel_has_a_place_of_its_own_a_title_and_queries(path: Path) -> None:
    found = panels(path)
    assert len({panel["id"] for panel in found}) == len(found)
    assert not [(one["title"], other["title"]) for one, other in combinations(found, 2) if _overlap(one["gridPos"], other["gridPos"])]
    for panel in found:
        assert panel["title"]
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert panel["type"] == "row" or panel["targets"]
        assert len({target["refId"] for target in panel.get("targets", [])}) == len(panel.get("targets", []))


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_the_data_sources_of_a_board_are_provisioned(path: Path) -> None:
    sources = {source["uid"]: source["type"] for source in read(PROVISIONING / "datasources" / "datasources.yml")["datasources"]}
    named = [target["datasource"] for panel in panels(path) for target in panel.get("targets", [])]
    assert named
    assert all(sources[each["uid"]] == each["type"] for each in named)


def test_the_link_from_an_exemplar_leads_to_a_source_that_is_provisioned() -> None:
    sources = read(PROVISIONING / "datasources" / "datasources.yml")["datasources"]
    (linked,) = [link for source in sources for link in source.get("jsonData", {}).get("exemplarTraceIdDestinations", [])]
    assert linked["name"] == "trace_id"
    assert linked["datasourceUid"] in {source["uid"] for source in sources}


def _overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    across = one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
    return across and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"]
