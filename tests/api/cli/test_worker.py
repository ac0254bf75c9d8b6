"""``wisdom worker`` and its dead letters, as users have them."""

import json
import signal
import subprocess
from itertools import takewhile
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant
from search.embedding.opening import open_embedder
from search.engines.opening import open_engine
from tests.api.cli.conftest import Run, arguments, environment
from worker.duties import Work
from worker.queues.dead_letters import DeadLetters

ACME = Tenant("acme")


@pytest.fixture
def given_up(tmp_path: Path) -> str:
    """The URL of a store with two dead letters of acme."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    settings, clock = read_settings({}, engine_url=url), SystemClock()
    with open_embedder(settings) as embedder, open_engine(settings, embedder, clock) as store:
        for name in ("m1", "m2"):
            DeadLetters(store.state, clock).write(Work("monitors", ACME, (name,)), "NotFound: no such monitor", 3)
    return url


def test_dead_letters_are_listed_with_what_why_and_how_often(run: Run, given_up: str) -> None:
    ended = run("worker", "dead-letters", "list", "--tenant", "acme", "--engine", given_up, "--json")
    letters = json.loads(ended.stdout)["deadLetters"]
    assert {letter["key"][0] for letter in letters} == {"m1", "m2"}
    assert {(letter["duty"], letter["error"], letter["attempts"]) for letter in letters} == {("monitors", "NotFound: no such monitor", 3)}
    assert "NotFound: no such monitor" in run("worker", "dead-letters", "list", "--tenant", "acme", "--engine", given_up).stdout


def test_another_tenant_sees_none(run: Run, given_up: str) -> None:
    assert "nothing was given up" in run("worker", "dead-letters", "list", "--tenant", "globex", "--engine", given_up).stdout


@pytest.mark.parametrize("action", ["retry", "drop"])
def test_each_is_retried_or_dropped_once(run: Run, given_up: str, action: str) -> None:
    where = ("--tenant", "acme", "--engine", given_up)
    letter_id = Work("monitors", ACME, ("m1",)).work_id
    assert run("worker", "dead-letters", action, letter_id, *where).returncode == 0
    again = run("worker", "dead-letters", action, letter_id, *where)
    assert again.returncode == 1
    assert f"there is no dead letter {letter_id}" in again.stderr
    assert json.loads(run("worker", "dead-letters", action, "--all", *where, "--json").stdout)["missing"] == []
    assert "nothing was given up" in run("worker", "dead-letters", "list", *where).stdout


@pytest.mark.slow
def test_a_local_worker_says_what_runs_and_stops_cleanly(tmp_path: Path) -> None:
    command = arguments("worker", "--local", "--concurrency", "3", "--engine", f"sqlite:///{tmp_path / 'store.db'}")
    variables = {"WA_WORKER_METRICS_PORT": "0", "WA_LOG_FORMAT": "json"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(tmp_path, **variables)) as worker:
        assert worker.stderr is not None
        said = list(takewhile(lambda line: '"ready"' not in line, worker.stderr))
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    assert said[0].startswith(
        "WisdomAgent worker: 3 pieces of work at once, for monitors, deliveries, ingest, evaluation, events; looks for due work"
    )
    assert "no broker" in said[1]


def test_a_worker_without_a_broker_says_what_to_do(run: Run) -> None:
    ended = run("worker")
    assert ended.returncode == 1
    assert "WA_REDIS_URL" in ended.stderr
    assert "wisdom worker --local" in ended.stderr


def test_timeouts_that_contradict_each_other_are_named(run: Run) -> None:
    ended = run("worker", WA_REDIS_URL="redis://127.0.0.1:9/0", WA_WORKER_TIME_LIMIT_S="900")
    assert ended.returncode == 1
    assert "WA_WORKER_VISIBILITY_TIMEOUT_S" in ended.stderr
    assert "WA_WORKER_TIME_LIMIT_S" in ended.stderr


def test_the_doctor_says_that_the_broker_is_down_without_its_password(run: Run) -> None:
    ended = run("doctor", "--json", WA_REDIS_URL="redis://:hunter2@127.0.0.1:9/0")
    (worker,) = (check for check in json.loads(ended.stdout)["checks"] if check["name"] == "worker")
    assert (worker["status"], "monitors are late" in worker["found"]) == ("warning", True)
    assert "hunter2" not in ended.stdout + ended.stderr
