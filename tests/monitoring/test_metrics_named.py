"""Rules, boards and runbooks name metrics that exist, with the labels and values they have; and no metric is told for nobody."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from grounding.answers import RefusalReason
from grounding.evaluation.metrics import METRICS as SCORES
from runtime.telemetry import METRICS, PROCESS_METRICS
from tests.monitoring.promql import board_expressions, expressions, family, grouped_by, known, selectors
from tests.servers import tool
from worker.deliveries import duty as deliveries
from worker.evaluations import duty as evaluations
from worker.jobs import next_work as jobs
from worker.jobs.job import ENDED
from worker.monitors import duty as monitors
from worker.monitors.monitor import SEVERITIES

NOT_SHOWN = {
    "process_virtual_memory_bytes": "says nothing that resident memory does not",
    "process_start_time_seconds": "only a condition of a rule",
}
"""Metrics that are on no board, with the reason."""


@pytest.mark.parametrize(("place", "expression"), expressions(), ids=[place for place, _ in expressions()])
def test_an_expression_names_only_what_exists(place: str, expression: str) -> None:
    series, found = known(), list(selectors(expression))
    assert found or "wa:" in expression, place
    for each in found:
        assert each.metric in series
        assert each.labels <= series[each.metric].labels
        if series[each.metric].values:
            assert {value for label, value in each.values if label not in ("job", "instance")} <= set(series[each.metric].values)
    assert not found or grouped_by(expression) <= set().union(*(series[each.metric].labels for each in found))


@pytest.mark.live("promtool")
def test_prometheus_can_read_every_expression_of_the_boards(tmp_path: Path) -> None:
    recorded = [{"record": f"board:{number}", "expr": expression} for number, (_, expression) in enumerate(board_expressions())]
    (tmp_path / "boards.yml").write_text(yaml.safe_dump({"groups": [{"name": "boards", "rules": recorded}]}), encoding="utf-8")
    done = subprocess.run(
        [tool("promtool"), "check", "rules", str(tmp_path / "boards.yml")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_is_on_a_board_or_has_a_reason_not_to_be() -> None:
    shown = {family(each.metric) for _, expression in board_expressions() for each in selectors(expression)}
    recorded = {"wa_requests_total"}  # by way of the recorded ratio
    every = {spec.name for spec in METRICS} | set(PROCESS_METRICS)
    assert every - shown - recorded == NOT_SHOWN.keys() - shown


def test_values_that_are_told_from_the_start_are_those_of_the_program() -> None:
    values = {spec.name: spec.values for spec in METRICS}
    assert set(values["wa_refusals_total"]) == {reason.value for reason in RefusalReason}
    assert set(values["wa_digests_published_total"]) == set(SEVERITIES)
    assert set(values["wa_jobs_total"]) == set(ENDED)


def test_scores_that_are_better_when_lower_are_watched_in_that_direction() -> None:
    lower = {score.name for score in SCORES if score.unit == "ratio" and not score.higher_is_better}
    (rule,) = [expression for place, expression in expressions() if place == "WisdomAgentEvalScoreRegressed"]
    for named in re.findall(r'metric[!=]~"([^"]*)"', rule):
        assert set(named.split("|")) == lower


def test_duties_that_rules_name_are_duties() -> None:
    named = {value for _, expression in expressions() for each in selectors(expression) for label, value in each.values if label == "task"}
    spelled = {value for _, expression in expressions() for value in re.findall(r'task="([^"]*)"', expression)}
    duties = {duty.NAME for duty in (monitors, deliveries, evaluations, jobs)}
    assert named | spelled
    assert {name.removesuffix(".due") for name in named | spelled} <= duties
