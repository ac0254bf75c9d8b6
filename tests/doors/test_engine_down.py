"""An engine that does not answer is an error everywhere, is told apart from "nothing found", and says when to come back."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NoReturn, cast

import httpx
import pytest

from api.app import create_app
from runtime.errors import Unavailable
from search.ports import Engine
from tests.doors.calls import graphql, tool
from tests.doors.serving import running
from worker.opening import Service


class SilentEngine:
    """An engine nobody can reach: every call ends as a driver's failure does."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def unreachable(*_arguments: Any, **_named: Any) -> NoReturn:
            raise Unavailable("the engine at example:9200 does not answer; repeat later", dependency="engine", retry_after_s=7)

        return unreachable


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    silent = cast("Engine", SilentEngine())
    with running(create_app(replace(service, engine=silent))) as url, httpx.Client(base_url=url, headers={"x-tenant-id": "acme"}) as client:
        yield client


def test_it_is_not_ready_but_alive(http: httpx.Client) -> None:
    ready = http.get("/ready")
    assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
    assert "does not answer" in ready.json()["engine"]["error"]
    assert http.get("/health").status_code == 200


def test_rest_says_503_and_when_to_come_back(http: httpx.Client) -> None:
    answer = http.get("/documents/doc-001")
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["code"]) == (503, "7", "UNAVAILABLE")


def test_graphql_nulls_the_field_and_names_the_fault(http: httpx.Client) -> None:
    answer = graphql(http, '{ document(docId: "doc-001") { docId } __typename }')
    assert answer["data"] == {"document": None, "__typename": "Query"}
    assert answer["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert answer["errors"][0]["path"] == ["document"]


def test_a_tool_fails_with_a_text_the_model_can_act_on(http: httpx.Client) -> None:
    result = tool(http, "aggregate_by_theme", {"query": "nobody has counted this before"})["result"]
    assert result["isError"] is True
    assert "repeat later" in result["content"][0]["text"]
