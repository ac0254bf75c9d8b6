"""The command line as its users have it: real processes, and a store that many tests read."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import structlog

from api.cli.main import ending
from api.sample import sample_documents

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SAMPLE_ROWS = 240


def environment(home: Path, **variables: str) -> dict[str, str]:
    """A user's environment with nothing set but a home of their own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    return kept | {"XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "OMP_NUM_THREADS": "1", "COLUMNS": "100"} | variables


def arguments(*words: str) -> list[str]:
    """The command line of ``wisdom WORDS``."""
    return [sys.executable, "-m", "api.cli.main", *words]


@pytest.fixture
def process(tmp_path: Path) -> Run:
    """Run ``wisdom`` as a process of its own, to its end, in a home of this test."""

    def started(*words: str, given: str = "", **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            arguments(*words), input=given, capture_output=True, text=True, env=environment(tmp_path, **variables), timeout=120, check=False
        )

    return started


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same inside this process, which is much quicker."""

    def started(*words: str, given: str = "", **variables: str) -> "subprocess.CompletedProcess[str]":
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with monkeypatch.context() as patched:
            for name, value in environment(tmp_path, **variables).items():
                patched.setenv(name, value)
            patched.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
            patched.setattr("sys.stdout", out)
            patched.setattr("sys.stderr", err)
            code = ending(words)
        said = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(words, code, *said)

    return started


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command takes over the logging of its process; give it back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def jsonl(rows: list[dict[str, Any]]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


HOSTILE = {
    "doc_id": "hostile-1",
    "source": "email",
    "occurred_at": "2026-06-02T10:00:00Z",
    "account_id": "acct-x",
    "text": "My passport photo was refused. \x1b[31mred\x1b[0m \x9b2J \u202egnp.exe [bold]not markup[/bold] :smile:",
    "rating": 1,
    "attributes": {"plan": "pro"},
}


@pytest.fixture(scope="session")
def sample_rows() -> list[dict[str, Any]]:
    """Some real messages, and one that tries to drive the terminal."""
    return [*islice(sample_documents(), SAMPLE_ROWS), HOSTILE]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, sample_rows: list[dict[str, Any]]) -> Iterator[str]:
    """The URL of a store that holds the sample; tests only read it."""
    home = tmp_path_factory.mktemp("store")
    url = f"sqlite:///{home / 'sample.db'}"
    ended = subprocess.run(
        arguments("ingest", "-", "--engine", url, "--json"),
        input=jsonl(sample_rows),
        capture_output=True,
        text=True,
        env=environment(home),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return url
