"""A plant of workers for tests: a broker of its own, a state store in a file, and as many child processes as a test wants."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime.settings import Settings, read_settings
from search.ports import StateStore
from tests.servers import ROOT, ValkeyServer, running_valkey
from tests.worker.queues.windows import Channel, open_state

QUICK = {
    "WA_MONITOR_INTERVAL_S": "1",
    "WA_WORKER_TIME_LIMIT_S": "4",
    "WA_WORKER_VISIBILITY_TIMEOUT_S": "6",
    "WA_WORKER_CONCURRENCY": "2",
    "WA_WORKER_METRICS_PORT": "0",
    "WA_BREAKER_OPEN_S": "1",
    "WA_LOG_FORMAT": "json",
}


@dataclass
class Plant:
    """Everything a test of running duties needs."""

    broker: ValkeyServer
    store: Path
    state: StateStore
    channel: Channel
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
        return kept | QUICK | {"WA_REDIS_URL": self.broker.url, "WA_ENGINE_URL": f"sqlite:///{self.store}"} | more

    def settings(self, **more: str) -> Settings:
        return read_settings(self.environment(**more))

    def start(self, kind: str = "both", *, duty: str = "windows", **more: str) -> "subprocess.Popen[bytes]":
        """A process of this kind: worker, beat, both or local; with the test duty ``windows`` or the real one of ``monitors``."""
        command = [sys.executable, "-m", "tests.worker.queues.worker_process", kind, duty, self.channel.url, self.channel.name]
        log = (self.store.parent / "workers.log").open("ab")
        with log:
            process = subprocess.Popen(command, cwd=ROOT, env=self.environment(**more), stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        return process

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """End it and what it started at once, as a machine that fails would."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        self.processes.remove(process)

    def log(self) -> str:
        """What all processes said."""
        return (self.store.parent / "workers.log").read_text()

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        if self.processes:
            sys.stdout.write(self.log()[-20_000:])  # shown when the test fails


def eventually(found: Callable[[], object], within_s: float = 60.0) -> None:
    """Wait for what other processes do, where they tell nobody."""
    waiting = threading.Event()
    for _ in range(int(within_s / 0.1)):
        if found():
            return
        waiting.wait(0.1)
    raise AssertionError("never happened")


@pytest.fixture
def broker() -> Iterator[ValkeyServer]:
    """A Valkey of the test's own, which it may kill. It forgets everything then: the worst case."""
    with running_valkey() as server:
        yield server


@pytest.fixture
def plant(valkey_url: str, broker: ValkeyServer, tmp_path: Path) -> Iterator[Plant]:
    store = tmp_path / "store.db"
    with open_state(store) as state:
        plant = Plant(broker, store, state, Channel(valkey_url, uuid.uuid4().hex))
        try:
            yield plant
        finally:
            plant.close()
