"""Every operation there is, at every door, with no credential and with one that lacks its scope; operations are read from the schema, routes and tools."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.graphql_schema import executable_schema
from api.identity.keys import Keys
from api.identity.principal import SCOPES
from api.identity.rights import ROUTES, SCOPE_OF, TOOLS
from api.mcp_tools import TOOLS as SERVED
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.calls import posted
from tests.doors.serving import running
from tests.doors.sockets import talking
from tests.doors.walking import KINDS, Known, calls, json_calls, query_text
from worker.opening import Service, open_service

PEPPER = "pepper-of-the-tests-0123456789abcdef"
ACME = tenant_named("acme")
SCHEMA = executable_schema()
FIELDS = {
    name: (kind, item)
    for kind, root in (("query", SCHEMA.query_type), ("mutation", SCHEMA.mutation_type))
    for name, item in (root.fields if root else {}).items()
}
CANARY = "zqcanary"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    store = tmp_path_factory.mktemp("store") / "wisdom.db"
    settings = read_settings({}, engine_url=f"sqlite:///{store}", embedder_threads=1, auth="keys", key_pepper=PEPPER)
    with open_service(settings, SettableClock(datetime.now(UTC))) as opened:
        row = {"docId": "d-1", "source": "mail", "text": f"My card was declined, {CANARY}.", "occurredAt": "2026-02-01T00:00:00Z"}
        opened.ingester.ingest(ACME, rows_of([row]))
        yield opened


@pytest.fixture(scope="module")
def http(service: Service) -> Iterator[httpx.Client]:
    with running(create_app(service)) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def known() -> Known:
    found = Known()
    found.learn(dict.fromkeys(KINDS.values(), "d-1"))
    return found


@pytest.fixture(scope="module")
def lacking(service: Service) -> dict[str, dict[str, str]]:
    """By scope: a key that has all the others."""
    keys = Keys(service.state, service.clock, PEPPER.encode())
    made = {scope: keys.create(ACME, name="test", scopes=[each for each in SCOPES if each != scope])[1] for scope in SCOPES}
    return {scope: {"authorization": f"Bearer {written}"} for scope, written in made.items()}


def _field(http: httpx.Client, name: str, known: Known, headers: dict[str, str]) -> httpx.Response:
    kind, item = FIELDS[name]
    given = next(calls(item, known))
    return posted(http, "/graphql", {"query": query_text(kind, name, item, given), "variables": given}, **headers)


def _tool(http: httpx.Client, name: str, known: Known, headers: dict[str, str]) -> httpx.Response:
    params: dict[str, Any] = {"name": name, "arguments": next(json_calls(SERVED[name].arguments.model_json_schema(), known))}
    return posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, **headers)


def _route(http: httpx.Client, route: tuple[str, str], headers: dict[str, str]) -> httpx.Response:
    method, template = route
    path = template.replace("{doc_id:path}", "d-1").replace("{job_id}", "d-1")
    body = {"question": "card", "query": "card", "documents": []} if method == "POST" else None
    return http.request(method, path, json=body, headers=headers)


def _stays_shut(answer: httpx.Response, status: int, service: Service) -> None:
    assert answer.status_code == status, answer.text
    assert CANARY not in answer.text
    assert "data" not in (answer.json() if answer.text.startswith("{") else {})
    assert service.engine.document(ACME, "d-1") is not None


def _told_of_scope(answer: httpx.Response, scope: str) -> None:
    assert f'error="insufficient_scope", scope="{scope}"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("name", FIELDS)
def test_no_field_is_served_without_a_credential_that_covers_it(
    http: httpx.Client, service: Service, known: Known, lacking: dict[str, dict[str, str]], name: str
) -> None:
    _stays_shut(_field(http, name, known, {}), 401, service)
    answer = _field(http, name, known, lacking[SCOPE_OF[name]])
    _stays_shut(answer, 403, service)
    _told_of_scope(answer, SCOPE_OF[name])


@pytest.mark.parametrize("name", TOOLS)
def test_no_tool_is_served_without_a_credential_that_covers_it(
    http: httpx.Client, service: Service, known: Known, lacking: dict[str, dict[str, str]], name: str
) -> None:
    scope = SCOPE_OF[TOOLS[name]]
    _stays_shut(_tool(http, name, known, {}), 401, service)
    answer = _tool(http, name, known, lacking[scope])
    _stays_shut(answer, 403, service)
    _told_of_scope(answer, scope)


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_no_route_is_served_without_a_credential_that_covers_it(
    http: httpx.Client, service: Service, lacking: dict[str, dict[str, str]], route: tuple[str, str]
) -> None:
    scope = SCOPE_OF[ROUTES[route]]
    _stays_shut(_route(http, route, {}), 401, service)
    answer = _route(http, route, lacking[scope])
    _stays_shut(answer, 403, service)
    _told_of_scope(answer, scope)


def test_no_subscription_is_served_without_a_credential_that_covers_it(http: httpx.Client, lacking: dict[str, dict[str, str]]) -> None:
    web = str(http.base_url).rstrip("/")
    for name in SCHEMA.subscription_type.fields if SCHEMA.subscription_type else ():
        with talking(web) as talk:
            talk.subscribe(query=f"subscription {{ {name} {{ __typename }} }}")
            assert talk.closed() == 4401
        with talking(web) as talk:
            talk.say(type="connection_init", payload=lacking[SCOPE_OF[name]])
            assert talk.heard() == {"type": "connection_ack"}
            talk.subscribe(query=f"subscription {{ {name} {{ __typename }} }}")
            assert "FORBIDDEN" in json.dumps(talk.heard())
