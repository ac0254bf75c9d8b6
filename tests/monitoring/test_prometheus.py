"""A real Prometheus with the configuration of the room scrapes a real web server."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from api.app import create_app
from runtime.settings import read_settings
from tests.doors.serving import running
from tests.monitoring.promql import MONITORING, alerts, read
from tests.servers import free_port, tool
from tests.worker.queues.conftest import eventually
from worker.opening import open_service


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    settings = read_settings({}, engine_url=f"sqlite:///{tmp_path / 'store.db'}", embedder_threads=1)
    with open_service(settings) as service, running(create_app(service)) as url:
        yield url


@contextmanager
def prometheus(folder: Path, api: str) -> Iterator[httpx.Client]:
    """Looks every second, at this server and at a worker that is not there."""
    told = read(MONITORING / "prometheus.yml")
    told["global"] |= {"scrape_interval": "1s", "evaluation_interval": "1s", "scrape_timeout": "1s"}
    told["rule_files"], told["alerting"] = [str(MONITORING / "rules.yml")], {}
    targets = {"wisdomagent-api": api.removeprefix("http://"), "wisdomagent-worker": f"127.0.0.1:{free_port()}"}
    for job in told["scrape_configs"]:
        job.pop("scrape_timeout", None)
        job["static_configs"] = [{"targets": [targets[job["job_name"]]]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(told), encoding="utf-8")
    port = free_port()
    command = [
        tool("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--enable-feature=exemplar-storage",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, env={"PATH": os.defpath}) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=10) as client:
                eventually(lambda: asked(client, "/query", query='up{job="wisdomagent-api"} == 1'))
                yield client
        finally:
            process.terminate()


def asked(client: httpx.Client, path: str, **parameters: str) -> Any:
    """What Prometheus found; nothing while it starts."""
    try:
        answer = client.get(path, params=parameters).json()
    except (httpx.TransportError, ValueError):
        return None
    data = answer.get("data")
    return data.get("result", data) if isinstance(data, dict) else data


@pytest.mark.live("prometheus")
def test_it_scrapes_the_server_evaluates_every_rule_and_keeps_exemplars(tmp_path: Path, web: str) -> None:
    httpx.post(f"{web}/ask", json={"question": "Is it slow?"}, headers={"x-correlation-id": "seen-by-prometheus"}).raise_for_status()
    with prometheus(tmp_path, web) as client:
        eventually(lambda: asked(client, "/query", query='wa_questions_total{outcome="refused"} == 1 and wa_questions_total'))
        eventually(lambda: asked(client, "/query", query='ALERTS{alertname="WisdomAgentWorkerDown",alertstate="pending"}'))
        eventually(lambda: all(rule["health"] == "ok" for group in asked(client, "/rules")["groups"] for rule in group["rules"]))
        found = {rule["name"] for group in asked(client, "/rules")["groups"] for rule in group["rules"] if rule["type"] == "alerting"}
        assert found == {rule["alert"] for rule in alerts()}
        kept = asked(client, "/query_exemplars", query="wa_ask_duration_seconds_bucket", start="0", end="9999999999")
    labels = [exemplar["labels"] for series in kept for exemplar in series["exemplars"]]
    assert any("trace_id" in each or each.get("correlation_id") == "seen-by-prometheus" for each in labels)
