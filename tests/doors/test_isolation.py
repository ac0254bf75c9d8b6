"""Nothing of one tenant reaches another, through any field, tool, route or command there is: they are read from the schema, the tool list, the routes and
the command line themselves, so that a new one is covered or fails here."""

import io
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api import delivery_operations
from api.app import create_app
from api.cli.main import command_line, ending
from api.cli.reference import _commands as commands_of
from api.graphql_schema import executable_schema
from api.identity.keys import Keys, pepper_of
from api.identity.principal import SCOPES
from api.identity.rights import ROUTES, TOOLS
from api.mcp_tools import TOOLS as SERVED
from grounding.evaluation.set_files import set_of
from grounding.traces import KIND as TRACE
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.ingest.rows import rows_of
from tests.doors.calls import posted
from tests.doors.serving import running
from tests.doors.sockets import talking
from tests.doors.walking import PLAIN, Known, calls, json_calls, query_text, texts
from tests.servers import remove_prefix
from worker.duties import Work
from worker.opening import Service, open_service

PEPPER = "pepper-of-the-tests-0123456789abcdef"
SCHEMA = executable_schema()
QUERIES = SCHEMA.query_type.fields if SCHEMA.query_type else {}
MUTATIONS = SCHEMA.mutation_type.fields if SCHEMA.mutation_type else {}
SUBSCRIPTIONS = SCHEMA.subscription_type.fields if SCHEMA.subscription_type else {}

LAST = ("runEval", "createApiKey", "saveMonitor", "indexDocuments", "deleteDocuments")
"""Mutations that make what they are given the caller's own, or take everything away: after all the others."""

NO_TENANT = {"ready", "serve", "mcp", "worker", "demo", "doctor", "version", "eval build"}
"""Commands that show nothing of a tenant, or do not end."""

COMMAND_KINDS = {
    "doc_ids": "doc_id",
    "account": "account_id",
    "theme": "theme_id",
    "monitor": "monitor_id",
    "report": "report_id",
    "before": "report_id",
    "eval_set": "set_name",
    "letter_ids": "letter_id",
    "baseline": "report_id",
    "identifier": "monitor_id",
}
"""What arguments and options of commands are called elsewhere."""

COMMAND_PLAIN = {
    *(
        "count_at_least count_at_most share_at_least share_at_most change_at_least groundedness_below min_documents baseline_windows breaches".split()
    ),
    *("gate if_version overlap_s questions concurrency state queues refused keep_months keep_days".split()),
    *(
        "since until rating attr time_zone top_k fusion limit interval first form case kind of direction severity window cadence cooldown to".split()
    ),
    *(
        "columns encoding delimiter date_order rejects output out data from_file every scopes rate_class expires window_start engine tenant".split()
    ),
}
"""Options that name nothing that is kept."""


@dataclass
class Side:
    """One of the two tenants."""

    tenant: Tenant
    canary: str
    headers: dict[str, str]
    known: Known


LIVE = pytest.mark.live("opensearch")
ENGINES = ("embedded", pytest.param("opensearch", marks=LIVE), pytest.param("opensearch-pool", marks=LIVE))
"""In the pool, all tenants are in the same indices."""
WITHOUT_CACHE = (
    pytest.param(("embedded", "off"), id="embedded-uncached"),
    pytest.param(("opensearch", "off"), id="opensearch-uncached", marks=pytest.mark.live("opensearch")),
)
READS = ("query", "tool", "route")
"""Tests whose names have one of these words are done without the cache as well; the others show nothing of it, and change what it is made of."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On both engines, with the cache and without."""
    if "service" in metafunc.fixturenames:
        reads = any(f"_{word}_" in metafunc.function.__name__ for word in READS)
        metafunc.parametrize("service", [*ENGINES, *(WITHOUT_CACHE if reads else ())], indirect=True, scope="module")


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with everything two tenants can have."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'wisdom.db'}"
    engine, cache = (request.param, "memory") if isinstance(request.param, str) else request.param
    if engine != "embedded":
        url = request.getfixturevalue("opensearch_url")
    settings = read_settings(
        {},
        engine_url=url,
        index_prefix="t" + uuid.uuid4().hex[:12],
        embedder_threads=1,
        auth="keys",
        key_pepper=PEPPER,
        rate_capacity=1_000_000,
        cache=cache,
        placement="pool" if engine == "opensearch-pool" else "own",
    )
    try:
        with open_service(settings, SettableClock(datetime.now(UTC))) as opened:
            yield opened
    finally:
        if engine != "embedded":
            remove_prefix(url, settings.index_prefix)


@pytest.fixture(scope="module")
def http(service: Service) -> Iterator[httpx.Client]:
    afresh = httpx.Limits(max_keepalive_connections=0)  # commands take longer than the server keeps a connection
    with running(create_app(service)) as url, httpx.Client(base_url=url, timeout=60, limits=afresh) as client:
        yield client


