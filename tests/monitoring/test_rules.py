"""Alert rules: complete, documented, and each proven to fire and to be silent by Prometheus's own tool."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.promql import MONITORING, ROOT, alerts, read
from tests.servers import tool

GROUPS = {f"wisdomagent-{name}" for name in ("slo", "correctness", "agent", "pipeline", "resilience", "capacity")}
TESTS = sorted((MONITORING / "tests").glob("*.yml"))


def promtool(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, timeout=120, check=False)


def cases() -> list[tuple[str, bool]]:
    """Each case of the rule tests: the alert, and whether it is expected to fire."""
    return [
        (case["alertname"], bool(case["exp_alerts"])) for path in TESTS for test in read(path)["tests"] for case in test["alert_rule_test"]
    ]


def test_there_are_rules_of_every_group_and_their_names_are_unique() -> None:
    found = alerts()
    assert len(found) >= 27
    assert {rule["group"] for rule in found} == GROUPS
    assert len({rule["alert"] for rule in found}) == len(found)
    assert all(rule["alert"].startswith("WisdomAgent") for rule in found)


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_a_rule_says_how_urgent_it_is_what_it_is_about_and_where_to_read_on(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["labels"]["component"]
    assert rule["annotations"].keys() == {"summary", "description", "runbook"}
    assert all(text.strip() for text in rule["annotations"].values())
    page = (ROOT / rule["annotations"]["runbook"]).read_text(encoding="utf-8")
    assert page.startswith(f"# {rule['alert']}\n")


def test_every_rule_has_a_case_in_which_it_fires_and_one_in_which_it_is_silent() -> None:
    names = {rule["alert"] for rule in alerts()}
    assert {name for name, fires in cases() if fires} == names
    assert {name for name, fires in cases() if not fires} == names


def test_a_silent_case_reads_the_same_metrics_as_the_firing_one() -> None:
    """Silence for want of data would prove nothing."""
    read_by: dict[tuple[str, bool], set[str]] = {}
    for path in TESTS:
        for test in read(path)["tests"]:
            (case,) = test["alert_rule_test"]
            read_by[case["alertname"], bool(case["exp_alerts"])] = {each["series"].split("{")[0] for each in test["input_series"]}
    missing = {name: read_by[name, True] - read_by[name, False] for name, fires in read_by if fires}
    assert not {name: names for name, names in missing.items() if names}


@pytest.mark.live("promtool")
@pytest.mark.parametrize(
    "arguments",
    [("check", "rules", "--lint=all", "--lint-fatal", "rules.yml"), ("check", "config", "prometheus.yml")],
    ids=["rules", "configuration"],
)
def test_promtool_accepts(arguments: tuple[str, ...]) -> None:
    done = promtool(*arguments[:-1], str(MONITORING / arguments[-1]))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.live("promtool")
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_the_rules_fire_and_are_silent_as_they_should(path: Path) -> None:
    done = promtool("test", "rules", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.live("promtool")
def test_a_rule_test_that_is_wrong_is_found_out(tmp_path: Path) -> None:
    text = (MONITORING / "tests" / "resilience.yml").read_text(encoding="utf-8").replace("../rules.yml", str(MONITORING / "rules.yml"))
    (tmp_path / "wrong.yml").write_text(text.replace("severity: 'warning'", "severity: 'critical'"), encoding="utf-8")
    assert promtool("test", "rules", str(tmp_path / "wrong.yml")).returncode == 1


def test_severities_are_in_proportion() -> None:
    """Whoever is called for everything stops coming."""
    count = Counter(rule["labels"]["severity"] for rule in alerts())
    assert count["critical"] <= len(alerts()) / 3
