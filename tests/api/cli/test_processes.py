"""Real processes: interrupts, pipes that close, terminals, servers."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.conftest import Run, arguments, environment, jsonl

ROWS = 16_000
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Rows enough for an ingest to be caught in the middle; few different texts, so that it is quick when it is not."""
    path = tmp_path / "many.jsonl"
    path.write_text(
        jsonl(
            [
                {"doc_id": f"m-{n}", "source": "web", "text": f"Message of kind {n % 40}", "occurred_at": "2026-03-01T10:00:00Z"}
                for n in range(ROWS)
            ]
        )
    )
    return path


class OnTerminal:
    """A process whose standard error is a terminal, and what it has written there so far."""

    def __init__(self, words: list[str], home: Path) -> None:
        self._leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=follower, env=environment(home, TERM="xterm")
        )
        os.close(follower)

    def pieces(self) -> Iterator[str]:
        """What is written to the terminal, until the process ends."""
        while True:
            try:
                piece = os.read(self._leader, 4096)
            except OSError:  # how Linux says that the other side is closed
                return
            if not piece:
                return
            yield piece.decode(errors="replace")

    def close(self) -> None:
        os.close(self._leader)


def test_an_interrupt_leaves_a_true_partial_report_and_running_again_resumes(run: Run, many: Path, tmp_path: Path) -> None:
    started = OnTerminal(arguments("ingest", str(many), "--json"), tmp_path)
    seen = ""
    for piece in started.pieces():
        seen += piece
        if re.search(r"[1-9][0-9,]* rows, ", seen):
            break
    started.process.send_signal(signal.SIGINT)
    told = seen + "".join(started.pieces())
    out, _ = started.process.communicate(timeout=120)
    started.close()
    assert started.process.returncode == 130
    report = json.loads(out)
    assert report["interrupted"]
    assert 0 < report["received"] < ROWS
    assert report["received"] == sum(report[part] for part in ("indexed", "unchanged", "updated", "duplicate", "rejected"))
    assert report["corpusSize"] == report["indexed"]
    assert "Run the same command again" in ESCAPES.sub("", told)

    resumed = json.loads(run("ingest", str(many), "--json", "--quiet").stdout)
    assert resumed["corpusSize"] == ROWS
    assert resumed["unchanged"] == report["indexed"]
    assert resumed["indexed"] == ROWS - report["indexed"]


def test_progress_is_a_bar_on_a_terminal_and_the_data_stays_clean(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        jsonl([{"doc_id": f"m-{n}", "source": "web", "text": f"Message {n % 7}", "occurred_at": "2026-03-01"} for n in range(3000)])
    )
    started = OnTerminal(arguments("ingest", str(rows), "--json"), tmp_path)
    shown = "".join(started.pieces())
    out, _ = started.process.communicate(timeout=120)
    started.close()
    assert started.process.returncode == 0
    assert "━" in shown
    assert re.search(r"rows, [0-9,]+ a second", shown)
    assert json.loads(out)["indexed"] == 3000


def test_a_reader_that_leaves_early_is_no_error(store: str, tmp_path: Path) -> None:
    started = subprocess.Popen(
        arguments("documents", "list", "--first", "1000", "--engine", store),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, PYTHONUNBUFFERED="1"),
    )
    assert started.stdout is not None
    assert started.stderr is not None
    started.stdout.close()
    said = started.stderr.read().decode()
    assert started.wait(60) == 0
    started.stderr.close()
    assert "Traceback" not in said
    assert "Broken" not in said


@pytest.mark.parametrize("words", [("version",), ("--help",), ("documents", "list"), ("documents", "list", "--json")])
def test_output_that_cannot_be_written_is_a_readable_error(words: tuple[str, ...], store: str, tmp_path: Path) -> None:
    engine = ("--engine", store) if len(words) > 1 else ()
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            arguments(*words, *engine), stdout=full, stderr=subprocess.PIPE, text=True, env=environment(tmp_path), check=False
        )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[0] == "error: no space left on device"
    assert len(ended.stderr.splitlines()) == 2


def test_closed_streams_are_no_crash(tmp_path: Path) -> None:
    line = shlex.join(arguments("version"))
    ended = subprocess.run(
        f"{line} >&- && {line} <&- 2>&-", shell=True, capture_output=True, text=True, env=environment(tmp_path), check=False
    )
    assert ended.returncode == 0
    assert ended.stdout.startswith("wisdom ")
    assert ended.stderr == ""


def test_output_to_a_file_in_another_encoding_still_works(process: Run, store: str) -> None:
    ended = process("documents", "show", "hostile-1", "--engine", store, "--json", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr
    assert "\u202e" in json.loads(ended.stdout)["text"]
    assert process("documents", "show", "hostile-1", "--engine", store, PYTHONIOENCODING="ascii").returncode == 0


def test_serve_says_where_it_listens_and_stops_when_asked(tmp_path: Path) -> None:
    started = subprocess.Popen(
        arguments("serve", "--port", "0"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    )
    assert started.stderr is not None
    said = []
    address = None
    for line in started.stderr:
        said.append(line)
        found = re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", line)
        if found:
            address = found.group()
            break
    drained = threading.Thread(target=lambda: said.extend(started.stderr or ()))
    drained.start()
    assert address is not None, said
    with urllib.request.urlopen(f"{address}/health", timeout=30) as answer:
        assert answer.status == 200
    started.send_signal(signal.SIGINT)
    assert started.wait(60) == 130
    drained.join()
    started.stderr.close()
    assert any("development mode" in line for line in said)
    assert not any("Traceback" in line for line in said)


def test_a_port_that_is_taken_is_said_before_anything_is_loaded(run: Run, tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = run("serve", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: --port: cannot listen on 127.0.0.1:")


def test_mcp_answers_on_standard_output_and_nothing_else_is_there(tmp_path: Path, store: str) -> None:
    asked: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    started = subprocess.Popen(
        arguments("mcp", "--engine", store),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    )
    assert started.stdin is not None
    assert started.stdout is not None
    assert started.stderr is not None
    started.stdin.write(jsonl(asked))
    started.stdin.flush()
    answers = [json.loads(started.stdout.readline()) for _ in range(2)]
    started.stdin.close()
    assert started.wait(60) == 0
    started.stdout.close()
    started.stderr.close()
    assert answers[0]["result"]["serverInfo"]["name"] == "wisdomagent"
    assert "search_feedback" in {tool["name"] for tool in answers[1]["result"]["tools"]}