@pytest.fixture(scope="module")
def sides(service: Service, http: httpx.Client) -> tuple[Side, Side]:
    """The caller, and the one nobody else may see; each knows its own ids."""
    both = (_side(service, "amber"), _side(service, "basil"))
    for side in both:
        _fill(service, http, side)
    for side in both:
        for _ in range(2):  # with the ids of the first round more is found
            for name in QUERIES:
                for answer in _asked(http, side, "query", name, side.known):
                    side.known.learn(answer)
        side.known.of_kind["letterId"] = {letter.letter_id: None for letter in service.dead_letters.list(side.tenant)[0]}
    return both


def _side(service: Service, name: str) -> Side:
    tenant = tenant_named(name)
    keys = Keys(service.state, service.clock, pepper_of(service.settings))
    made, written = keys.create(tenant, name=f"zq{name} key", scopes=SCOPES)
    known = Known()
    known.learn({"keyId": made.key_id, "source": f"zqh-{name}-source", "batchId": f"zqh-{name}-batch"})
    return Side(tenant, f"zq{name}", {"authorization": f"Bearer {written}"}, known)


def _documents(side: Side, now: datetime) -> list[dict[str, Any]]:
    own = f"zqh-{side.tenant}"
    return [
        {
            "docId": f"{own}-doc-{number}",
            "source": f"{own}-source",
            "text": f"My card was declined at the till, says {side.canary}{number}.",
            "occurredAt": (now - timedelta(hours=number + 1)).isoformat(),
            "title": f"{side.canary} title",
            "themeId": f"{own}-theme",
            "accountId": f"{own}-account",
            "url": f"https://{side.canary}.example/{number}",
            "rating": 2,
            "attributes": {"team": side.canary},
        }
        for number in range(3)
    ]


def _fill(service: Service, http: httpx.Client, side: Side) -> None:
    own, documents = f"zqh-{side.tenant}", _documents(side, service.clock.now())
    service.ingester.ingest(side.tenant, rows_of(documents))
    for question in (PLAIN["question"], f"Who is the {side.canary} of the football match on Mars?"):
        _done(http, side, "query($q: String!) { ask(question: $q) { runId } }", q=question)
    hand_in = "mutation($d: [DocumentInput!]!, $b: String) { indexDocuments(documents: $d, batchId: $b, async: true) { batchId } }"
    bad = {"docId": f"{own}-bad", "source": "x", "text": f"{side.canary} bad", "occurredAt": side.canary}
    _done(http, side, hand_in, d=[documents[0], bad], b=f"{own}-batch")
    _work(service, "ingest_job")
    _done(http, side, hand_in, d=[documents[1]], b=f"{own}-waiting")
    monitor = {
        "monitorId": f"{own}-monitor",
        "name": f"{side.canary} watch",
        "question": PLAIN["question"],
        "condition": {"countAtLeast": 2},
        "receivers": [{"channel": "STREAM"}],
    }
    _done(http, side, "mutation($i: SaveMonitorInput!) { saveMonitor(input: $i) { warnings } }", i=monitor)
    _done(http, side, f'mutation {{ evaluateMonitor(input: {{monitorId: "{own}-monitor"}}) {{ evaluation {{ outcome }} }} }}')
    delivery_operations.deliver_due(service, side.tenant)
    _done(
        http,
        side,
        "mutation($d: [DocumentInput!]!) { indexDocuments(documents: $d) { indexed } }",
        d=[documents[0] | {"docId": f"{own}-gone"}],
    )
    _done(http, side, "mutation($d: [ID!]) { deleteDocuments(docIds: $d) { deleted } }", d=[f"{own}-gone"])
    cases = [{"id": "c", "question": PLAIN["question"], "kind": "count", "expected": {"answered": True, "count": 3}}]
    service.evaluations.sets.save(side.tenant, set_of(f"{own}-set", enumerate(cases, 1)))
    run = "mutation($s: String!, $b: Boolean!) { runEval(setName: $s, background: $b) { reportId } }"
    for background in (False, False, True):
        _done(http, side, run, s=f"{own}-set", b=background)
    service.dead_letters.write(Work("ingest_job", side.tenant, (f"{own}-job", "1")), f"{side.canary} failed", 3)


def _work(service: Service, name: str) -> None:
    duty = service.duties[name]
    waiting = [*duty.due(service.clock.now())]
    while waiting:
        waiting += duty.do(waiting.pop(0))


def _done(http: httpx.Client, side: Side, query: str, **variables: Any) -> None:
    answer = posted(http, "/graphql", {"query": query, "variables": variables}, **side.headers).json()
    assert "errors" not in answer, answer


