"""What ``GET /metrics`` tells: in both formats, judged by the real tool, and never more labels than the table allows."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from api.app import create_app
from runtime.telemetry import METRICS, PROCESS_METRICS, Metrics
from search.ports import Engine
from tests.doors.calls import posted
from tests.doors.serving import running
from tests.doors.test_engine_down import SilentEngine
from tests.servers import tool
from worker.opening import Service

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
_SUFFIX = re.compile(r"_(bucket|count|sum)\Z")


@pytest.fixture
def fresh(service: Service) -> Iterator[httpx.Client]:
    """The service with nothing counted yet."""
    with (
        running(create_app(replace(service, metrics=Metrics()))) as url,
        httpx.Client(base_url=url, headers={"x-tenant-id": "acme"}, timeout=30) as client,
    ):
        yield client


def told(text: str) -> dict[str, float]:
    return {
        sample.name + "".join(f"[{label}={value}]" for label, value in sorted(sample.labels.items())): sample.value
        for family in read_text(text)
        for sample in family.samples
    }


def asked(http: httpx.Client, question: str) -> None:
    assert posted(http, "/ask", {"question": question}).status_code == 200


def test_a_run_is_told_by_its_steps_tools_and_tokens(fresh: httpx.Client) -> None:
    asked(fresh, "Why is the billing page slow?")
    asked(fresh, "How many tickets are about billing?")
    found = told(fresh.get("/metrics").text)
    assert found["wa_questions_total[outcome=answered]"] == found["wa_run_steps_count"] == found["wa_run_tokens_count"] == 2
    assert found["wa_tool_calls_total[tool=search]"] == found["wa_tool_calls_total[tool=aggregate]"] == 1
    assert found["wa_ask_step_duration_seconds_count[step=plan]"] == 2
    assert found["wa_run_tokens_sum"] > 0


def test_outcomes_that_have_not_happened_are_told_as_zero_so_that_the_first_one_is_a_rise(fresh: httpx.Client) -> None:
    found = told(fresh.get("/metrics").text)
    for spec in METRICS:
        for value in spec.values:
            assert found[f"{spec.name}[{spec.labels[0]}={value}]"] == 0


def test_rejections_are_counted_by_field_and_never_by_what_callers_call_theirs(fresh: httpx.Client) -> None:
    good = {"docId": "m-1", "source": "review", "text": "Good.", "occurredAt": "2026-02-03T04:05:06Z"}
    batch = [{**good, "text": ""}, {**good, "occurredAt": "never"}, {**good, "attributes": {"secret-name": [[[[]]]]}}, "no object"]
    report = posted(fresh, "/ingest", {"documents": batch}, **{"x-tenant-id": "rejecting"}).json()
    found = told(fresh.get("/metrics").text)
    fields = {name: value for name, value in found.items() if name.startswith("wa_documents_rejected_total")}
    assert sum(fields.values()) == report["rejected"] >= 3
    assert fields["wa_documents_rejected_total[field=text]"] == fields["wa_documents_rejected_total[field=occurred_at]"] == 1
    assert fields["wa_documents_rejected_total[field=row]"] == 1
    assert "secret-name" not in fresh.get("/metrics").text


def test_readiness_and_the_size_of_the_corpus_are_measured_when_they_are_asked_for(service: Service, fresh: httpx.Client) -> None:
    found = told(fresh.get("/metrics").text)
    assert (found["wa_ready"], found["wa_corpus_documents"], found["wa_corpus_passages"]) == (1, 0, 0)
    acme = replace(service, settings=service.settings.model_copy(update={"default_tenant": "acme"}), metrics=Metrics())
    with running(create_app(acme)) as url:
        assert told(httpx.get(f"{url}/metrics").text)["wa_corpus_documents"] >= 9


def test_an_engine_that_is_down_is_told_and_keeps_no_metric_from_being_read(service: Service) -> None:
    silent = replace(service, engine=cast("Engine", SilentEngine()), metrics=Metrics())
    with running(create_app(silent)) as url:
        assert told(httpx.get(f"{url}/metrics").text)["wa_ready"] == 0


def test_openmetrics_carries_the_correlation_id_of_an_observation_and_the_text_format_does_not(fresh: httpx.Client) -> None:
    posted(fresh, "/ask", {"question": "Why is the billing page slow?"}, **{"x-correlation-id": "look-here-7"})
    answer = fresh.get("/metrics", headers={"accept": OPENMETRICS})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    exemplars = {
        family.name: sample.exemplar.labels
        for family in read_openmetrics(answer.text)
        for sample in family.samples
        if sample.exemplar and (sample.exemplar.labels.get("correlation_id") == "look-here-7" or "trace_id" in sample.exemplar.labels)
    }
    assert {"wa_ask_duration_seconds", "wa_request_duration_seconds"} <= exemplars.keys()
    assert "look-here-7" not in fresh.get("/metrics").text


def test_only_what_the_table_names_is_told_with_the_labels_it_names(http: httpx.Client) -> None:
    labels = {spec.name: set(spec.labels) for spec in METRICS} | {name: set() for name in PROCESS_METRICS}
    for family in read_text(http.get("/metrics").text):
        for sample in family.samples:
            name = sample.name if sample.name in labels else _SUFFIX.sub("", sample.name)
            assert set(sample.labels) - {"le"} == labels[name], sample


@pytest.mark.live("promtool")
def test_promtool_finds_nothing_to_object_to(fresh: httpx.Client) -> None:
    asked(fresh, "Why is the billing page slow?")
    done = subprocess.run(
        [tool("promtool"), "check", "metrics"], input=fresh.get("/metrics").text, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
