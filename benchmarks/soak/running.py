"""One soak: a deployment, the load, the kills, the checks, the report."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.hostile.server import log_lines
from benchmarks.soak.checking import check_as_caller, memory_findings
from benchmarks.soak.killing import Deployment, deployed, kill_in_turn
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.load import Load
from tests.servers import remove_prefix

MEASURED_EVERY_S = 5.0
TICK_S = 3.0


@dataclass(frozen=True, slots=True)
class Soak:
    """What to do."""

    seconds: float
    kill_every_s: float
    engine: str
    prefix: str
    seed: int


@dataclass(frozen=True, slots=True)
class Soaked:
    """What happened."""

    seconds: float
    ledger: Ledger
    kills: tuple[tuple[float, str], ...]
    memory: dict[str, list[tuple[float, int, float]]]
    findings: tuple[str, ...]


def soak(wanted: Soak, folder: Path) -> Soaked:
    """Do it, in a folder that is empty."""
    ledger = Ledger()
    try:
        with deployed(folder, wanted.engine, wanted.prefix, TICK_S) as deployment:
            load = Load(deployment.served.url, ledger, wanted.seed)
            load.prepare()
            listener = load.listener()
            listener.start()
            seconds = _loaded(wanted, deployment, load)
            check_as_caller(deployment.served.url, ledger)
            load.hushed.set()
            listener.join()
            memory = deployment.memory
            kills = tuple(deployment.kills)
    finally:
        if wanted.engine:
            remove_prefix(wanted.engine, wanted.prefix)
    findings = (*ledger.findings, *memory_findings(memory), *_unplanned(folder))
    return Soaked(seconds, ledger, kills, memory, findings)


def _loaded(wanted: Soak, deployment: Deployment, load: Load) -> float:
    """The load and the kills, until the time is over; how long it took."""
    begun, killing_ends = time.monotonic(), threading.Event()
    killer = threading.Thread(
        target=kill_in_turn,
        args=(deployment, wanted.kill_every_s, wanted.seed, killing_ends, load.ledger.found),
        name="killer",
        daemon=True,
    )
    threads = load.threads()
    for thread in (*threads, killer):
        thread.start()
    while time.monotonic() - begun < wanted.seconds:
        deployment.measure(round(time.monotonic() - begun, 1))
        time.sleep(min(MEASURED_EVERY_S, wanted.seconds / 20))
    killing_ends.set()
    killer.join()
    load.stopping.set()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def _unplanned(folder: Path) -> Iterator[str]:
    """Errors in the logs that nobody planned: an accident has an id, an outage has none."""
    for log in ("server.log", "worker.log"):
        for line in log_lines(folder / log):
            if line.get("error_id"):
                yield f"{log}: {line.get('event')} {str(line.get('exception', ''))[-300:]}"


def written(wanted: Soak, done: Soaked, folder: Path) -> None:
    """The report as JSON and as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.json").write_text(json.dumps(_as_json(wanted, done), indent=1) + "\n", encoding="utf-8")
    (folder / "soak.md").write_text("\n".join(markdown(wanted, done)) + "\n", encoding="utf-8")


def _as_json(wanted: Soak, done: Soaked) -> dict[str, Any]:
    return {
        "seconds": round(done.seconds, 1),
        "killEverySeconds": wanted.kill_every_s,
        "engine": "cluster" if wanted.engine else "embedded",
        "seed": wanted.seed,
        "done": dict(done.ledger.done),
        "outages": dict(done.ledger.outages),
        "kills": [{"at": at, "what": what} for at, what in done.kills],
        "memory": {
            name: [{"at": at, "pid": pid, "mb": round(held, 1)} for at, pid, held in samples] for name, samples in done.memory.items()
        },
        "findings": list(done.findings),
    }


def markdown(wanted: Soak, done: Soaked) -> Iterator[str]:
    """A table, line by line."""
    engine = "a cluster behind a proxy" if wanted.engine else "the embedded engine"
    yield f"{done.seconds / 60:.1f} minutes of load on {engine}, a kill every {wanted.kill_every_s:g} s, seed {wanted.seed}"
    yield ""
    yield "| what | times |"
    yield "|---|---|"
    for what, times in sorted(done.ledger.done.items()):
        yield f"| {what} | {times:,} |"
    for name in sorted({name for _, name in done.kills}):
        yield f"| {name} killed | {sum(1 for _, each in done.kills if each == name)} |"
    for why, times in sorted(done.ledger.outages.items()):
        yield f"| calls without an answer: {why} | {times:,} |"
    for name, samples in sorted(done.memory.items()):
        yield f"| memory of the {name}, least and most MB | {min(held for *_, held in samples):.0f}, {max(held for *_, held in samples):.0f} |"
    yield f"| **findings** | **{len(done.findings)}** |"
    for finding in done.findings[:20]:
        yield f"| {finding[:300].replace('|', '/')} | |"
