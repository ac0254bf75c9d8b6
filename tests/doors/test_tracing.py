"""One trace from a request through the run and its steps to the engine, over every door of a real process, at a real OTLP receiver; and what no span says."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics

from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.collector import Collector, Received, collecting
from tests.doors.calls import posted
from tests.doors.conftest import documents
from tests.doors.sockets import SUBSCRIBE, talking
from tests.servers import ROOT, free_port
from tests.worker.deliveries.digests import digest
from tests.worker.queues.conftest import eventually
from worker.opening import open_service

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PLACE = {"traceparent": f"00-{TRACE}-{CALLER}-01", "tracestate": "x=zebracanary", "baggage": "who=zebracanary"}
WORD = "zebracanary"
"""In a document, in questions and in what callers say of themselves."""
QUESTION = f"Why is the billing page slow for {WORD}?"


def environment(store: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    ours = {"WA_ENGINE_URL": f"sqlite:///{store}", "WA_EMBEDDER_THREADS": "1", "WA_DEFAULT_TENANT": "acme", "WA_CACHE": "off"}
    return kept | ours | more


@contextmanager
def serving(store: Path, log: Path, **more: str) -> Iterator[str]:
    """``wisdom serve`` as a process of its own, in development mode."""
    port = free_port()
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli.main", "serve", "--port", str(port)],
            cwd=ROOT, env=environment(store, **more), stdout=said, stderr=said,
        )  # fmt: skip
    try:
        transport = httpx.HTTPTransport(retries=8)
        with httpx.Client(transport=transport, timeout=60) as waiting:
            waiting.get(f"http://127.0.0.1:{port}/health").raise_for_status()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, log.read_text()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as opened:
        yield opened


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traced") / "wisdom.db"


@pytest.fixture(scope="module")
def http(collector: Collector, store: Path) -> Iterator[httpx.Client]:
    with serving(store, store.parent / "log", WA_OTLP_ENDPOINT=collector.url) as url, httpx.Client(base_url=url, timeout=60) as client:
        rows = [*documents(), {**documents()[0], "docId": f"doc-{WORD}", "text": f"The {WORD} plan hides the billing page."}]
        assert posted(client, "/ingest", {"documents": rows}).json()["indexed"] == len(rows)
        yield client


def below(collector: Collector, top: Received) -> list[Received]:
    """The span and all under it."""
    inside = [span for span in collector.trace(top.trace_id).values() if _under(collector, span, top)]
    assert inside
    return inside


def _under(collector: Collector, span: Received, top: Received) -> bool:
    known = collector.trace(span.trace_id)
    while span.span_id != top.span_id:
        if span.parent_id not in known:
            return False
        span = known[span.parent_id]
    return True


def graphql(http: httpx.Client, headers: Mapping[str, str]) -> None:
    query = "query Q($q: String!) { ask(question: $q) { answer { refused } } }"
    answer = posted(http, "/graphql", {"query": query, "variables": {"q": QUESTION}}, **headers).json()
    assert "errors" not in answer, answer


def graphql_by_url(http: httpx.Client, headers: Mapping[str, str]) -> None:
    query = urllib.parse.quote(f'{{ ask(question: "{QUESTION}") {{ answer {{ refused }} }} }}')
    assert "errors" not in http.get(f"/graphql?query={query}", headers=dict(headers)).json()


def rest(http: httpx.Client, headers: Mapping[str, str]) -> None:
    assert posted(http, "/ask", {"question": QUESTION}, **headers).status_code == 200


def mcp(http: httpx.Client, headers: Mapping[str, str], **meta: Any) -> None:
    params = {"name": "ask", "arguments": {"question": QUESTION}, **({"_meta": meta} if meta else {})}
    answer = posted(http, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, **headers).json()
    assert not answer["result"].get("isError"), answer


@pytest.mark.parametrize(
    ("door", "names"),
    [
        (rest, ["POST /ask", "ask"]),
        (graphql, ["POST /graphql", "ask"]),
        (graphql_by_url, ["GET /graphql", "ask"]),
        (mcp, ["POST /mcp", "tools/call ask", "ask"]),
    ],
)
def test_a_question_is_one_trace_of_its_caller_from_the_door_to_the_engine(
    http: httpx.Client, collector: Collector, door: Any, names: list[str]
) -> None:
    before = len(collector.named(names[0]))
    door(http, PLACE)
    with collector.changed:
        assert collector.changed.wait_for(lambda: sum(span.name == names[0] for span in collector.spans) > before, 30)
    top = collector.named(names[0])[-1]
    assert (top.trace_id, top.parent_id) == (TRACE, CALLER)
    assert top.attributes["http.response.status_code"] == 200
    assert top.attributes["wa.operation"] == "ask"
    inside = below(collector, top)
    (run,) = [span for span in inside if span.name == "ask"]
    assert collector.path(run) == names
    steps = [span for span in inside if span.name.startswith("step ")]
    assert {"step plan", "step retrieve", "step relevance", "step draft", "step verify", "step finalize"} <= {span.name for span in steps}
    assert all(span.parent_id == run.span_id for span in steps)
    (legs,) = [span for span in inside if span.name == "engine legs"]
    assert collector.path(legs) == [*names, "step retrieve", "engine legs"]
    query = f'{{ trace(runId: "{run.attributes["wa.run_id"]}") {{ steps {{ name }} }} }}'
    told = http.get("/graphql", params={"query": query})
    by_name = [step["name"] for step in told.json()["data"]["trace"]["steps"]]
    assert sorted(span.attributes["wa.step"] for span in steps) == sorted(by_name)
    assert run.attributes["wa.steps"] == len(by_name)


def test_the_place_in_the_meta_of_an_mcp_message_wins_and_the_request_is_linked(http: httpx.Client, collector: Collector) -> None:
    other = "1" * 32
    mcp(http, PLACE, traceparent=f"00-{other}-{CALLER}-01", tracestate=f"x={WORD}")
    with collector.changed:
        assert collector.changed.wait_for(lambda: any(span.trace_id == other and span.name == "ask" for span in collector.spans), 30)
    (call,) = [span for span in collector.named("tools/call ask") if span.trace_id == other]
    assert call.parent_id == CALLER
    ((linked, _),) = call.links
    assert linked == TRACE


@pytest.mark.live("opensearch")
def test_calls_of_the_cluster_are_the_innermost_spans_and_name_no_index(
    collector: Collector, opensearch_url: str, opensearch_prefix: str
) -> None:
    settings = read_settings(
        {}, engine_url=opensearch_url, index_prefix=opensearch_prefix, embedder_threads=1, otlp_endpoint=collector.url, cache="off"
    )
    with open_service(settings, role="inner") as service:
        service.ingester.ingest(tenant_named("acme"), rows_of(documents()))
        run_id = service.answerer.ask(tenant_named("acme"), "Why is the billing page slow?").run_id
    (run,) = [span for span in collector.named("ask") if span.attributes["wa.run_id"] == run_id]
    (search,) = [
        span
        for span in below(collector, run)
        if span.attributes.get("wa.operation") == "_msearch" and "engine legs" in collector.path(span)
    ]
    assert collector.path(search) == ["ask", "step retrieve", "engine legs", "call opensearch"]
    assert (search.attributes["db.system.name"], search.attributes["wa.dependency"], search.attributes["wa.attempts"]) == (
        "opensearch",
        "opensearch",
        1,
    )
    assert opensearch_prefix.encode() not in collector.everything()


def test_a_refusal_is_told_and_is_no_error_and_its_gate_tells_its_numbers(http: httpx.Client, collector: Collector) -> None:
    run_id = posted(http, "/ask", {"question": f"Which volcano erupted near {WORD}?"}).json()["trace"]["runId"]
    with collector.changed:
        assert collector.changed.wait_for(lambda: any(span.attributes.get("wa.run_id") == run_id for span in collector.spans), 30)
    (run,) = [span for span in collector.named("ask") if span.attributes.get("wa.run_id") == run_id]
    assert run.attributes["wa.refused"] is True
    assert run.attributes["wa.refusal_reason"] in ("OFF_TOPIC", "NOT_ANSWERED", "UNSUPPORTED")
    assert run.attributes["wa.intent"] == "evidence"
    assert not any(span.failed for span in below(collector, run))
    (gate,) = [span for span in below(collector, run) if span.name == "step relevance"]
    assert gate.attributes["wa.step.floor"] == 0.3
    assert 0 <= gate.attributes["wa.step.score"] <= 1


def test_writing_is_traced_into_the_threads_that_do_it(http: httpx.Client, collector: Collector) -> None:
    spans = collector.awaited("POST /ingest", "engine write")
    (write,) = [span for span in spans if (span.name, span.resource["service.name"]) == ("engine write", "wisdomagent-api")]
    assert collector.path(write) == ["POST /ingest", "engine write"]


def test_probes_make_no_spans_and_a_mistake_of_the_caller_is_no_failure(http: httpx.Client, collector: Collector) -> None:
    for path in ("/health", "/ready", "/metrics"):
        http.get(path)
    assert posted(http, "/ask", {"question": 7}).status_code == 400
    with collector.changed:
        assert collector.changed.wait_for(
            lambda: any(span.attributes.get("http.response.status_code") == 400 for span in collector.spans), 30
        )
    (wrong,) = [span for span in collector.spans if span.attributes.get("http.response.status_code") == 400]
    assert not wrong.failed
    assert not {"GET /health", "GET /ready", "GET /metrics"} & {span.name for span in collector.spans}


def test_exemplars_and_log_lines_lead_to_the_trace(http: httpx.Client, store: Path) -> None:
    rest(http, PLACE)
    shown = http.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    exemplars = [
        (family.name, sample.exemplar.labels) for family in read_openmetrics(shown.text) for sample in family.samples if sample.exemplar
    ]
    assert {"wa_ask_duration_seconds", "wa_request_duration_seconds"} <= {
        name for name, labels in exemplars if labels == {"trace_id": TRACE}
    }
    assert TRACE not in http.get("/metrics").text
    lines = [json.loads(line) for line in (store.parent / "log").read_text().splitlines() if line.startswith("{")]
    asked = [line for line in lines if line["event"] == "request" and line["operation"] == "/ask" and line.get("trace_id") == TRACE]
    assert asked
    assert all(re.fullmatch(r"[0-9a-f]{16}", line["span_id"]) and line["correlation_id"] for line in asked)


def test_a_command_is_a_trace_too(collector: Collector, store: Path, http: httpx.Client) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api.cli.main", "ask", QUESTION, "--json"],
        cwd=ROOT, env=environment(store, WA_OTLP_ENDPOINT=collector.url), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    run_id = json.loads(done.stdout)["trace"]["runId"]
    (run,) = [span for span in collector.awaited("wisdom ask") if span.attributes.get("wa.run_id") == run_id]
    assert collector.path(run) == ["wisdom ask", "ask"]
    assert run.resource["service.name"] == "wisdomagent-cli"


def test_no_exported_byte_holds_a_word_of_a_document_a_question_or_a_header(http: httpx.Client, collector: Collector) -> None:
    rest(http, PLACE)
    collector.awaited("POST /ask", "POST /graphql", "POST /mcp", "wisdom ask")
    exported = collector.everything()
    assert b"wa.run_id" in exported
    for words in (WORD, "billing", "invoice", "volcano", "acme", "doc-0"):
        assert words.encode() not in exported, words


def test_answers_are_the_same_whatever_becomes_of_the_spans_which_is_logged_once_and_the_end_is_not_held_up(tmp_path: Path) -> None:
    with collecting() as receiver, serving(tmp_path / "store.db", tmp_path / "log", WA_OTLP_ENDPOINT=receiver.url) as url:
        receiver.mood = "failing"
        with httpx.Client(base_url=url, timeout=60) as client:
            posted(client, "/ingest", {"documents": documents()})
            for mood in ("failing", "garbage", "silent"):
                receiver.mood = mood  # type: ignore[assignment]
                answer = posted(client, "/ask", {"question": "Why is the billing page slow?"}).json()
                assert answer["answer"]["citedDocuments"]
                eventually(lambda: "do not arrive" in (tmp_path / "log").read_text())
            eventually(lambda: re.search(r'wa_spans_total{outcome="failed"} [1-9]', client.get("/metrics").text))
    assert (tmp_path / "log").read_text().count("do not arrive") == 1


def test_a_subscription_begins_where_its_caller_is_and_each_event_is_a_trace_linked_to_it(
    http: httpx.Client, collector: Collector, store: Path
) -> None:
    place = f"00-{'5' * 32}-{CALLER}-01"
    settings = read_settings({}, engine_url=f"sqlite:///{store}", embedder_threads=1)
    with talking(str(http.base_url).rstrip("/")) as talk, open_service(settings) as other:
        talk.greet("acme")
        payload = {"query": SUBSCRIBE, "variables": {"after": ""}, "extensions": {"traceparent": place}}
        talk.say(type="subscribe", id="1", payload=payload)
        for number in range(2):
            assert other.digests.publish(tenant_named("acme"), digest(f"dig_{number}"))
            assert talk.told() == f"dig_{number}"
    collector.awaited("subscribe", "subscription event")
    with collector.changed:
        assert collector.changed.wait_for(lambda: sum(span.name == "subscription event" for span in collector.spans) == 2, 30)
    (start,) = collector.named("subscribe")
    assert (start.trace_id, start.parent_id) == ("5" * 32, CALLER)
    for event in collector.named("subscription event"):
        assert event.trace_id != start.trace_id
        assert event.links == ((start.trace_id, start.span_id),)
