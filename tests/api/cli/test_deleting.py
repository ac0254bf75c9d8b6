"""Deleting: by id at once, by account or tenant only when confirmed."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.api.cli.conftest import Run, arguments, environment, jsonl

ROWS = [
    {"doc_id": f"d-{n}", "source": "web", "text": f"Message number {n}", "occurred_at": "2026-03-01T10:00:00Z", "account_id": f"a-{n % 2}"}
    for n in range(4)
]


@pytest.fixture
def filled(run: Run) -> Run:
    assert run("ingest", "-", "--quiet", given=jsonl(ROWS)).returncode == 0
    return run


def left(run: Run) -> list[str]:
    return sorted(document["docId"] for document in json.loads(run("documents", "list", "--json").stdout)["documents"])


def test_ids_are_deleted_at_once_and_missing_ones_are_named(filled: Run) -> None:
    ended = filled("documents", "delete", "d-0", "nothing", "--json")
    told = json.loads(ended.stdout)
    receipt = told.pop("receipt")
    assert told == {"deleted": 1, "docIds": ["d-0"]}
    assert (receipt["scope"], receipt["removed"]) == ("IDS", [{"what": "documents", "count": 1}])
    assert json.loads(filled("documents", "receipt", receipt["receiptId"], "--json").stdout) == receipt
    assert json.loads(filled("documents", "receipts", "--json").stdout)["receipts"] == [receipt]
    assert "not there: nothing" in ended.stderr
    assert left(filled) == ["d-1", "d-2", "d-3"]


def test_without_a_terminal_an_account_is_deleted_only_with_yes(filled: Run) -> None:
    refused = filled("documents", "delete", "--account", "a-1")
    assert refused.returncode == 2
    assert "2 documents" in refused.stderr
    assert "--yes" in refused.stderr
    assert len(left(filled)) == 4
    assert filled("documents", "delete", "--account", "a-1", "--yes").returncode == 0
    assert left(filled) == ["d-0", "d-2"]


def test_a_tenant_is_deleted_with_yes_and_others_are_not(filled: Run) -> None:
    filled("ingest", "-", "--tenant", "other", "--quiet", given=jsonl(ROWS[:1]))
    assert json.loads(filled("documents", "delete", "--tenant-all", "--yes", "--json").stdout)["deleted"] == 4
    assert left(filled) == []
    assert json.loads(filled("documents", "list", "--tenant", "other", "--json").stdout)["total"] == 1


@pytest.mark.parametrize(("reply", "remaining", "code"), [("n\n", 4, 1), ("y\n", 0, 0)])
def test_on_a_terminal_it_asks_first(filled: Run, tmp_path: Path, reply: str, remaining: int, code: int) -> None:
    leader, follower = pty.openpty()
    started = subprocess.Popen(
        arguments("documents", "delete", "--tenant-all"),
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    os.close(follower)
    os.write(leader, reply.encode())
    _, said = started.communicate(timeout=60)
    os.close(leader)
    assert started.returncode == code
    assert b"Delete 4 documents of tenant default" in said
    assert len(left(filled)) == remaining


@pytest.mark.parametrize("words", [(), ("d-0", "--account", "a-0"), ("d-0", "--tenant-all"), ("--account", "a-0", "--tenant-all")])
def test_exactly_one_thing_is_deleted_at_a_time(run: Run, words: tuple[str, ...]) -> None:
    assert run("documents", "delete", *words).returncode == 2
