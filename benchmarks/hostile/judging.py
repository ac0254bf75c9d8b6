"""What counts as a finding: in an answer, in the log, and in what the process holds at the end."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.hostile.known import CANARY, canaries
from benchmarks.hostile.sending import Outcome
from benchmarks.hostile.server import Vitals
from benchmarks.hostile.shot import Shot

SLOW_S = 20.0
GROWTH_MB, GROWTH_SHARE = 32.0, 0.10
MORE_FILES, MORE_THREADS = 16, 32

LEAKS = (b"Traceback (most recent call last)", b"site-packages", b"sqlite3.", b"/api/app.py")
FAULTS = (b'"INTERNAL_SERVER_ERROR"', b'"MISCONFIGURED"', b'"code":-32603', b"internal error")
KNOWN_IN_LOG = ("h11._util.LocalProtocolError: Too much data for declared Content-Length",)
"""Of the libraries: the web server answers a HEAD whose chunks are broken with a body, which its own protocol refuses; the connection ends, nothing else."""
EXPECTED_EXITS = frozenset({0, 1, 2, 3, 4})
SERVER_ERROR_CLOSE = 1011


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be. ``shot`` is None where no single one is to blame."""

    what: str
    shot: Shot | None = None
    said: str = ""


def judged(shot: Shot, outcome: Outcome, causes: Mapping[str, str]) -> Iterable[Finding]:
    """What is wrong with an answer. ``causes`` are those the log names, by correlation id."""
    said = outcome.said
    if canaries(said):
        yield Finding("words of another tenant", shot, _excerpt(said, CANARY.encode()))
    mark = next((mark for mark in (*LEAKS, *FAULTS) if mark in said and not _is_echo(shot, mark)), None)
    if mark is not None:
        yield Finding(f"an answer with {mark.decode()}", shot, _excerpt(said, mark))
    if outcome.seconds > SLOW_S and shot.conduct != "command":  # which starts a program first
        yield Finding(f"an answer after {outcome.seconds:.0f} s", shot)
    yield from _of_status(shot, outcome, causes)


def _of_status(shot: Shot, outcome: Outcome, causes: Mapping[str, str]) -> Iterable[Finding]:
    status = outcome.status
    if shot.conduct == "command":
        if status not in EXPECTED_EXITS or outcome.trouble:
            yield Finding(f"exit code {status} {outcome.trouble}", shot, outcome.said[-500:].decode(errors="replace"))
    elif shot.conduct == "frames":
        if status == SERVER_ERROR_CLOSE or outcome.trouble:
            yield Finding(f"a conversation that broke off: {status} {outcome.trouble}", shot)
    elif status >= 500 and outcome.correlation not in causes:
        yield Finding(f"status {status} without a cause in the log", shot, outcome.said[:500].decode(errors="replace"))
    elif status == 0 and shot.conduct == "whole" and not _may_be_dropped(shot):
        yield Finding(f"no answer: {outcome.trouble}", shot)


def _may_be_dropped(shot: Shot) -> bool:
    """Whether what was sent is no HTTP, so that hanging up is an answer."""
    return shot.hostility in ("headers", "chunks")


def _is_echo(shot: Shot, mark: bytes) -> bool:
    return any(mark in piece for piece in shot.wire)


def _excerpt(said: bytes, mark: bytes) -> str:
    at = said.find(mark)
    return said[max(0, at - 200) : at + 300].decode(errors="replace")


def causes_in(lines: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], list[Finding]]:
    """The causes that the log names, by correlation id, and every line that tells of an error nobody planned."""
    causes: dict[str, str] = {}
    findings: Counter[str] = Counter()
    for line in lines:
        if CANARY in str(line):
            findings["words of another tenant in the log"] += 1
        if line.get("level") in ("error", "critical") and not any(known in str(line.get("exception")) for known in KNOWN_IN_LOG):
            findings[f"in the log: {line.get('event')} {str(line.get('exception', ''))[-400:]}"] += 1
        elif line.get("level") == "warning" and (line.get("dependency") or line.get("reason")):
            causes[str(line.get("correlation_id"))] = str(line.get("event"))
    return causes, [Finding(f"{what} ({times} times)") for what, times in findings.items()]


def grown(warm: Vitals, end: Vitals, *, memory: bool) -> Iterable[Finding]:
    """What the process holds more of than after it had warmed up; memory only where it had."""
    if memory and end.rss_mb > warm.rss_mb * (1 + GROWTH_SHARE) + GROWTH_MB:
        yield Finding(f"memory grew from {warm.rss_mb:.0f} to {end.rss_mb:.0f} MB")
    if end.files > warm.files + MORE_FILES:
        yield Finding(f"open files grew from {warm.files} to {end.files}")
    if end.threads > warm.threads + MORE_THREADS:
        yield Finding(f"threads grew from {warm.threads} to {end.threads}")
