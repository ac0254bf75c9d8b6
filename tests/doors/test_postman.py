"""The Postman collection is what its script makes, names everything that can be called, and runs from top to bottom without a failure."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import parse, validate

from api.app import create_app
from api.errors import INTERNAL, TABLE
from api.identity.keys import Keys, pepper_of
from api.mcp_tools import TOOLS
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from scripts import make_postman
from tests.doors.judges import judged
from tests.doors.serving import running
from worker.opening import open_service

SCOPES = ("read", "ask", "write", "monitor", "admin")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server that wants keys, and a key with every right."""
    settings = read_settings(
        {},
        engine_url=f"sqlite:///{tmp_path_factory.mktemp('postman') / 'store.db'}",
        embedder_threads=1,
        auth="keys",
        key_pepper="p" * 40,
        rate_capacity=1000,
    )
    with open_service(settings) as service, running(create_app(service)) as url:
        keys = Keys(service.state, service.clock, pepper_of(settings))
        yield url, keys.create(tenant_named("tour"), name="tour", scopes=SCOPES)[1]


def items(folder: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    for item in (folder or make_postman.collection())["item"]:
        yield from items(item) if "item" in item else [item]


def test_the_file_is_what_its_script_makes() -> None:
    assert make_postman.FILE.read_text("utf-8") == make_postman.written()


def test_every_operation_tool_and_route_is_in_it(web: tuple[str, str]) -> None:
    whole = make_postman.schema()
    assert whole.query_type is not None
    assert whole.mutation_type is not None
    called = {call.operation for calls in make_postman.FOLDERS.values() for call in calls}
    assert called == {*whole.query_type.fields, *whole.mutation_type.fields}
    assert set(make_postman.TOOLS) == set(TOOLS)
    routes = httpx.get(f"{web[0]}/openapi.json").json()["paths"]
    sought = {
        (method.upper(), path.partition("{")[0]) for path, methods in routes.items() for method in methods if not path.startswith("/.")
    }
    there = [(item["request"]["method"], item["request"]["url"].removeprefix("{{baseUrl}}")) for item in items()]
    assert not [each for each in sought if not any(method == each[0] and url.startswith(each[1]) for method, url in there)]


def test_every_code_of_an_error_is_met_or_described() -> None:
    text = make_postman.written()
    assert not [treatment.code for treatment in (*TABLE.values(), INTERNAL) if treatment.code not in text]


def test_every_query_is_valid() -> None:
    whole = make_postman.schema()
    for calls in make_postman.FOLDERS.values():
        for call in calls:
            assert validate(whole, parse(make_postman.document_of(whole, call))) == [], call.operation


def _told(failure: dict[str, Any]) -> str:
    error = failure["error"]
    return f"{failure['source']['name']}: {error.get('test', 'script')}: {error['message']}"[:600]


def test_it_runs_from_top_to_bottom(web: tuple[str, str], tmp_path: Path) -> None:
    url, key = web
    report = tmp_path / "report.json"
    done = judged(
        *("newman", "run", str(make_postman.FILE), "--env-var", f"baseUrl={url}", "--env-var", f"key={key}"),
        *("--reporters", "json", "--reporter-json-export", str(report)),
    )
    told = json.loads(report.read_text("utf-8"))["run"]
    failures = [_told(each) for each in told["failures"]]
    assert failures == [], "\n".join(failures)
    assert done.returncode == 0, done.stderr
    assert told["stats"]["requests"]["total"] == len(list(items()))
    assert told["stats"]["assertions"]["total"] > len(list(items()))
