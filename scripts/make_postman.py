"""Write the Postman collection: ``python -m scripts.make_postman`` (a test compares, and runs it with newman).

It is a tour that can be run from top to bottom: every query and mutation of the schema, the MCP handshake and every tool, REST, the routes for
operators, and the errors a caller can meet. Selections are made from the schema, as deep as each call says.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphql import GraphQLField, GraphQLObjectType, GraphQLSchema, build_schema, get_named_type, is_leaf_type, is_required_argument

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs/postman/wisdomagent.postman_collection.json"
FORMAT = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
DEPTH = 4

MCP = {"mcp-protocol-version": "2025-11-25", "accept": "application/json, text/event-stream"}
QUESTION = "What do customers say about declined cards?"
ABOUT_NOTHING = "What do customers say about the weather on Mars?"
DOCUMENTS = [
    {"docId": "tour-1", "source": "chat", "text": "My card was declined at the till.", "occurredAt": "{{earlier}}", "themeId": "declined",
     "accountId": "tour-account", "rating": 1},
    {"docId": "tour-2", "source": "email", "text": "The card was declined again, without any reason.", "occurredAt": "{{earlier}}",
     "themeId": "declined", "accountId": "tour-account", "rating": 2},
    {"docId": "tour-3", "source": "chat", "text": "Shipping took three weeks.", "occurredAt": "{{earlier}}", "themeId": "shipping"},
]  # fmt: skip
MONITOR = {
    "monitorId": "tour-declined",
    "name": "Declined cards",
    "question": "How many documents say that a card was declined?",
    "condition": {"countAtLeast": 2},
    "severity": "WARNING",
    "receivers": [{"channel": "STREAM"}],
}


@dataclass(frozen=True, slots=True)
class Call:
    """One operation of GraphQL. ``keeps`` are collection variables taken from the answer, by path below ``data``; ``holds`` are conditions in
    JavaScript on ``data``; ``fails`` is the code of the error that must come instead of an answer."""

    operation: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    keeps: Mapping[str, str] = field(default_factory=dict)
    holds: tuple[str, ...] = ()
    fails: str = ""
    depth: int = DEPTH
    key: str = "key"


FOLDERS: Mapping[str, tuple[Call, ...]] = {
    "Documents": (
        Call("indexDocuments", {"documents": DOCUMENTS, "batchId": "tour"}, holds=("indexDocuments.received === 3", "indexDocuments.rejected === 0")),
        Call("indexDocuments", {"documents": [{"docId": "tour-bad", "source": "chat"}]}, "indexDocuments: a bad document is rejected by name",
             holds=("indexDocuments.rejections[0].field === 'text'",)),
        Call("document", {"docId": "tour-1"}, holds=("document.text.includes('declined')",)),
        Call("documents", {"filters": {"accountIds": ["tour-account"]}, "first": 10}, holds=("documents.total === 2",)),
        Call("corpus", holds=("corpus.documents >= 3",)),
    ),
    "Questions": (
        Call("ask", {"question": QUESTION}, "ask: an answer", keeps={"runId": "ask.runId"},
             holds=("ask.answer.refused === false", "ask.answer.claims.every(claim => claim.citations.length > 0)")),
        Call("ask", {"question": ABOUT_NOTHING}, "ask: a refusal", holds=("ask.answer.refused === true", "ask.answer.refusal.message")),
        Call("ask", {"question": "How many documents say that a card was declined?"}, "ask: a count",
             holds=("ask.answer.claims[0].proof.value === 2",)),
        Call("search", {"query": "declined card", "topK": 3, "fusion": "RRF"}, holds=("search.hits.length > 0",)),
        Call("trace", {"runId": "{{runId}}"}, holds=("trace.steps.length > 0",)),
        Call("traces", {"refused": True, "first": 5}, holds=("traces.traces.length > 0",), depth=3),
        Call("insights", {"questions": 5}),
    ),
    "Aggregates": (
        Call("aggregateByTheme", {"query": "declined", "limit": 5}, holds=("aggregateByTheme.themes[0].themeId === 'declined'",)),
        Call("trendOverTime", {"interval": "DAY", "timeZone": "Europe/Paris", "query": "declined"}, holds=("trendOverTime.points.length > 0",)),
        Call("accountContext", {"accountId": "tour-account", "first": 5}, holds=("accountContext.total === 2",)),
    ),
    "Ingest jobs": (
        Call("indexDocuments", {"documents": [{**DOCUMENTS[2], "docId": "tour-4"}], "async": True}, "indexDocuments: left to a worker",
             keeps={"jobId": "indexDocuments.job.jobId"}),
        Call("job", {"jobId": "{{jobId}}"}, holds=("job.jobId",)),
        Call("jobs", {"first": 5}, holds=("jobs.jobs.length > 0",)),
        Call("cancelJob", {"jobId": "{{jobId}}"}),
        Call("retryJob", {"jobId": "{{jobId}}"}, "retryJob: only a failed job can be tried again", fails="BAD_USER_INPUT"),
    ),
    "Monitors": (
        Call("saveMonitor", {"input": MONITOR}, holds=("saveMonitor.monitor.state",)),
        Call("monitors", {"first": 10}, holds=("monitors.monitors.some(monitor => monitor.monitorId === 'tour-declined')",)),
        Call("monitor", {"monitorId": "tour-declined"}),
        Call("evaluateMonitor", {"input": {"monitorId": "tour-declined", "dryRun": True}}, "evaluateMonitor: a dry run",
             holds=("evaluateMonitor.evaluation.dryRun === true",)),
        Call("evaluateMonitor", {"input": {"monitorId": "tour-declined"}}, "evaluateMonitor: now"),
        Call("digests", {"monitorId": "tour-declined", "first": 5}, keeps={"digestId": "digests.digests[0].digestId"}, depth=3,
             holds=("digests.digests[0].n === 2",)),
        Call("digest", {"digestId": "{{digestId}}"}, holds=("digest.firedBecause",)),
        Call("redeliverDigest", {"input": {"digestId": "{{digestId}}"}}, depth=3),
        Call("deliveries", {"first": 5}),
        Call("pauseMonitor", {"input": {"monitorId": "tour-declined", "paused": True}}, holds=("pauseMonitor.monitor.paused === true",)),
        Call("acknowledge", {"input": {"monitorId": "tour-declined"}}, "acknowledge: while it fires, there is a conflict", fails="CONFLICT"),
        Call("deleteMonitor", {"input": {"monitorId": "tour-declined"}}, holds=("deleteMonitor.deleted === true",)),
    ),
    "Evaluations": (
        Call("evalSets", keeps={"setName": "evalSets[0].name"}),
        Call("runEval", {"setName": "{{setName}}", "limit": 2}, keeps={"beforeId": "runEval.reportId"}),
        Call("runEval", {"setName": "{{setName}}", "limit": 2}, "runEval: again", keeps={"reportId": "runEval.reportId"}),
        Call("evals", {"first": 5}, holds=("evals.reports.length >= 2",), depth=3),
        Call("evalReport", {"reportId": "{{reportId}}"}, holds=("evalReport.cases === 2",)),
        Call("evalDiff", {"beforeId": "{{beforeId}}", "afterId": "{{reportId}}"}),
        Call("runEval", {"setName": "{{setName}}", "background": True, "everySeconds": 86400, "scheduleName": "tour"}, "runEval: every day",
             keeps={"scheduleId": "runEval.schedule.scheduleId"}),
        Call("evalSchedules", holds=("evalSchedules.length > 0",)),
        Call("deleteEvalSchedule", {"scheduleId": "{{scheduleId}}"}, holds=("deleteEvalSchedule === true",)),
    ),
    "API keys": (
        Call("createApiKey", {"input": {"name": "tour", "scopes": ["READ"]}}, keeps={"readKey": "createApiKey.secret", "keyId": "createApiKey.key.keyId"}),
        Call("apiKeys", holds=("apiKeys.length > 0",)),
        Call("rotateApiKey", {"keyId": "{{keyId}}", "overlapS": 600}, keeps={"newKeyId": "rotateApiKey.key.keyId"}),
        Call("revokeApiKey", {"keyId": "{{newKeyId}}"}),
    ),
    "Errors": (
        Call("search", {"query": "card", "filters": {"since": "not a day"}}, "BAD_USER_INPUT: a value no filter takes", fails="BAD_USER_INPUT"),
        Call("corpus", title="UNAUTHENTICATED: no key", fails="UNAUTHENTICATED", key=""),
        Call("deleteDocuments", {"docIds": ["tour-1"]}, "FORBIDDEN: a key that may only read", fails="FORBIDDEN", key="readKey"),
        Call("cancelJob", {"jobId": "nobody-knows-it"}, "NOT_FOUND: a job nobody has", fails="NOT_FOUND"),
        Call("saveMonitor", {"input": {**MONITOR, "expectedVersion": 7}}, "CONFLICT: somebody changed it meanwhile", fails="CONFLICT"),
    ),
    "Cleaning up": (
        Call("deleteDocuments", {"docIds": ["tour-1", "tour-2", "tour-3", "tour-4"]}, keeps={"receiptId": "deleteDocuments.receipt.receiptId"},
             holds=("deleteDocuments.deleted >= 3",)),
        Call("erasureReceipts", {"first": 5}, holds=("erasureReceipts.receipts.length > 0",)),
        Call("erasureReceipt", {"receiptId": "{{receiptId}}"}, holds=("erasureReceipt.scope === 'IDS'",)),
    ),
}  # fmt: skip

DESCRIPTIONS: Mapping[str, str] = {
    "Errors": """The errors that one request can provoke. The others, with what to do:

