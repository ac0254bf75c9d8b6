import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from prometheus_client import generate_latest

from runtime.settings import read_settings
from runtime.telemetry import METRICS, Metrics, configure_logging, correlated, correlation_id, logger


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    stream = io.StringIO()
    configure_logging(read_settings({}), stream)
    yield stream
    root.handlers, level = before
    root.setLevel(level)
    structlog.reset_defaults()


def test_every_line_is_one_json_object_with_the_correlation_id(lines: io.StringIO) -> None:
    with correlated("abc-1"):
        logger("test").info("indexed", documents=3)
        logging.getLogger("library").warning("two\nlines")
    first, second = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert first["event"] == "indexed"
    assert first["documents"] == 3
    assert first["correlation_id"] == second["correlation_id"] == "abc-1"
    assert second["event"] == "two\nlines"


def test_lines_under_the_level_are_not_written(lines: io.StringIO) -> None:
    logger("test").debug("noise")
    assert lines.getvalue() == ""


@pytest.mark.parametrize("asked", ["", None, "a b", "x" * 65, "a\nb", "é"])
def test_an_unusable_correlation_id_is_replaced(asked: str | None) -> None:
    made = correlation_id(asked)
    assert made != asked
    assert len(made) == 16


def test_a_usable_correlation_id_is_kept() -> None:
    assert correlation_id("req.7_A-1") == "req.7_A-1"


def test_metric_names_are_unique_and_carry_their_unit() -> None:
    names = [spec.name for spec in METRICS]
    assert len(set(names)) == len(names)
    for spec in METRICS:
        assert spec.name.startswith("wa_")
        assert (spec.kind == "counter") == spec.name.endswith("_total")
        assert "tenant" not in spec.labels


def test_two_services_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.count("wa_questions_total", outcome="answered")
    one.observe("wa_search_hits", 3)
    one.set("wa_events_lag", 2)
    assert 'wa_questions_total{outcome="answered"} 1.0' in generate_latest(one.registry).decode()
    assert 'wa_questions_total{outcome="answered"} 0.0' in generate_latest(other.registry).decode()
