"""Who is told of what: routes, receivers without secrets, and inhibitions as a real Alertmanager applies them."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.monitoring.promql import MONITORING, alerts, read
from tests.servers import free_port, tool
from tests.worker.queues.conftest import eventually

CONFIG = MONITORING / "alertmanager.yml"
RECEIVERS = {"critical": "pager", "warning": "chat", "info": "nobody"}
DEPLOYMENT = {"deployment": "wisdomagent"}


def amtool(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([tool("amtool"), *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.live("amtool")
def test_amtool_accepts_the_configuration() -> None:
    done = amtool("check-config", str(CONFIG))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.live("amtool")
@pytest.mark.parametrize("severity", RECEIVERS)
def test_an_alert_reaches_the_receiver_of_its_severity(severity: str) -> None:
    labels = [f"severity={severity}", "alertname=WisdomAgentAny"]
    done = amtool("config", "routes", "test", f"--config.file={CONFIG}", f"--verify.receivers={RECEIVERS[severity]}", *labels)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.live("amtool")
def test_an_alert_of_no_known_severity_is_still_seen() -> None:
    assert amtool("config", "routes", "test", f"--config.file={CONFIG}", "--verify.receivers=chat", "alertname=Other").returncode == 0


def test_every_severity_of_the_rules_has_a_route() -> None:
    routed = {matcher for route in read(CONFIG)["route"]["routes"] for matcher in route["matchers"]}
    assert {f'severity="{rule["labels"]["severity"]}"' for rule in alerts()} <= routed


def test_no_address_stands_in_the_configuration_and_every_file_it_reads_is_explained() -> None:
    text = CONFIG.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"\b(?:password|token|secret|routing_key|api_key)\s*:", text)
    explained = (MONITORING / "secrets" / "README.md").read_text(encoding="utf-8")
    files = re.findall(r"_file: (\S+)", text)
    assert files
    assert all(f"`{Path(name).name}`" in explained for name in files)


def test_no_secret_can_be_committed() -> None:
    ignored = (MONITORING.parent / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"monitoring/secrets/*", "!monitoring/secrets/README.md"} <= set(ignored)


def test_inhibitions_name_alerts_that_exist_and_none_silences_itself() -> None:
    names, inhibitions = {rule["alert"] for rule in alerts()}, read(CONFIG)["inhibit_rules"]
    assert len(inhibitions) >= 4
    for rule in inhibitions:
        (source,) = _named(rule["source_matchers"], names)
        targets = _named(rule["target_matchers"], names)
        assert targets
        assert source not in targets


def _named(matchers: list[str], names: set[str]) -> set[str]:
    """The alerts that matchers on the name let through; each name that is spelled out must exist."""
    found = set(names)
    for matcher in matchers:
        label, sign, text = re.fullmatch(r'(\w+)(=~|!=|=)"(.*)"', matcher).groups()  # type: ignore[union-attr]
        if label != "alertname":
            continue
        spelled = re.findall(r"\w+", text.partition("(")[2].rpartition(")")[0]) if "(" in text else [text.removeprefix("WisdomAgent")]
        if ".+" not in text:
            assert {f"WisdomAgent{name}" for name in spelled} <= names, matcher
        found = {name for name in found if bool(re.fullmatch(text, name)) == (sign != "!=")}
    return found


@contextmanager
def alertmanager(folder: Path) -> Iterator[httpx.Client]:
    """A real one on the rules of the room, told to wait for nothing and to send nowhere."""
    told = read(CONFIG)
    quick = {"group_wait": "0s", "group_interval": "1s"}
    told["route"] = {"receiver": "nobody", **quick}
    told["receivers"] = [{"name": "nobody"}]
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(told), encoding="utf-8")
    port = free_port()
    command = [
        tool("alertmanager"),
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env={"PATH": os.defpath}) as process,
    ):
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v2", timeout=10) as client:
                eventually(lambda: _answers(client))
                yield client
        finally:
            process.terminate()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/status").status_code == 200
    except httpx.TransportError:
        return False


def states(client: httpx.Client, fired: list[Mapping[str, str]]) -> list[str]:
    """Fire these alerts and tell how each stands once all are known; the last of them is one that nothing inhibits."""
    client.post("/alerts", json=[{"labels": {**DEPLOYMENT, **labels}} for labels in fired]).raise_for_status()
    found: dict[tuple[tuple[str, str], ...], str] = {}

    def settled() -> bool:
        answer: list[dict[str, Any]] = client.get("/alerts").json()
        found.clear()
        found.update({tuple(sorted(each["labels"].items())): each["status"]["state"] for each in answer})
        return len(found) >= len(fired) and "unprocessed" not in found.values()

    eventually(settled)
    return [found[tuple(sorted({**DEPLOYMENT, **labels}.items()))] for labels in fired]


def named(name: str, **labels: str) -> dict[str, str]:
    return {"alertname": f"WisdomAgent{name}", **labels}


@pytest.mark.live("alertmanager")
@pytest.mark.parametrize(
    ("cause", "consequences", "others"),
    [
        (named("ApiDown"), [named("RefusalRateHigh"), named("WorkerDown"), named("RateLimitingClients", operation="ask")], []),
        (
            named("NotReady"),
            [named("QuestionsFailing"), named("ErrorBudgetBurnFast"), named("TasksFailing", task="deliver")],
            [named("DigestStorm")],
        ),
        (named("CorpusEmpty"), [named("RefusalRateHigh"), named("SearchReturningNothing")], [named("IngestRejectionsHigh")]),
        (
            named("CircuitBreakerOpen", dependency="opensearch"),
            [named("RetryStorm", dependency="opensearch")],
            [named("RetryStorm", dependency="embedder"), named("LanguageModelFailing", endpoint="primary")],
        ),
        (
            named("CircuitBreakerOpen", dependency="llm_primary"),
            [named("LanguageModelFailing", endpoint="primary"), named("RepairsFailing")],
            [named("EventPublishFailures")],
        ),
        (named("CircuitBreakerOpen", dependency="broker"), [named("OutboxGrowing")], [named("RepairsFailing")]),
        (named("WorkerDown"), [named("MonitorsLate"), named("WorkerHeartbeatOld")], [named("RefusalRateHigh")]),
        (named("ErrorBudgetBurnFast"), [named("ErrorBudgetBurnSlow")], [named("AskLatencyHigh")]),
    ],
    ids=["api", "engine", "corpus", "dependency", "model", "broker", "worker", "budget"],
)
def test_one_cause_is_one_message(
    tmp_path: Path, cause: dict[str, str], consequences: list[dict[str, str]], others: list[dict[str, str]]
) -> None:
    expected = ["active", *["suppressed"] * len(consequences), *["active"] * len(others)]
    with alertmanager(tmp_path) as client:  # what was taken up before its cause is suppressed at the next look
        eventually(lambda: states(client, [cause, *consequences, *others]) == expected)
