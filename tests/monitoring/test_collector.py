"""The configuration of the collector, held against itself and against what spans say. The collector itself is not run here."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime.settings import Settings
from runtime.tracing import ATTRIBUTES

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"status_code", "boolean_attribute", "numeric_attribute", "latency", "probabilistic"}


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((ROOT / "monitoring" / "collector.yml").read_text(encoding="utf-8"))
    return told


def policies(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in config["processors"]["tail_sampling"]["policies"]}


def test_every_part_of_a_pipeline_is_defined_and_every_defined_part_is_used(config: dict[str, Any]) -> None:
    (pipeline,) = config["service"]["pipelines"].values()
    for kind in ("receivers", "processors", "exporters"):
        assert set(pipeline[kind]) == set(config[kind])


def test_memory_is_limited_first_and_batches_are_made_of_what_was_kept(config: dict[str, Any]) -> None:
    assert config["service"]["pipelines"]["traces"]["processors"] == ["memory_limiter", "tail_sampling", "batch"]
    limiter = config["processors"]["memory_limiter"]
    assert limiter["spike_limit_mib"] < limiter["limit_mib"]


def test_what_is_kept_is_what_failed_was_refused_lost_a_part_or_was_slow_and_one_in_a_hundred(config: dict[str, Any]) -> None:
    found = policies(config)
    assert found.keys() == {"errors", "refusals", "degraded", "slow", "one-in-a-hundred"}
    for policy in found.values():
        assert policy["type"] in KINDS
        assert policy.keys() == {"name", "type", policy["type"]}
    assert found["errors"]["status_code"] == {"status_codes": ["ERROR"]}
    assert found["refusals"]["boolean_attribute"] == {"key": "wa.refused", "value": True}
    assert found["one-in-a-hundred"]["probabilistic"] == {"sampling_percentage": 1}


def test_attributes_it_decides_by_are_those_spans_have(config: dict[str, Any]) -> None:
    exported = {name for name, _ in ATTRIBUTES.values()}
    named = {policy[policy["type"]]["key"] for policy in policies(config).values() if policy["type"].endswith("attribute")}
    assert named == {"wa.refused", "wa.degraded"}
    assert named <= exported


def test_a_trace_is_decided_on_when_a_run_must_be_over(config: dict[str, Any]) -> None:
    wait_s = float(config["processors"]["tail_sampling"]["decision_wait"].removesuffix("s"))
    assert wait_s > Settings.model_fields["ask_timeout_s"].default


def test_spans_are_taken_where_they_are_sent_and_given_to_jaeger(config: dict[str, Any]) -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert "jaeger" in compose["services"]
    port = config["receivers"]["otlp"]["protocols"]["http"]["endpoint"].rsplit(":", 1)[1]
    assert f"http://collector:{port}" in (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert config["exporters"]["otlp/jaeger"]["endpoint"] == "jaeger:4317"
