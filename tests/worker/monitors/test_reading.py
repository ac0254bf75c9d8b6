"""Monitors as callers write them, and what is said of those that cannot be read."""

from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.errors import Conflict, InvalidRequest
from tests.worker.monitors.watch import QUESTION, Watch, given
from worker.deliveries.receivers import Receiver, masked
from worker.monitors.condition_json import condition_as_json, condition_from_json
from worker.monitors.conditions import Answered, Change, Condition, Count, Share
from worker.monitors.monitor import monitor_as_json, monitor_from_json
from worker.monitors.reading import monitor_from
from worker.monitors.saving import Saving
from worker.monitors.window import window_starting

NOW = datetime(2026, 11, 20, 8, tzinfo=UTC)


def test_both_casings_and_every_unit_are_read() -> None:
    camel = {
        "name": "Crash volume",
        "question": QUESTION,
        "condition": {"countAtLeast": 10},
        "windowMinutes": 90,
        "cadenceSeconds": 600,
        "consecutiveBreaches": 2,
        "cooldownHours": 6,
        "filters": {"ratingMax": 2, "themeIds": ["app"], "attributes": [{"key": "plan", "value": "pro"}]},
        "receivers": [{"kind": "webhook", "address": "https://hooks.example.org/a"}, {"channel": "STREAM"}],
    }
    snake = {
        "name": "Crash volume",
        "question": QUESTION,
        "condition": {"count_at_least": 10},
        "window_s": 5400,
        "cadence_minutes": 10,
        "consecutive_breaches": 2,
        "cooldown_minutes": 360,
        "filters": {"rating_max": 2, "theme_ids": ["app"], "attributes": {"plan": "pro"}},
        "receivers": [{"channel": "webhook", "target": "https://hooks.example.org/a"}, {"kind": "stream", "address": ""}],
    }
    read = monitor_from(camel, NOW)
    assert read == monitor_from(snake, NOW)
    assert (read.monitor_id, read.window_s, read.cadence_s, read.cooldown_s) == ("crash-volume", 5400, 600, 21_600)
    assert read.receivers == (Receiver("webhook", "https://hooks.example.org/a"), Receiver("stream"))


def test_what_is_stored_comes_back() -> None:
    read = monitor_from(given(match="crash", severity="CRITICAL", filters={"sources": ["web"]}, receivers=[{"channel": "stream"}]), NOW)
    assert monitor_from_json(read.monitor_id, 0, monitor_as_json(read)) == read
    assert read.severity == "critical"


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"name": None}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "日本"}, "id"),
        ({"id": "no spaces"}, "id"),
        ({"question": None}, "question"),
        ({"question": 3}, "question"),
        ({"question": "hello"}, "question"),
        ({"question": "What about refunds last week?"}, "question"),
        ({"match": ""}, "match"),
        ({"condition": None}, "condition"),
        ({"condition": {}}, "condition"),
        ({"condition": {"count_at_least": 1, "refused": True}}, "condition"),
        ({"condition": {"count_at_least": 0}}, "condition.count_at_least"),
        ({"condition": {"count_at_least": 2.5}}, "condition.count_at_least"),
        ({"condition": {"count_at_least": True}}, "condition.count_at_least"),
        ({"condition": {"count_at_least": 5, "min_documents": 3}}, "condition.min_documents"),
        ({"condition": {"share_at_least": 1.2}}, "condition.share_at_least"),
        ({"condition": {"share_at_least": float("nan")}}, "condition.share_at_least"),
        ({"condition": {"change_at_least": 0}}, "condition.change_at_least"),
        ({"condition": {"change_at_least": 1.5, "direction": "down"}}, "condition.change_at_least"),
        ({"condition": {"change_at_least": 1, "direction": "sideways"}}, "condition.direction"),
        ({"condition": {"refused": False}}, "condition.refused"),
        ({"window_hours": None, "window_days": 0}, "window_days"),
        ({"window_minutes": 5}, "window_hours"),
        ({"window_hours": 9000}, "window_hours"),
        ({"window_hours": "1"}, "window_hours"),
        ({"cadence_hours": None, "cadence_s": 0.5}, "cadence_s"),
        ({"consecutive_breaches": 0}, "consecutive_breaches"),
        ({"cooldown_s": -1}, "cooldown_s"),
        ({"severity": "panic"}, "severity"),
        ({"paused": "yes"}, "paused"),
        ({"receivers": "ops"}, "receivers"),
        ({"receivers": ["ops"]}, "receivers"),
        ({"receivers": [{"channel": "pigeon"}]}, "receivers.channel"),
        ({"receivers": [{"channel": "email", "target": "nobody"}]}, "receivers.target"),
        ({"receivers": [{"channel": "stream"}] * 21}, "receivers"),
        ({"filters": []}, "filters"),
        ({"filters": {"since": "2026-01-01"}}, "filters.since"),
        ({"filters": {"colour": "red"}}, "filters.colour"),
        ({"filters": {"sources": []}}, "filters.sources"),
        ({"filters": {"rating_min": 4, "rating_max": 1}}, "filters.rating_min"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_problem_names_its_field(members: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        monitor_from(given(**members), NOW)
    assert caught.value.field == field


@pytest.mark.parametrize("what", [None, [], "monitor", 3])
def test_what_is_no_object_is_named(what: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        monitor_from(what, NOW)
    assert caught.value.field == "monitor"


@pytest.mark.parametrize(
    "condition",
    [
        Count(at_least=10),
        Count(at_most=0),
        Share(at_least=0.2, min_documents=5),
        Share(at_most=0.2),
        Change(0.5),
        Change(1.0, "down", "share", 7, 50),
        Answered(groundedness_below=0.7),
        Answered(refused=True),
    ],
)
def test_every_condition_comes_back_from_its_json(condition: Condition) -> None:
    assert condition_from_json(condition_as_json(condition)) == condition


def test_saving_with_an_expected_version(watch: Watch) -> None:
    monitor = monitor_from(given(), NOW)
    assert watch.monitors.save(watch.tenant, monitor, 0).version == 1
    with pytest.raises(Conflict, match="exists already"):
        watch.monitors.save(watch.tenant, monitor, 0)
    assert watch.monitors.save(watch.tenant, monitor, 1).version == 2
    with pytest.raises(Conflict, match="version 2, not 1"):
        watch.monitors.save(watch.tenant, monitor, 1)


def test_a_masked_address_means_the_one_that_is_saved(watch: Watch) -> None:
    saving = Saving(watch.monitors, watch.evaluator, watch.clock)
    target = "https://hooks.example.org/secret"
    saved = saving.save(watch.tenant, given(id="m", receivers=[{"channel": "webhook", "target": target}]))
    shown = {"channel": "webhook", "target": masked(saved.receivers[0])}
    assert saving.save(watch.tenant, given(id="m", receivers=[shown, {"channel": "stream"}])).receivers[0].target == target
    with pytest.raises(InvalidRequest, match="masked"):
        saving.save(watch.tenant, given(id="another", receivers=[shown]))


@pytest.mark.parametrize(
    "start", ["0001-01-01T00:00:00+14:00", "0001-01-01T00:00:10Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00"]
)
def test_a_window_at_the_end_of_time_is_no_window(start: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        window_starting(datetime.fromisoformat(start), NOW, 86_400, 7 * 86_400)
    assert caught.value.field == "window_start"
