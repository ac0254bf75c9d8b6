"""Ingest in the background from the command line: handed in, followed, cancelled, rejected rows."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.conftest import Run, arguments, environment, jsonl

ROWS = [
    {"doc_id": "a", "source": "web", "text": "My card was declined.", "occurred_at": "2026-03-01T10:00:00Z"},
    {"doc_id": "b", "source": "web", "text": "", "occurred_at": "2026-03-01T10:00:00Z"},
    {"doc_id": "c", "source": "web", "text": "Where is my refund?", "occurred_at": "never"},
    {"doc_id": "a", "source": "web", "text": "My card was declined.", "occurred_at": "2026-03-01T10:00:00Z"},
]


@contextmanager
def worker(home: Path) -> Iterator[None]:
    """``wisdom worker --local`` on the same store."""
    given = environment(home, WA_MONITOR_INTERVAL_S="1", WA_WORKER_METRICS_PORT="0")
    process = subprocess.Popen(arguments("worker", "--local"), env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def job_of(ended: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert isinstance(found, dict)
    return found


def test_a_job_is_handed_in_and_its_id_is_all_of_standard_output(run: Run) -> None:
    ended = run("ingest", "-", "--background", given=jsonl(ROWS))
    assert ended.returncode == 0, ended.stderr
    job_id = ended.stdout.strip()
    assert "the job waits for one" in ended.stderr
    assert "worker --local" in ended.stderr
    assert run("jobs", "show", job_id).stdout.splitlines()[1] == "queued: waits for a worker"
    listed = run("jobs", "list").stdout.splitlines()
    assert listed[1].split("\t")[0] == job_id
    assert json.loads(run("jobs", "list", "--json", "--state", "done").stdout) == {"jobs": [], "cursor": None}


def test_following_a_job_ends_with_its_report_and_its_rejected_rows(process: Run, tmp_path: Path) -> None:
    rejects = tmp_path / "rejected.jsonl"
    with worker(tmp_path):
        ended = process(
            "ingest",
            "-",
            "--background",
            "--follow",
            "--json",
            "--rejects",
            str(rejects),
            "--strict",
            "--map",
            "doc_id=doc_id",
            given=jsonl(ROWS),
        )
    assert ended.returncode == 4, ended.stderr
    job = json.loads(ended.stdout)
    assert (job["state"], job["received"], job["indexed"], job["duplicate"], job["rejected"]) == ("done", 4, 1, 1, 2)
    assert [each["row"] for each in job["rejections"]] == [2, 3]
    rows = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [(row["row"], row["file"], row["original"]) for row in rows] == [(2, "standard input", ROWS[1]), (3, "standard input", ROWS[2])]
    printed = process("jobs", "rejects", job["jobId"])
    assert [json.loads(line) for line in printed.stdout.splitlines()] == rows


def test_a_job_is_cancelled(run: Run) -> None:
    job_id = run("ingest", "-", "--background", "--quiet", given=jsonl(ROWS)).stdout.strip()
    assert job_of(run("jobs", "cancel", job_id, "--json"))["state"] == "cancelled"
    shown = run("jobs", "show", job_id, "--follow")
    assert "cancelled: 0 of 4 rows" in shown.stdout
    again = run("jobs", "retry", job_id)
    assert again.returncode == 2
    assert "only a failed job can be tried again" in again.stderr


def test_several_files_are_several_jobs_and_an_unreadable_one_loses_no_other(run: Run, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.csv"
    good.write_text(jsonl(ROWS))
    bad.write_bytes(b"PK\x03\x04")
    ended = run("ingest", str(bad), str(good), "--background", "--json")
    assert ended.returncode == 2
    assert "bad.csv: is an Excel or ZIP file" in ended.stderr
    assert [job["source"] for job in json.loads(ended.stdout)["jobs"]] == ["good.jsonl"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--follow",), "--follow: goes with --background"),
        (("--background", "--dry-run"), "--dry-run: stores nothing"),
        (("--background", "--strict"), "--strict: goes with --follow"),
        (("--background", "--rejects", "x.jsonl"), "--rejects: goes with --follow"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run: Run, options: tuple[str, ...], said: str) -> None:
    ended = run("ingest", "-", *options, given=jsonl(ROWS))
    assert ended.returncode == 2
    assert said in ended.stderr


def test_another_tenants_job_is_not_found(run: Run) -> None:
    job_id = run("ingest", "-", "--background", "--quiet", given=jsonl(ROWS)).stdout.strip()
    told = {run("jobs", "show", each, "--tenant", "other").stderr for each in (job_id, "job-never")}
    assert len(told) == 1
    assert "wisdom jobs list" in told.pop()
