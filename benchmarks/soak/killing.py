"""The processes of a deployment, and what kills one of them after the other."""

import itertools
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import psutil

from benchmarks.hostile.server import Served, await_health, free_port, started, stop
from tests.faults.proxy import Proxy
from tests.servers import ValkeyServer

AWAY_S = 4.0
"""How long what was killed stays away."""


@dataclass
class Deployment:
    """Server, worker and Valkey, and a proxy in front of the cluster where there is one."""

    folder: Path
    environment: dict[str, str]
    valkey: ValkeyServer
    proxy: Proxy | None
    served: Served
    worker: "subprocess.Popen[bytes]"
    kills: list[tuple[float, str]] = field(default_factory=list)
    memory: dict[str, list[tuple[float, int, float]]] = field(default_factory=dict)
    """By process: seconds since the start, process id, megabytes."""

    def dependencies(self) -> dict[str, Callable[[], None]]:
        """How each of them is killed and comes back."""
        kills: dict[str, Callable[[], None]] = {"valkey": self._valkey, "worker": self._worker, "server": self._server}
        return kills | ({"engine": self._engine} if self.proxy else {})

    def _valkey(self) -> None:
        self.valkey.kill()
        time.sleep(AWAY_S)
        self.valkey.start()

    def _worker(self) -> None:
        kill_tree(self.worker)
        time.sleep(AWAY_S)
        self.worker = start_worker(self.folder, self.environment)

    def _server(self) -> None:
        self.served.process.kill()
        self.served.process.wait(30)
        time.sleep(AWAY_S / 2)
        process = started("serve", "--port", str(self.served.port), log=self.served.log, environment=self.environment)
        self.served = Served(process, self.served.port, self.served.log)
        await_health(self.served)

    def _engine(self) -> None:
        assert self.proxy is not None
        self.proxy.fail("refused")
        time.sleep(AWAY_S)
        self.proxy.heal()

    def measure(self, since: float) -> None:
        """How much memory each process of ours holds now."""
        for name, pid in (("server", self.served.process.pid), ("worker", self.worker.pid)):
            try:
                process = psutil.Process(pid)
                held = sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
            except psutil.Error:
                continue
            self.memory.setdefault(name, []).append((since, pid, held / 2**20))


@contextmanager
def deployed(folder: Path, engine: str, prefix: str, tick_s: float) -> Iterator[Deployment]:
    """Everything running; ``engine`` is the URL of a cluster, or blank for the embedded engine."""
    with ExitStack() as stack:
        valkey = ValkeyServer(folder, free_port())
        valkey.start()
        stack.callback(valkey.stop)
        proxy = _proxy(engine)
        if proxy is not None:
            stack.callback(proxy.close)
        environment = {
            "WA_ENGINE_URL": f"http://127.0.0.1:{proxy.port}" if proxy else f"sqlite:///{folder / 'wisdom.db'}",
            "WA_INDEX_PREFIX": prefix,
            "WA_REDIS_URL": valkey.url,
            "WA_MONITOR_INTERVAL_S": str(tick_s),
            "WA_WORKER_CONCURRENCY": "1",
            "WA_WORKER_METRICS_PORT": "0",
            "WA_EMBEDDER_THREADS": "1",
            "WA_LOG_FORMAT": "json",
            "WA_LOG_LEVEL": "WARNING",
            "WA_BREAKER_OPEN_S": "2",
        }
        served = Served(
            started("serve", "--port", str(port := free_port()), log=folder / "server.log", environment=environment),
            port,
            folder / "server.log",
        )
        deployment = Deployment(folder, environment, valkey, proxy, served, start_worker(folder, environment))
        stack.callback(lambda: kill_tree(deployment.worker))
        stack.callback(lambda: stop(deployment.served.process))
        await_health(served)
        yield deployment


def _proxy(engine: str) -> Proxy | None:
    if not engine:
        return None
    where = urlsplit(engine)
    proxy = Proxy((where.hostname or "127.0.0.1", where.port or 9200))
    proxy.start()
    return proxy


def start_worker(folder: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """``wisdom worker``, workers and beat in one."""
    return started("worker", log=folder / "worker.log", environment=environment)


def kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """The process and everything it started, at once, as when the machine is switched off."""
    with suppress(psutil.NoSuchProcess):
        seen = psutil.Process(process.pid)
        for each in (seen, *seen.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                each.kill()
    process.wait(30)


def kill_in_turn(deployment: Deployment, every_s: float, seed: int, stopping: threading.Event, failed: Callable[[str], None]) -> None:
    """Kill a random one of the dependencies every so often; each of them once before any of them again."""
    random, begun = Random(seed), time.monotonic()
    for _ in itertools.count():
        order = sorted(deployment.dependencies())
        random.shuffle(order)
        for name in order:
            if stopping.wait(every_s):
                return
            deployment.kills.append((round(time.monotonic() - begun, 1), name))
            try:
                deployment.dependencies()[name]()
            except Exception as error:  # noqa: BLE001 (what does not come back is what we look for)
                failed(f"{name} did not come back: {type(error).__name__}: {error}")
