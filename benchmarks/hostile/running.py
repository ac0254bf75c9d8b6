"""One run: a store, a server, shots from several threads, and what was found."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from benchmarks.hostile.judging import Finding, causes_in, grown, judged
from benchmarks.hostile.known import Knowledge, filled
from benchmarks.hostile.making import Maker
from benchmarks.hostile.sending import Outcome, Target, sent
from benchmarks.hostile.server import Served, Vitals, log_lines, serving
from benchmarks.hostile.shot import Shot
from runtime.settings import read_settings
from runtime.telemetry import configure_logging
from worker.opening import open_service

WARM_UP_SHARE = 0.25
"""Of the run, after which memory is looked at for the first time."""
SETTLES_S = 2.0
ENOUGH_TO_WARM_UP = 5000
"""Requests; memory that grows after fewer says nothing, since the allocators and the model are still at it."""
MEASURED_EVERY_S = 3.0
MAX_KEPT = 200
"""Answers that are judged again once the log is there."""

PEPPER = "pepper-of-hostile-requests-0123456789"


@dataclass(frozen=True, slots=True)
class Run:
    """What to do: so many requests, at most so many seconds (0 = no limit); or just what is to be ``replayed``."""

    requests: int
    seconds: float
    seed: int
    threads: int
    replayed: tuple[Shot, ...] = ()


@dataclass
class Done:
    """What happened."""

    outcomes: Counter[tuple[str, int]] = field(default_factory=Counter)
    hostilities: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    slowest_s: float = 0.0
    slowest: str = ""
    warm: Vitals | None = None
    warmed_up_with: int = 0
    end: Vitals | None = None
    megabytes: list[float] = field(default_factory=list)
    """Every few seconds since the warm-up."""

    @property
    def requests(self) -> int:
        """How many were sent."""
        return sum(self.outcomes.values())


def run(wanted: Run, folder: Path) -> Done:
    """Do it, in a folder that is empty."""
    environment = {
        "WA_ENGINE_URL": f"sqlite:///{folder / 'wisdom.db'}",
        "WA_AUTH": "keys",
        "WA_KEY_PEPPER": PEPPER,
        "WA_RATE_CAPACITY": "1000000",
        "WA_RATE_REFILL_PER_S": "100000",
        "WA_EMBEDDER_THREADS": "1",
        "WA_LOG_FORMAT": "json",
        "WA_LOG_SAMPLE": "0",
        "WA_DEFAULT_TENANT": "amber",
        "WA_ASK_TIMEOUT_S": "10",
        "WA_BODY_TIMEOUT_S": "1",
    }
    settings = read_settings(environment, log_level="WARNING")
    configure_logging(settings)
    with open_service(settings) as service:
        known = filled(service)
    with serving(folder, environment) as served:
        done = _Volley(wanted, known, served, Target(served.port, known.secret, environment)).fire()
        if not served.alive():
            done.findings.append(Finding("the server does not answer at the end"))
    return done


class _Volley:
    def __init__(self, wanted: Run, known: Knowledge, served: Served, target: Target) -> None:
        self._wanted, self._served, self._target = wanted, served, target
        self._maker = Maker(known, wanted.seed)
        self._done = Done()
        self._suspects: list[tuple[Shot, Outcome]] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._secret = known.secret
        self._measured_next = 0.0

    def fire(self) -> Done:
        started = time.monotonic()
        shots = self._shots(started)
        threads = [threading.Thread(target=self._work, args=(shots, started), daemon=True) for _ in range(self._wanted.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._done.seconds = time.monotonic() - started
        time.sleep(SETTLES_S)  # connections that were broken off are noticed
        self._done.end = self._served.vitals()
        self._even_out()
        self._judge_with_log()
        return self._done

    def _shots(self, started: float) -> Iterator[Shot]:
        if self._wanted.replayed:
            yield from self._wanted.replayed
            return
        for number in itertools.islice(self._numbers, self._wanted.requests):
            if self._wanted.seconds and time.monotonic() - started > self._wanted.seconds:
                return
            yield self._maker.shot(number)

    def _work(self, shots: Iterator[Shot], started: float) -> None:
        while True:
            with self._lock:
                shot = next(shots, None)
            if shot is None:
                return
            try:
                outcome = sent(shot, self._target)
            except OSError as error:
                outcome = Outcome(0, b"", 0.0, trouble=f"{type(error).__name__}: {error}")
            with self._lock:
                self._note(shot, outcome, started)

    def _note(self, shot: Shot, outcome: Outcome, started: float) -> None:
        done = self._done
        done.outcomes[shot.door, outcome.status] += 1
        done.hostilities[shot.hostility] += 1
        if outcome.seconds > done.slowest_s:
            done.slowest_s, done.slowest = outcome.seconds, f"{shot.door}, {shot.hostility}, number {shot.number}"
        if next(iter(judged(shot, outcome, {})), None) is not None and len(self._suspects) < MAX_KEPT:
            self._suspects.append((shot, outcome))
        if done.warm is None and self._is_warm(started):
            done.warm, done.warmed_up_with = self._served.vitals(), done.requests
        if done.warm is not None and time.monotonic() > self._measured_next:
            self._measured_next = time.monotonic() + MEASURED_EVERY_S
            done.megabytes.append(self._served.vitals().rss_mb)

    def _is_warm(self, started: float) -> bool:
        enough = self._done.requests >= self._wanted.requests * WARM_UP_SHARE
        return enough or bool(self._wanted.seconds and time.monotonic() - started >= self._wanted.seconds * WARM_UP_SHARE)

    def _even_out(self) -> None:
        """Memory goes up and down with what is in progress: its median over the first third since the warm-up, and over the last."""
        done, third = self._done, len(self._done.megabytes) // 3
        if third and done.warm and done.end:
            done.warm = replace(done.warm, rss_mb=median(done.megabytes[:third]))
            done.end = replace(done.end, rss_mb=median(done.megabytes[-third:]))

    def _judge_with_log(self) -> None:
        causes, findings = causes_in(log_lines(self._served.log))
        if self._secret in self._served.log.read_text(errors="replace"):
            findings.append(Finding("a key in the log"))
        findings += [finding for shot, outcome in self._suspects for finding in judged(shot, outcome, causes)]
        if self._done.warm is not None and self._done.end is not None:
            findings += grown(self._done.warm, self._done.end, memory=self._done.warmed_up_with >= ENOUGH_TO_WARM_UP)
        self._done.findings += findings


def _called(door: str, status: int) -> str:
    return str(status) if status or door == "command line" else "none"


def report(wanted: Run, done: Done) -> Iterator[str]:
    """A table, line by line."""
    yield f"{done.requests} requests with seed {wanted.seed} in {done.seconds:.0f} s from {wanted.threads} threads"
    yield f"  slowest       {done.slowest_s:.1f} s ({done.slowest})"
    for door in sorted({door for door, _ in done.outcomes}):
        told = sorted((status, count) for (of, status), count in done.outcomes.items() if of == door)
        yield f"  {door:<13} {sum(count for _, count in told):>7}   " + "  ".join(
            f"{_called(door, status)}: {count}" for status, count in told
        )
    yield "  done to them  " + ", ".join(f"{what} {count}" for what, count in done.hostilities.most_common())
    if done.warm and done.end:
        yield f"  memory        {done.warm.rss_mb:.0f} MB in the third after {done.warmed_up_with} requests, {done.end.rss_mb:.0f} MB in the last third"
        yield f"  held          {done.warm.files} files and {done.warm.threads} threads after the warm-up, {done.end.files} and {done.end.threads} at the end"
    yield f"  findings      {len(done.findings)}"
    for finding in done.findings[:20]:
        yield f"    {finding.what}" + (
            f" [{finding.shot.door}, {finding.shot.hostility}, number {finding.shot.number}]" if finding.shot else ""
        )
        if finding.said:
            yield "      " + " ".join(finding.said.split())[:400]
