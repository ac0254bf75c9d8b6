"""REST and the routes for those who run the service."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from api.app import create_app
from runtime.errors import Unavailable
from runtime.settings import read_settings
from tests.doors.calls import posted
from tests.doors.serving import running
from tests.faults.sockets import answering, listening
from worker.opening import open_service

PROBLEM = "application/problem+json"


def test_health_answers_without_touching_anything(http: httpx.Client) -> None:
    assert http.get("/health").json() == {"status": "ok"}
    assert http.get("/livez").status_code == 200


def test_ready_tells_documents_engine_embedder_and_fusion(http: httpx.Client) -> None:
    answer = http.get("/ready")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["corpus"], body["fusion_strategy"], body["mode"]) == ("ready", "ready", "rrf", "development")
    assert body["documents"] >= 9
    assert body["embedder"]["dimension"] > 0
    assert body["engine"]


def test_an_empty_corpus_is_ready(http: httpx.Client) -> None:
    answer = http.get("/readyz", headers={"x-tenant-id": "nobody-yet"})
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["corpus"], answer.json()["documents"]) == ("ready", "empty", 0)


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text; version=1.0.0"])
def test_metrics_are_told_by_route_and_never_by_tenant_or_id(http: httpx.Client, accept: str) -> None:
    http.get("/documents/secret-id")
    text = http.get("/metrics", headers={"accept": accept}).text
    assert 'operation="/documents/{doc_id:path}"' in text
    assert "secret-id" not in text
    assert "acme" not in text


@pytest.mark.parametrize("path", ["/", "/docs", "/graphiql"])
def test_pages_load_nothing_from_another_host(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert "https://" not in answer.text
    names = [part.split('"')[0] for part in answer.text.split('src="')[1:] + answer.text.split('href="/static')[1:]]
    assert names


def test_every_file_a_page_names_is_served_with_its_type(http: httpx.Client) -> None:
    for page in ("/", "/docs", "/graphiql"):
        text = http.get(page).text
        for name in {part.split('"')[0] for mark in ('src="', 'href="') for part in text.split(mark)[1:]}:
            if name.startswith("/static"):
                answer = http.get(name)
                assert answer.status_code == 200, name
                assert answer.headers["content-type"].split(";")[0] in ("text/javascript", "text/css", "image/svg+xml"), name


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/..%2fapp.py", "/static/graphiql/nothing.js", "/static/"])
def test_only_our_own_files_are_served(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 404


def test_a_browser_gets_the_explorer_where_programs_get_graphql(http: httpx.Client) -> None:
    assert "GraphQL explorer" in http.get("/graphql", headers={"accept": "text/html,*/*"}).text


@pytest.mark.parametrize("doc_id", ["a/b", "what?", "#1", "*", "one,two", "100%", "ä ö", "..x", "a//b", "Ω"])
def test_ids_with_signs_are_stored_read_and_deleted_by_path(http: httpx.Client, doc_id: str) -> None:
    document = {"docId": doc_id, "source": "review", "text": f"About {doc_id}.", "occurredAt": "2026-02-03T04:05:06Z"}
    report = http.post("/ingest", json={"documents": [document]}, headers={"x-tenant-id": "signs"}).json()
    assert report["rejections"] == []
    path = "/documents/" + quote(doc_id, safe="")
    assert http.get(path, headers={"x-tenant-id": "signs"}).json()["docId"] == doc_id
    deleted = http.delete(path, headers={"x-tenant-id": "signs"}).json()
    assert (deleted["deleted"], deleted["docIds"], deleted["receipt"]["scope"]) == (1, [doc_id], "IDS")
    assert http.get(path, headers={"x-tenant-id": "signs"}).status_code == 404


def test_a_batch_reports_every_rejection_and_a_replay_changes_nothing(http: httpx.Client) -> None:
    good = {"docId": "g-1", "source": "review", "text": "Good.", "occurredAt": "2026-02-03T04:05:06Z", "colour": "red"}
    batch = {"documents": [good, {"docId": "b-1", "source": "review", "text": "", "occurredAt": "2026-02-03T04:05:06Z"}], "batchId": "b-7"}
    first = http.post("/ingest", json=batch, headers={"x-tenant-id": "batches"}).json()
    assert (first["batchId"], first["received"], first["indexed"], first["rejected"], first["saved"]) == ("b-7", 2, 1, 1, 1)
    assert (first["rejections"][0]["row"], first["rejections"][0]["docId"], first["rejections"][0]["field"]) == (2, "b-1", "text")
    again = http.post("/ingest", json=batch, headers={"x-tenant-id": "batches"}).json()
    assert (again["indexed"], again["unchanged"], again["saved"]) == (0, 1, 0)


def test_what_is_no_document_at_all_sinks_nothing_else(http: httpx.Client) -> None:
    good = {"docId": "g-2", "source": "review", "text": "Good.", "occurredAt": "2026-02-03T04:05:06Z"}
    report = http.post("/ingest", json={"documents": ["text", None, good, [1]]}, headers={"x-tenant-id": "mixed"}).json()
    assert (report["indexed"], report["rejected"]) == (1, 3)
    assert [item["row"] for item in report["rejections"]] == [1, 2, 4]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/ask", {}, "question"),
        ("/ask", {"question": 7}, "question"),
        ("/ask", {"question": "x", "topk": 3}, "topk"),
        ("/ask", {"question": "x", "topK": "3"}, "topK"),
        ("/ask", {"question": "x", "topK": 0}, "topK"),
        ("/ask", {"question": "x", "filters": {"ratingMin": "low"}}, "filters.ratingMin"),
        ("/ask", {"question": "x", "filters": {"until": "2026-13-01"}}, "filters.until"),
        ("/ask", {"question": "x", "budget": {"maxSteps": 0}}, "budget.maxSteps"),
        ("/ask", {"question": "x", "timeZone": "Mars"}, "timeZone"),
        ("/search", {"query": "x", "fusion": "magic"}, "fusion"),
        ("/ingest", {"documents": "many"}, "documents"),
    ],
)
def test_a_bad_field_is_named_as_the_caller_wrote_it(http: httpx.Client, path: str, body: dict[str, Any], field: str) -> None:
    answer = posted(http, path, body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == PROBLEM
    assert answer.json()["field"] == field
    assert answer.json()["code"] == "BAD_USER_INPUT"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nope", 404), ("PUT", "/ask", 405), ("GET", "/documents/none", 404), ("POST", "/documents/x", 405)],
)
def test_every_error_is_a_problem_document_with_the_correlation_id(http: httpx.Client, method: str, path: str, status: int) -> None:
    answer = http.request(method, path, headers={"x-correlation-id": "run-7"})
    assert answer.status_code == status
    assert answer.headers["content-type"] == PROBLEM
    body = answer.json()
    assert {"type", "title", "status", "detail", "instance", "code", "correlationId"} <= body.keys()
    assert (body["status"], body["correlationId"]) == (status, "run-7")


@pytest.mark.parametrize(("path", "allowed"), [("/documents/x", "DELETE, GET"), ("/ask", "POST"), ("/jobs/x", "GET")])
def test_a_method_that_is_not_served_is_told_all_that_are(http: httpx.Client, path: str, allowed: str) -> None:
    answer = http.put(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_a_body_that_is_not_announced_as_json_is_refused_because_any_page_could_send_it(http: httpx.Client) -> None:
    assert http.post("/ask", content='{"question": "x"}', headers={"content-type": "text/plain"}).status_code == 415


def test_the_description_names_every_field_of_the_bodies(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    schema = paths["/ask"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == {"question", "topK", "filters", "budget", "timeZone"}
    assert all(field.get("description") for field in schema["properties"].values())


def test_metrics_tell_of_an_endpoint_that_fails(tmp_path: Path) -> None:
    with listening(answering("busy", status="503 Service Unavailable")) as endpoint:
        settings = read_settings(
            {},
            engine_url=f"sqlite:///{tmp_path / 'store.db'}",
            embedder="openai:e5",
            embedder_url=endpoint,
            embedder_dimension=4,
            retry_attempts=2,
            breaker_failures=1,
        )
        with open_service(settings) as service, running(create_app(service)) as url:
            with pytest.raises(Unavailable):
                service.embedder.embed(["a text"])
            text = httpx.get(f"{url}/metrics").text
    assert 'wa_breaker_state{dependency="embedder"} 2.0' in text
    assert 'wa_bulkhead_in_flight{dependency="embedder"} 0.0' in text
    assert 'wa_retries_total{dependency="embedder"} 1.0' in text
