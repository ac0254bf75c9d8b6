"""``wisdom serve`` as a process of its own on a store that two tenants have filled, watched from outside."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Vitals:
    """What the process holds."""

    rss_mb: float
    threads: int
    files: int


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def vitals(self) -> Vitals:
        """As of now."""
        seen = psutil.Process(self.process.pid)
        return Vitals(seen.memory_info().rss / 2**20, seen.num_threads(), seen.num_fds())

    def alive(self) -> bool:
        """Whether it runs and says so."""
        return self.process.poll() is None and httpx.get(f"{self.url}/health", timeout=10).status_code == 200


@contextmanager
def serving(folder: Path, environment: Mapping[str, str]) -> Iterator[Served]:
    """A server with this environment, until the end. Its log is ``folder/server.log``."""
    port, log = free_port(), folder / "server.log"
    process = started("serve", "--port", str(port), log=log, environment=environment)
    try:
        served = Served(process, port, log)
        await_health(served)
        yield served
    finally:
        stop(process)


def started(*words: str, log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """``wisdom WORDS`` with nothing of our own environment that begins with ``WA_``."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("WA_")} | dict(environment)
    with log.open("ab") as file:
        command = [sys.executable, "-m", "api.cli.main", *words]
        return subprocess.Popen(command, cwd=ROOT, env=given, stdin=subprocess.DEVNULL, stdout=file, stderr=file)  # noqa: S603 (our own module)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """As a supervisor does: asked first."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)


def await_health(served: Served) -> None:
    """Return when it answers.

    Raises:
        RuntimeError: it ended, or does not answer; with what it wrote last.
    """
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until and served.process.poll() is None:
        try:
            if httpx.get(f"{served.url}/ready", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {served.log.read_text()[-2000:]}")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def log_lines(log: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log; what is no JSON comes as the event of an error."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith("{"):
                if line.strip() and not re.match(r"WisdomAgent on |development mode", line):
                    yield {"level": "error", "event": line.strip()[:500], "logger": "not JSON"}
                continue
            try:
                yield json.loads(line)
            except ValueError:
                yield {"level": "error", "event": f"broken line {line[:200]!r}"}
