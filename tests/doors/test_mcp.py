"""The MCP door: its tools, its errors, its limits, and the official client over both protocol eras."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import jsonschema
import pytest
from mcp.client.client import Client

from api.app import create_app
from api.mcp_tools import TOOLS
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.calls import posted, tool
from tests.doors.conftest import documents
from tests.doors.serving import running
from tests.servers import ROOT
from worker.opening import Service, open_service

NAMES = ["search_feedback", "aggregate_by_theme", "trend_over_time", "get_account_context", "ask", "list_monitors", "get_digests"]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search_feedback": {"query": "discount code", "limit": 3},
    "aggregate_by_theme": {"limit": 3},
    "trend_over_time": {"interval": "month"},
    "get_account_context": {"account_id": "a-1", "limit": 2},
    "list_monitors": {},
    "get_digests": {"limit": 3},
    "ask": {"question": "Why do customers give up at checkout when they apply a discount code?"},
}


def post(http: httpx.Client, message: Any) -> httpx.Response:
    if isinstance(message, bytes):
        return http.post("/mcp", content=message, headers={"content-type": "application/json"})
    return posted(http, "/mcp", message)


def test_the_example_of_the_readme_works_with_nothing_but_a_content_type_and_a_tenant(http: httpx.Client) -> None:
    message = '{"jsonrpc":"2.0","id":1,"method":"tools/call",\n       "params":{"name":"aggregate_by_theme","arguments":{"query":"billing","limit":4}}}'
    answer = post(http, message.encode()).json()
    assert answer["result"]["isError"] is False
    text = json.loads(answer["result"]["content"][0]["text"])
    assert text["query"] == "billing"
    assert {"theme_id", "count", "doc_ids"} <= text["themes"][0].keys()
    assert text["themes"][0]["theme_id"] == "billing"
    assert len(text["themes"][0]["doc_ids"]) == text["themes"][0]["count"]


def test_a_client_that_does_not_say_what_it_accepts_is_served(http: httpx.Client) -> None:
    request = http.build_request("POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    del request.headers["accept"]
    assert http.send(request).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_the_tools_are_listed_with_schemas_bounds_and_read_only_hints(http: httpx.Client) -> None:
    tools = {item["name"]: item for item in post(http, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()["result"]["tools"]}
    assert list(tools) == NAMES
    for item in tools.values():
        assert item["annotations"]["readOnlyHint"] is True
        jsonschema.Draft202012Validator.check_schema(item["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(item["outputSchema"])
        assert item["inputSchema"]["additionalProperties"] is False
    assert (
        tools["search_feedback"]["inputSchema"]["properties"]["limit"] | {"minimum": 1, "maximum": 100}
        == tools["search_feedback"]["inputSchema"]["properties"]["limit"]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_result_fits_its_published_schema_and_its_text_says_the_same(http: httpx.Client, name: str) -> None:
    result = tool(http, name, ARGUMENTS[name])["result"]
    assert result["isError"] is False, result
    jsonschema.validate(result["structuredContent"], TOOLS[name].payload.model_json_schema(mode="serialization"))
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_counts_carry_the_ids_behind_them(http: httpx.Client) -> None:
    points = tool(http, "trend_over_time", {"interval": "month"})["result"]["structuredContent"]["points"]
    assert [point["key"] for point in points] == ["2026-01", "2026-02", "2026-03"]
    assert all(len(point["doc_ids"]) == point["count"] for point in points)


@pytest.mark.parametrize("arguments", [None, ..., {}, {"query": None}])
def test_arguments_that_are_null_or_missing_are_an_error_the_model_can_read(http: httpx.Client, arguments: Any) -> None:
    result = tool(http, "search_feedback", arguments)["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "query: is required"


def test_an_optional_argument_that_is_null_counts_as_absent(http: httpx.Client) -> None:
    arguments = {"query": "discount code", "limit": None, "filters": {"since": None, "sources": None}}
    assert tool(http, "search_feedback", arguments) == tool(http, "search_feedback", {"query": "discount code"})


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("search_feedback", {"query": "x", "limit": 0}, "limit"),
        ("search_feedback", {"query": "x", "limit": 2147483648}, "limit"),
        ("search_feedback", {"query": ""}, "query"),
        ("search_feedback", {"query": 7}, "query"),
        ("search_feedback", {"query": "x", "colour": "red"}, "colour"),
        ("search_feedback", {"query": "x", "filters": {"since": "yesterday"}}, "filters.since"),
        ("search_feedback", {"query": "x", "filters": {"rating_min": 3, "rating_max": 1}}, "filters.rating_min"),
        ("trend_over_time", {"interval": "fortnight"}, "interval"),
        ("trend_over_time", {"time_zone": "Mars/Olympus"}, "time_zone"),
        ("get_account_context", {"account_id": None}, "account_id"),
    ],
)
def test_a_bad_argument_is_named_in_snake_case_and_its_value_is_not_repeated(
    http: httpx.Client, name: str, arguments: dict[str, Any], field: str
) -> None:
    result = tool(http, name, arguments)["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(f"{field}: ")
    assert "pydantic" not in result["content"][0]["text"]


def test_an_account_nobody_names_is_an_error_the_model_can_read(http: httpx.Client) -> None:
    result = tool(http, "get_account_context", {"account_id": "nobody"})["result"]
    assert result["isError"] is True


def test_a_refusal_is_a_normal_result(http: httpx.Client) -> None:
    result = tool(http, "ask", {"question": "Who won the chess world championship in 1972?"})["result"]
    assert result["isError"] is False
    assert result["structuredContent"]["answer"]["refused"] is True
    assert result["structuredContent"]["answer"]["refusal"]["reason"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], -32600),
        (7, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_feedback", "arguments": ["x"]}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "drop_tables", "arguments": {}}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/fly"}, -32601),
    ],
)
def test_a_broken_message_is_a_protocol_error_without_internals(http: httpx.Client, message: Any, code: int) -> None:
    error = post(http, message).json()["error"]
    assert error["code"] == code
    assert "pydantic" not in json.dumps(error)


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        ("tools/call", {"name": "search_feedback", "arguments": ["x"]}, "Invalid params: arguments must be an object"),
        ("tools/call", {"name": "search_feedback", "arguments": "x"}, "Invalid params: arguments must be an object"),
        ("tools/call", {"name": 7}, "Invalid params: name must be a text"),
        ("tools/call", {}, "Invalid params: name must be a text"),
        ("resources/read", {"uri": 7}, "Invalid params: uri must be a text"),
    ],
)
def test_what_is_wrong_with_the_params_is_named(http: httpx.Client, method: str, params: Any, told: str) -> None:
    error = post(http, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json()["error"]
    assert error == {"code": -32602, "message": told}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions_to_open_or_close(http: httpx.Client, method: str) -> None:
    answer = http.request(method, "/mcp")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_calls_and_reads_refusals(web: str, mode: str) -> None:
    async def talk() -> None:
        async with Client(f"{web}/mcp", mode=mode) as client:
            listed = await client.list_tools()
            assert [item.name for item in listed.tools] == NAMES
            found = await client.call_tool("aggregate_by_theme", {"limit": 2})
            assert found.is_error is not True
            assert found.structured_content is not None
            wrong = await client.call_tool("search_feedback", {"query": "x", "limit": -1})
            assert wrong.is_error is True

    anyio.run(talk)


def test_a_long_result_leaves_out_whole_items_and_says_how_many(tmp_path: Any) -> None:
    _with_settings(tmp_path, {"mcp_max_output_chars": 3000}, _expect_fewer_hits)


def test_a_call_that_takes_too_long_is_an_error_that_says_so(tmp_path: Any) -> None:
    _with_settings(tmp_path, {"mcp_call_timeout_s": 0.0001}, _expect_timeout)


def _with_settings(tmp_path: Any, overrides: dict[str, Any], check: Callable[[httpx.Client], None]) -> None:
    settings = read_settings({}, engine_url=f"sqlite:///{tmp_path / 'wisdom.db'}", embedder_threads=1, **overrides)
    with open_service(settings) as service:
        service.ingester.ingest(tenant_named("acme"), rows_of(documents()))
        with running(create_app(service)) as url, httpx.Client(base_url=url, headers={"x-tenant-id": "acme"}) as http:
            check(http)


def _expect_fewer_hits(http: httpx.Client) -> None:
    result = tool(http, "search_feedback", {"query": "billing invoice checkout discount code", "limit": 10})["result"]
    payload = result["structuredContent"]
    assert payload["truncated"] is True
    assert payload["left_out"] + len(payload["hits"]) > len(payload["hits"]) > 0
    assert len(result["content"][0]["text"]) <= 3000
    assert json.loads(result["content"][0]["text"]) == payload


def _expect_timeout(http: httpx.Client) -> None:
    result = tool(http, "search_feedback", {"query": "billing"})["result"]
    assert result["isError"] is True
    assert "longer than" in result["content"][0]["text"]


def test_the_stdio_door_offers_the_same_tools_for_the_default_tenant(service: Service) -> None:
    from api.mcp_server import mcp_server
    from api.threads import Threads

    async def talk() -> None:
        async with Client(mcp_server(service, Threads(4))) as client:
            assert [item.name for item in (await client.list_tools()).tools] == NAMES
            found = await client.call_tool("aggregate_by_theme", {})
            assert found.structured_content is not None
            assert found.structured_content["total"] == 0

    run: Callable[[Callable[[], Awaitable[None]]], None] = anyio.run
    run(talk)


def test_on_stdio_a_line_that_is_no_message_is_answered_and_the_next_one_is_served(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        "no json {",
        json.dumps({"hello": "you"}),
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": hello}),
        "again [",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    with subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "mcp", "--engine", f"sqlite:///{tmp_path / 'store.db'}"],
        cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in lines]
        process.stdin.close()
        assert process.wait(30) == 0
    assert sorted((answer["error"]["code"], answer["id"]) for answer in answers if "error" in answer) == [
        (-32700, None), (-32700, None), (-32600, None),
    ]  # fmt: skip
    assert [answer["id"] for answer in answers if "result" in answer] == [7]