- `RATE_LIMITED` (429): wait as long as `Retry-After` says.
- `BUDGET_EXCEEDED` (422): a ceiling was reached; `ask` tells of it as a refusal.
- `UNAVAILABLE` (503): a dependency is away; try later, the message says which.
- `MISCONFIGURED` (500): the operator has to change a setting; the message names it.
- `INTERNAL_SERVER_ERROR` (500): a fault of ours; its `errorId` is in the log."""
}
TOOLS: Mapping[str, Mapping[str, Any]] = {
    "search_feedback": {"query": "declined card", "limit": 3},
    "aggregate_by_theme": {"query": "declined"},
    "trend_over_time": {"interval": "week"},
    "get_account_context": {"account_id": "tour-account"},
    "ask": {"question": QUESTION},
    "list_monitors": {},
    "get_digests": {},
}
REST: tuple[tuple[str, str, Any, int], ...] = (
    ("POST", "/ask", {"question": QUESTION}, 200),
    ("POST", "/search", {"query": "declined card"}, 200),
    ("POST", "/ingest", {"documents": DOCUMENTS}, 200),
    ("GET", "/documents/tour-1", None, 200),
    ("GET", "/documents/nobody-knows-it", None, 404),
    ("GET", "/jobs/{{jobId}}", None, 200),
    ("GET", "/jobs/{{jobId}}/rejects", None, 200),
    ("DELETE", "/documents/tour-4", None, 200),
)
OPERATIONS = ("/health", "/livez", "/ready", "/readyz", "/metrics", "/openapi.json")
BEFORE = (
    'if (!pm.collectionVariables.get("earlier")) pm.collectionVariables.set("earlier", new Date(Date.now() - 7200e3).toISOString());',
    'if (pm.request.headers.has("x-anonymous")) { pm.request.headers.remove("x-anonymous"); }',
    "else {",
    '  const name = pm.request.headers.get("x-key-variable") || "key";',
    '  const key = pm.variables.get(name); const tenant = pm.variables.get("tenant");',
    '  if (key) pm.request.headers.upsert({key: "authorization", value: `Bearer ${key}`});',
    '  else if (tenant) pm.request.headers.upsert({key: "x-tenant-id", value: tenant});',
    "}",
)


def schema() -> GraphQLSchema:
    """The schema as its files say it."""
    return build_schema("\n".join(path.read_text("utf-8") for path in sorted((ROOT / "api/schema").glob("*.graphql"))))


def document_of(whole: GraphQLSchema, call: Call) -> str:
    """The operation as text, its arguments as variables."""
    for kind, root in (("query", whole.query_type), ("mutation", whole.mutation_type)):
        if root is not None and call.operation in root.fields:
            found = root.fields[call.operation]
            declared = ", ".join(f"${name}: {found.args[name].type}" for name in call.variables)
            given = ", ".join(f"{name}: ${name}" for name in call.variables)
            head = f"{kind} Tour({declared})" if declared else f"{kind} Tour"
            return f"{head} {{ {call.operation}{f'({given})' if given else ''}{_selection(found, call.depth)} }}"
    raise LookupError(f"the schema has no {call.operation}")


def _selection(found: GraphQLField, depth: int) -> str:
    kind = get_named_type(found.type)
    if is_leaf_type(kind):
        return ""
    assert isinstance(kind, GraphQLObjectType)
    return f" {{ {' '.join(_members(kind, depth))} }}"


def _members(kind: GraphQLObjectType, depth: int) -> Iterator[str]:
    for name, member in kind.fields.items():
        inner = get_named_type(member.type)
        if any(is_required_argument(argument) for argument in member.args.values()):
            continue
        if is_leaf_type(inner):
            yield name
        elif depth > 1 and inner is not kind:
            yield name + _selection(member, depth - 1)


def collection() -> dict[str, Any]:
    """The whole of it."""
    whole = schema()
    folders = [_folder(whole, name, calls) for name, calls in FOLDERS.items()]
    tour = [*folders[:-2], {"name": "MCP", "item": list(_mcp())}, {"name": "REST", "item": [_rest(*row) for row in REST]}]
    return {
        "info": {"name": "WisdomAgent", "schema": FORMAT, "description": (__doc__ or "").partition("\n\n")[2].strip()},
        "event": [_event("prerequest", BEFORE)],
        "variable": [
            {"key": "baseUrl", "value": "http://127.0.0.1:8000"},
            {"key": "key", "value": ""},
            {"key": "tenant", "value": "default"},
        ],
        "item": [*tour, {"name": "Operations", "item": [_rest("GET", path, None, 200) for path in OPERATIONS]}, *folders[-2:]],
    }


def _folder(whole: GraphQLSchema, name: str, calls: tuple[Call, ...]) -> dict[str, Any]:
    described = {"description": DESCRIPTIONS[name]} if name in DESCRIPTIONS else {}
    return {"name": name, **described, "item": [_graphql(whole, call) for call in calls]}


def _graphql(whole: GraphQLSchema, call: Call) -> dict[str, Any]:
    body = {"query": document_of(whole, call), "variables": dict(call.variables)}
    headers = {"x-anonymous": "1"} if not call.key else {} if call.key == "key" else {"x-key-variable": call.key}
    return _item(call.title or call.operation, _request("POST", "/graphql", body, headers), _graphql_checks(call))


def _graphql_checks(call: Call) -> Iterator[str]:
    yield "const body = pm.response.json();"
    if call.fails:
        yield f'pm.test("is refused as {call.fails}", () => pm.expect(body.errors ? body.errors[0].extensions.code : body.code).to.eql("{call.fails}"));'
        return
    yield 'pm.test("is answered", () => { pm.response.to.have.status(200); pm.expect(body.errors, JSON.stringify(body.errors)).to.be.undefined; });'
    yield "const told = body.data || {};"
    for condition in call.holds:
        yield f"pm.test({json.dumps(condition)}, () => pm.expect(Boolean(told.{condition})).to.be.true);"
    for name, path in call.keeps.items():
        yield f"pm.collectionVariables.set({json.dumps(name)}, told.{path});"


def _mcp() -> Iterator[dict[str, Any]]:
    hello = {"protocolVersion": MCP["mcp-protocol-version"], "capabilities": {}, "clientInfo": {"name": "postman", "version": "1"}}
    yield _item("initialize", _request("POST", "/mcp", _rpc(1, "initialize", hello), MCP), _answered("result.serverInfo.name"))
    told = _request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, MCP)
    yield _item("notifications/initialized", told, ['pm.test("is taken", () => pm.response.to.have.status(202));'])
    yield _item("tools/list", _request("POST", "/mcp", _rpc(2, "tools/list", {}), MCP), _answered(f"result.tools.length === {len(TOOLS)}"))
    for number, (name, arguments) in enumerate(TOOLS.items(), 3):
        call = _rpc(number, "tools/call", {"name": name, "arguments": dict(arguments)})
        yield _item(
            f"tools/call {name}", _request("POST", "/mcp", call, MCP), _answered("result.structuredContent && !body.result.isError")
        )
    missing = _rpc(90, "tools/call", {"name": "ask", "arguments": {}})
    yield _item("tools/call without its argument: isError", _request("POST", "/mcp", missing, MCP), _answered("result.isError === true"))
    unknown = _rpc(91, "no/such/method", {})
    yield _item("an unknown method: -32601", _request("POST", "/mcp", unknown, MCP), _answered("error.code === -32601"))


def _rpc(number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def _answered(condition: str) -> list[str]:
    name = json.dumps(condition)
    return [
        "const body = pm.response.json();",
        f"pm.test({name}, () => pm.expect(Boolean(body.{condition}), JSON.stringify(body)).to.be.true);",
    ]


def _rest(method: str, path: str, body: Any, status: int) -> dict[str, Any]:
    return _item(
        f"{method} {path}", _request(method, path, body, {}), [f'pm.test("is {status}", () => pm.response.to.have.status({status}));']
    )


def _item(name: str, request: dict[str, Any], checks: Any) -> dict[str, Any]:
    return {"name": name, "request": request, "event": [_event("test", checks)]}


def _event(listen: str, lines: Any) -> dict[str, Any]:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": list(lines)}}


def _request(method: str, path: str, body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    sent = {**headers, **({"content-type": "application/json"} if body is not None else {})}
    made: dict[str, Any] = {
        "method": method,
        "header": [{"key": name, "value": value} for name, value in sent.items()],
        "url": "{{baseUrl}}" + path,
    }
    if body is not None:
        made["body"] = {"mode": "raw", "raw": json.dumps(body, indent=2, ensure_ascii=False)}
    return made


def written() -> str:
    """The file's text."""
    return json.dumps(collection(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(written(), encoding="utf-8")