def _asked(http: httpx.Client, side: Side, operation: str, name: str, known: Known) -> Iterator[Any]:
    """Every way to call a field, with ids of ``known``; those it knows nothing for yet are left out."""
    item = (QUERIES if operation == "query" else MUTATIONS)[name]
    try:
        for given in calls(item, known):
            yield posted(http, "/graphql", {"query": query_text(operation, name, item, given), "variables": given}, **side.headers).json()
    except LookupError:
        return


def _leaks(said: str, sent: str, sides: tuple[Side, Side]) -> list[str]:
    """What of the other tenant is in an answer: its canary, or an id that was not in the request itself."""
    mine, other = sides
    secret = other.known.all() - mine.known.all()
    found = [each for each in secret if len(each) > 5 and each in said and each not in sent]
    return [*found, *([other.canary] if other.canary in said else [])]


def _snapshot(http: httpx.Client, side: Side) -> dict[str, Any]:
    """Everything of a tenant that can be listed."""
    lists = {name: item for name, item in QUERIES.items() if name != "evalSets" and not any(next(calls(item, side.known)))}
    return {name: next(_asked(http, side, "query", name, side.known)) for name in lists}


@pytest.fixture(scope="module")
def as_it_was(http: httpx.Client, sides: tuple[Side, Side]) -> dict[str, Any]:
    """What the other tenant has before anything is tried."""
    return _snapshot(http, sides[1])


@pytest.fixture
def _the_other_is_as_it_was(http: httpx.Client, sides: tuple[Side, Side], as_it_was: dict[str, Any], service: Service) -> Iterator[None]:
    yield
    mine, other = sides
    assert _snapshot(http, other) == as_it_was
    for entry in service.state.entries(mine.tenant, TRACE, first=1000)[0]:  # the caller's own, which repeat what it sent
        if f"zqh-{other.tenant}" in json.dumps(entry.body):
            service.state.remove(mine.tenant, TRACE, [entry.entry_id])


def test_every_query_shows_the_other_tenant_its_own_so_that_there_is_something_to_leak(
    http: httpx.Client, sides: tuple[Side, Side]
) -> None:
    other, silent = sides[1], []
    for name in QUERIES:
        said = json.dumps(list(_asked(http, other, "query", name, other.known)))
        if not _leaks(said, "", sides):
            silent.append(name)
    assert silent == []


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_shows_the_other_tenant_its_own(http: httpx.Client, sides: tuple[Side, Side], name: str) -> None:
    schema = SERVED[name].arguments.model_json_schema()
    shown = ""
    for given in json_calls(schema, sides[1].known):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        shown += posted(http, "/mcp", body, **sides[1].headers).text
    assert _leaks(shown, "", sides)


def test_answers_and_counts_of_the_other_are_in_the_cache_so_that_it_could_leak(sides: tuple[Side, Side], service: Service) -> None:
    count = service.metrics.registry.get_sample_value
    assert all((count("wa_cache_total", {"kind": kind, "outcome": "hit"}) or 0) > 0 for kind in ("answer", "aggregate"))


untouched = pytest.mark.usefixtures("_the_other_is_as_it_was")


@untouched
@pytest.mark.parametrize("name", QUERIES)
def test_no_query_shows_another_tenants_data(http: httpx.Client, sides: tuple[Side, Side], name: str) -> None:
    item = QUERIES[name]
    for given in calls(item, sides[1].known):
        body = {"query": query_text("query", name, item, given), "variables": given}
        answer = posted(http, "/graphql", body, **sides[0].headers)
        assert _leaks(answer.text, json.dumps(body), sides) == [], given
        assert [error["extensions"]["code"] for error in answer.json().get("errors", [])] in ([], ["NOT_FOUND"], ["BAD_USER_INPUT"]), (
            answer.text
        )


@untouched
@pytest.mark.parametrize("name", TOOLS)
def test_no_tool_shows_another_tenants_data(http: httpx.Client, sides: tuple[Side, Side], name: str) -> None:
    listed = posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **sides[0].headers).json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == TOOLS.keys()
    schema = next(tool["inputSchema"] for tool in listed if tool["name"] == name)
    for given in json_calls(schema, sides[1].known):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        answer = posted(http, "/mcp", body, **sides[0].headers)
        assert _leaks(answer.text, json.dumps(body), sides) == [], given


