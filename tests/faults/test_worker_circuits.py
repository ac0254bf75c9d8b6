"""A worker of several processes tells what their circuits are, and whose pieces it hands back when it is stopped. Real processes and a real broker."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from tests.servers import ROOT, free_port
from tests.worker.queues.conftest import Plant, broker, eventually, plant  # noqa: F401 (fixtures)
from tests.worker.queues.windows import digests, plan
from worker.queues.counts import CountsOfAllProcesses
from worker.queues.guard_notes import FOLDER, forget_the_dead

CHILD = """
import sys
from runtime.clock import SystemClock
from runtime.errors import Unavailable
from runtime.resilience import Guard
from runtime.telemetry import Metrics
from worker.queues.counts import CountsOfAllProcesses
from worker.queues.guard_notes import guards_noted

class Held:
    guards = (Guard("the index", timeout_s=1.0, clock=SystemClock(), breaker_failures=1, breaker_open_s=600.0, sleep=lambda _seconds: None),)

def fail(_timeout_s):
    raise Unavailable("down", dependency="the index")

metrics = Metrics()
metrics.watch(Held())
if sys.argv[1] == "ill":
    try:
        Held.guards[0].call(fail, repeatable=True)
    except Unavailable:
        pass
with guards_noted(metrics):
    print("noted", flush=True)
    sys.stdin.read()
"""


def process_with(folder: Path, how: str) -> "subprocess.Popen[str]":
    """A process of a pool whose dependency is ``well`` or ``ill``."""
    command = [sys.executable, "-c", CHILD, how]
    environment = os.environ | {FOLDER: str(folder)}
    started = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "noted\n"
    return started


def told(folder: Path) -> str:
    registry = CollectorRegistry()
    registry.register(CountsOfAllProcesses(folder))
    return generate_latest(registry).decode()


def test_the_circuits_of_all_processes_are_told_together_and_those_of_a_killed_one_no_more(tmp_path: Path) -> None:
    with process_with(tmp_path, "well") as well, process_with(tmp_path, "ill") as ill:
        eventually(lambda: 'wa_breaker_state{dependency="the index"} 2.0' in told(tmp_path), within_s=20)
        assert 'wa_retries_total{dependency="the index"} 2.0' in told(tmp_path)
        assert 'wa_bulkhead_in_flight{dependency="the index"} 0.0' in told(tmp_path)
        ill.kill()
        ill.wait(20)
        forget_the_dead(tmp_path)
        assert 'wa_breaker_state{dependency="the index"} 0.0' in told(tmp_path)
        assert 'wa_retries_total{dependency="the index"} 2.0' in told(tmp_path)
        well.communicate(timeout=20)
    assert "wa_breaker_state{" not in told(tmp_path)


def test_a_process_that_has_only_begun_to_count_spoils_nothing(tmp_path: Path) -> None:
    with process_with(tmp_path, "ill") as ill:
        (tmp_path / f"counter_{2**22 + 1}.db").touch()
        eventually(lambda: 'wa_breaker_state{dependency="the index"} 2.0' in told(tmp_path), within_s=20)
        ill.communicate(timeout=20)


@pytest.mark.live("valkey")
def test_a_worker_tells_of_its_circuits(plant: Plant) -> None:  # noqa: F811
    port = free_port()
    plant.start("both", WA_WORKER_METRICS_PORT=str(port))
    plan(plant.state, "w1")
    plant.channel.await_all("finished:w1")
    address = f"http://127.0.0.1:{port}/metrics"
    eventually(lambda: 'wa_breaker_state{dependency="broker"} 0.0' in httpx.get(address).text, within_s=20)


def test_what_a_killed_process_left_is_forgotten_by_its_successor(tmp_path: Path) -> None:
    gone, here = 2**22 + 1, os.getpid()
    for process in (gone, here):
        (tmp_path / f"gauge_livemax_{process}.db").touch()
        (tmp_path / f"counter_{process}.db").touch()
    forget_the_dead(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"counter_{gone}.db", f"counter_{here}.db", f"gauge_livemax_{here}.db"]
    )


@pytest.mark.live("valkey")
@pytest.mark.parametrize("kind", ["both", "local"])
def test_a_worker_that_is_stopped_finishes_what_runs_and_leaves_the_rest_to_the_next(kind: str, plant: Plant) -> None:  # noqa: F811
    plan(plant.state, "running", mode="waits")
    worker = plant.start(kind, WA_WORKER_CONCURRENCY="1", WA_WORKER_TIME_LIMIT_S="30", WA_WORKER_VISIBILITY_TIMEOUT_S="900")
    plant.channel.await_all("started:running")
    for number in range(3):
        plan(plant.state, f"rest{number}")
    worker.send_signal(signal.SIGTERM)
    plant.channel.allow("running")
    plant.channel.await_all("finished:running", within_s=30)
    assert worker.wait(60) == 0
    plant.start(kind)
    told = plant.channel.await_all(*(f"digest:rest{number}" for number in range(3) if f"rest{number}" not in digests(plant.state)))
    assert not any(each == "started:running" for each in told)
    assert sorted(digests(plant.state)) == ["rest0", "rest1", "rest2", "running"]
