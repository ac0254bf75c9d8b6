"""``wisdom backup`` and ``wisdom restore``: a copy made in use, checked before it comes back, and the same answers after."""

import hashlib
import json
import os
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import tenant_named
from search.engines.embedded import open_embedded
from search.moving.backup import backed_up
from tests.api.cli.conftest import Run, jsonl
from tests.contracts.writes import DIMENSION, MODEL, written

QUESTION = "why was my card payment declined"


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def answer(run: Run, engine: str) -> object:
    return json.loads(run("ask", QUESTION, "--json", "--engine", engine).stdout)["answer"]


def test_a_restored_store_gives_identical_answers(store: str, run: Run, tmp_path: Path) -> None:
    copy, target = tmp_path / "copy.db", f"sqlite:///{tmp_path / 'new' / 'store.db'}"
    made = json.loads(run("backup", str(copy), "--engine", store, "--json").stdout)
    assert made["documents"] == 241
    assert made["sha256"] == hashlib.sha256(copy.read_bytes()).hexdigest()
    assert subprocess.run(["sha256sum", "--check", "copy.db.sha256"], cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert copy.stat().st_mode & 0o777 == 0o600
    before = answer(run, store)
    ended = run("restore", str(copy), "--engine", target)
    assert ended.returncode == 0, ended.stderr
    assert "241 documents restored from" in ended.stdout
    assert answer(run, target) == before


def test_a_backup_is_never_written_over_a_file(store: str, run: Run, tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    ended = run("backup", str(taken), "--engine", store)
    assert ended.returncode == 1
    assert "is there already" in ended.stderr
    assert taken.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob("taken*")) == ["taken.db"]
    assert run("backup", str(tmp_path / "x.db"), "--engine", f"sqlite:///{tmp_path / 'none.db'}").returncode == 1
    assert run("backup", str(tmp_path / "x.db"), "--engine", "http://127.0.0.1:9").returncode == 2
    assert not (tmp_path / "x.db").exists()


def test_a_store_is_overwritten_only_with_yes(store: str, run: Run, tmp_path: Path) -> None:
    copy, used = tmp_path / "copy.db", f"sqlite:///{tmp_path / 'used.db'}"
    run("backup", str(copy), "--engine", store)
    row = {"doc_id": "mine", "source": "web", "text": "Something else", "occurred_at": "2026-03-01T10:00:00Z"}
    run("ingest", "-", "--engine", used, "--quiet", given=jsonl([row]))
    refused = run("restore", str(copy), "--engine", used)
    assert refused.returncode == 2
    assert "241 documents" in refused.stderr
    assert "--yes" in refused.stderr
    assert run("documents", "show", "mine", "--engine", used).returncode == 0
    assert run("restore", str(copy), "--engine", used, "--yes").returncode == 0
    assert run("documents", "show", "mine", "--engine", used).returncode == 1


def test_a_damaged_or_foreign_file_is_not_restored(store: str, run: Run, tmp_path: Path) -> None:
    copy, target = tmp_path / "copy.db", tmp_path / "store.db"
    run("backup", str(copy), "--engine", store)
    whole = copy.read_bytes()
    copy.write_bytes(whole[:-5000] + bytes(904) + whole[-4096:])
    ended = run("restore", str(copy), "--engine", f"sqlite:///{target}")
    assert ended.returncode == 1
    assert "copy.db.sha256" in ended.stderr
    copy.with_name("copy.db.sha256").unlink()
    copy.write_bytes(whole[: len(whole) // 2])
    assert run("restore", str(copy), "--engine", f"sqlite:///{target}").returncode == 1
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    assert run("restore", str(tmp_path / "other.db"), "--engine", f"sqlite:///{target}").returncode == 1
    assert not target.exists()
    copy.write_bytes(whole)
    without = run("restore", str(copy), "--engine", f"sqlite:///{target}")
    assert without.returncode == 0
    assert "no" in without.stderr
    assert ".sha256" in without.stderr


def test_a_store_that_another_process_has_open_is_not_replaced(store: str, run: Run, tmp_path: Path) -> None:
    copy, target = tmp_path / "copy.db", tmp_path / "store.db"
    run("backup", str(copy), "--engine", store)
    run("restore", str(copy), "--engine", f"sqlite:///{target}")
    run("documents", "list", "--engine", f"sqlite:///{target}")
    with closing(sqlite3.connect(target)) as elsewhere:
        elsewhere.execute("SELECT count(*) FROM documents").fetchone()
        refused = run("restore", str(copy), "--engine", f"sqlite:///{target}", "--yes")
        assert refused.returncode == 1
        assert "open" in refused.stderr
    assert run("restore", str(copy), "--engine", f"sqlite:///{target}", "--yes").returncode == 0


def test_a_damaged_store_is_replaced_log_and_all(store: str, run: Run, tmp_path: Path) -> None:
    copy, target = tmp_path / "copy.db", tmp_path / "store.db"
    run("backup", str(copy), "--engine", store)
    target.write_bytes(os.urandom(8192))
    target.with_name("store.db-wal").write_bytes(os.urandom(4096))
    assert run("restore", str(copy), "--engine", f"sqlite:///{target}", "--yes").returncode == 0
    assert answer(run, f"sqlite:///{target}") == answer(run, store)


def test_a_copy_made_while_others_write_is_of_one_moment(tmp_path: Path) -> None:
    path, tenant, stop = tmp_path / "busy.db", tenant_named("acme"), threading.Event()
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:

        def work() -> None:
            for batch in range(10_000):
                if stop.is_set():
                    return
                engine.write(tenant, [written(f"{batch}-{n}", f"Number {n} of {batch}") for n in range(10)])

        engine.write(tenant, [written(f"first-{n}", f"Number {n}") for n in range(10)])
        writer = threading.Thread(target=work)
        writer.start()
        try:
            copies = [backed_up(path, tmp_path / f"copy-{n}.db") for n in range(5)]
        finally:
            stop.set()
            writer.join()
        total = engine.corpus(tenant).documents
    assert all(copy.documents % 10 == 0 and 10 <= copy.documents <= total for copy in copies)
    assert [copy.documents for copy in copies] == sorted(copy.documents for copy in copies)
    assert copies[-1].documents > 10
    for n, copy in enumerate(copies):
        with open_embedded(tmp_path / f"copy-{n}.db", model=MODEL, dimension=DIMENSION, clock=SystemClock()) as reopened:
            assert reopened.corpus(tenant).documents == copy.documents


def test_what_is_interrupted_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()):
        pass

    def died(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.link", died)
    with pytest.raises(KeyboardInterrupt):
        backed_up(path, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))