@untouched
def test_no_route_shows_another_tenants_data(http: httpx.Client, sides: tuple[Side, Side], service: Service) -> None:
    description = http.get("/openapi.json").json()
    walked = set()
    for path, methods in description["paths"].items():
        for method, said in methods.items():
            names = [each["name"] for each in said.get("parameters", []) if each["in"] == "path"]
            schema = said.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            bodies = list(json_calls(schema, sides[1].known)) if schema else [None]
            for where in [path.replace(f"{{{names[0]}}}", each) for each in texts(names[0], sides[1].known)] if names else [path]:
                for body in bodies:
                    answer = http.request(method, where, json=body, headers=sides[0].headers)
                    assert _leaks(answer.text, where + json.dumps(body), sides) == [], (where, body)
            walked.add((method.upper(), path))
    templates = {(method, path.replace(":path", "")) for method, path in ROUTES}
    assert templates <= walked
    assert all(path.startswith(("/ready", "/health", "/metrics", "/.well-known")) for _, path in walked - templates)


@untouched
def test_no_subscription_tells_of_another_tenants_data(http: httpx.Client, sides: tuple[Side, Side], service: Service) -> None:
    assert set(SUBSCRIPTIONS) == {"digestPublished"}
    text = "subscription($after: ID) { digestPublished(after: $after) { digestId monitorName claims { text } } }"
    for after in ("", *sides[1].known.some("digestId")):
        with talking(str(http.base_url).rstrip("/")) as talk:
            talk.say(type="connection_init", payload=sides[0].headers)
            assert talk.heard()["type"] == "connection_ack"
            talk.subscribe(query=text, after=after)
            said = json.dumps(talk.heard())
            assert sides[0].canary in said
            assert _leaks(said, after, sides) == []


COMMANDS = {path.removeprefix("wisdom "): command for path, command in commands_of(command_line(), "wisdom")}


def _lines(path: str, known: Known) -> Iterator[list[str]]:
    """Every way to call a command with those ids: the arguments alone, and with each option that takes an id."""
    command = COMMANDS[path]
    tried = {each.name: _tried(each.name, known) for each in command.params if each.param_type_name == "argument"}
    bases = [[each[turn % len(each)] for each in tried.values()] for turn in range(max(map(len, tried.values()), default=1))]
    extra = ["--yes"] if any(each.name == "yes" for each in command.params) else []
    for base in bases:
        yield [*path.split(), *base, *extra]
    for option in command.params:
        if option.param_type_name != "option" or option.is_flag or option.name in COMMAND_PLAIN:
            continue
        for value in _tried(option.name, known):
            yield [*path.split(), *(bases[0] if path != "documents delete" else []), option.opts[0], value, *extra]


def _tried(name: str, known: Known) -> list[str]:
    return [str(each) for each in texts(COMMAND_KINDS.get(name, name), known)]


def _printed(words: list[str], side: Side, service: Service, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    settings = service.settings
    given = {
        "WA_ENGINE_URL": settings.engine_url,
        "WA_INDEX_PREFIX": settings.index_prefix,
        "WA_EMBEDDER_THREADS": "1",
        "WA_KEY_PEPPER": PEPPER,
        "WA_DEFAULT_TENANT": side.tenant,
    }
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with monkeypatch.context() as patched:
        for name in [each for each in os.environ if each.startswith("WA_")]:
            patched.delenv(name)
        for name, value in given.items():
            patched.setenv(name, value)
        patched.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]"), encoding="utf-8"))
        patched.setattr("sys.stdout", out)
        patched.setattr("sys.stderr", err)
        ending([*words, "--json"])
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return said[0], said[1]


NOT_TRIED = {"ingest", "eval save", "monitors run", "backup", "restore", "migrate", "reembed", "tenants list", "tenants place"}
"""Commands that read a file of the caller's and make its content the caller's own, work for every tenant and show nothing of them, or move whole stores
and tenants for whoever runs the cluster."""


@untouched
@pytest.mark.parametrize("path", sorted(COMMANDS.keys() - NO_TENANT - NOT_TRIED))
def test_no_command_prints_another_tenants_data(
    path: str, sides: tuple[Side, Side], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in _lines(path, sides[1].known):
        out, err = _printed(words, sides[0], service, monkeypatch)
        assert _leaks(out + err, " ".join(words), sides) == [], words
        assert "Traceback" not in err
        assert "something went wrong" not in err, err


@untouched
@pytest.mark.parametrize("name", [*sorted(MUTATIONS.keys() - set(LAST)), *LAST])
def test_no_mutation_changes_or_shows_another_tenants_data(http: httpx.Client, sides: tuple[Side, Side], name: str) -> None:
    item = MUTATIONS[name]
    for given in calls(item, sides[1].known):
        body = {"query": query_text("mutation", name, item, given), "variables": given}
        answer = posted(http, "/graphql", body, **sides[0].headers)
        assert _leaks(answer.text, json.dumps(body), sides) == [], given
        codes = [error["extensions"]["code"] for error in answer.json().get("errors", [])]
        assert codes in ([], ["NOT_FOUND"], ["BAD_USER_INPUT"], ["CONFLICT"]), answer.text
