"""The shared cases about doors and tenancy, through the web doors: one test per case, named by its id and title."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.cases.reading import BESIDE, TENANT, VARIABLE, Case, as_document, cases
from tests.doors.calls import graphql, posted
from tests.doors.serving import running
from worker.opening import open_service

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FOUND = [case for case in cases() if case.case_id.startswith(("door-", "ten-"))]
ASK = "query($q: String!) { ask(question: $q) { answer { text refused refusalReason refusal { reason } citedDocuments claims { text citations { quote } } } } }"

Json = dict[str, Any]


@pytest.mark.skipif(
    not FOUND, reason=f"no case files: set {VARIABLE}, or put them at {BESIDE.parent.name}/{BESIDE.name} beside the repository"
)
@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_case(case: Case, tmp_path: Path) -> None:
    with _loaded(case, tmp_path) as http:
        for step in case.steps:
            seen = STEPS[step["do"]](http, step)
            if seen is not None:
                allowed = step.get("expect_any") or [step["expect"]]
                problems = [[name for name, wanted in expected.items() if not CHECKS[name](seen, wanted)] for expected in allowed]
                assert [] in problems, (step, seen)


@contextmanager
def _loaded(case: Case, folder: Path) -> Iterator[httpx.Client]:
    settings = read_settings({}, engine_url=f"sqlite:///{folder / 'wisdom.db'}", embedder_threads=1)
    with open_service(settings, SettableClock(NOW)) as service:
        for tenant in sorted({record.get("tenant", TENANT) for record in case.records}):
            rows = [as_document(record) for record in case.records if record.get("tenant", TENANT) == tenant]
            assert service.ingester.ingest(tenant_named(tenant), rows_of(rows)).rejected == 0
        with running(create_app(service)) as url, httpx.Client(base_url=url, timeout=30) as http:
            yield http


def _graphql(http: httpx.Client, step: Json) -> Json:
    answer = posted(http, "/graphql", {"query": step["query"], "variables": step["variables"]}, **{"x-tenant-id": step["tenant"]})
    body = answer.json()
    error = (body.get("errors") or [{}])[0]
    found = (body.get("data") or {}).get("search") or {}
    return {
        "status": answer.status_code,
        "code": error.get("extensions", {}).get("code"),
        "message": error.get("message", ""),
        "hits": [hit["docId"] for hit in found.get("hits", [])],
    }


def _mcp(http: httpx.Client, step: Json) -> Json:
    body = posted(http, "/mcp", step["message"], **{"x-tenant-id": step["tenant"]}).json()
    result, error = body.get("result", {}), body.get("error", {})
    text = "".join(block["text"] for block in result.get("content", []))
    return {
        "code": error.get("code"),
        "message": error.get("message", "") + text,
        "is_error": result.get("isError"),
        "hits": [hit["doc_id"] for hit in (result.get("structuredContent") or {}).get("hits", [])],
    }


def _ask(http: httpx.Client, step: Json) -> Json:
    answer: Json = graphql(http, ASK, tenant=step["tenant"], q=step["question"])["data"]["ask"]["answer"]
    return answer


def _fetch(http: httpx.Client, step: Json) -> Json:
    def seen(doc_id: str) -> tuple[int, Json]:
        answer = http.get(f"/documents/{doc_id}", headers={"x-tenant-id": step["tenant"], "x-correlation-id": "same"})
        return answer.status_code, answer.json() | {"instance": ""}

    status, body = seen(step["id"])
    return {"status": status, "body": body, "unknown": seen("an-id-nobody-has")}


def _delete(http: httpx.Client, step: Json) -> Json:
    answer: Json = graphql(http, "mutation($d: [ID!]) { deleteDocuments(docIds: $d) { deleted } }", tenant=step["tenant"], d=step["ids"])[
        "data"
    ]["deleteDocuments"]
    return answer


def _nothing(_http: httpx.Client, _step: Json) -> None:
    """Drafts reach the verifier through Python only."""


STEPS: dict[str, Any] = {"graphql": _graphql, "mcp": _mcp, "ask": _ask, "fetch": _fetch, "delete": _delete, "verify": _nothing}

CHECKS: dict[str, Any] = {
    "error_code": lambda seen, wanted: seen["code"] == wanted,
    "error_names": lambda seen, wanted: wanted in seen["message"],
    "names": lambda seen, wanted: wanted in seen["message"],
    "http_in": lambda seen, wanted: seen["status"] in wanted,
    "no_error_code": lambda seen, wanted: seen["code"] not in wanted,
    "is_error": lambda seen, wanted: seen["is_error"] is wanted,
    "is_error_or_code": lambda seen, wanted: seen["is_error"] is True or seen["code"] in wanted,
    "hits": lambda seen, wanted: sorted(seen["hits"]) == sorted(wanted) and not seen["code"],
    "clamped_or_error_names": lambda seen, wanted: not seen["code"] or wanted in seen["message"],
    "refused": lambda seen, wanted: seen["refused"] is wanted,
    "reason_in": lambda seen, wanted: seen["refusal"]["reason"] in wanted,
    "must_cite": lambda seen, wanted: set(wanted) <= set(seen["citedDocuments"]),
    "must_not_cite": lambda seen, wanted: not set(wanted) & set(seen["citedDocuments"]),
    "must_not_say": lambda seen, wanted: not any(words in json.dumps(seen) for words in wanted),
    "found": lambda seen, wanted: (seen["status"] == 200) is wanted,
    "text": lambda seen, wanted: seen["body"]["text"] == wanted,
    "same_response_as_unknown_id": lambda seen, _wanted: (seen["status"], seen["body"]) == seen["unknown"],
    "deleted": lambda seen, wanted: seen["deleted"] == wanted,
}
