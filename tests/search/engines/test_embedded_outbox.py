"""The outbox of a store file: kept with its entry whenever the process dies, and added to files that were made without one."""

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from search.engines.sqlite_schema import SCHEMA_VERSION
from search.state_facts import Fact
from tests.contracts.writes import DIMENSION, MODEL, written

ROOT = Path(__file__).parents[3]
TENANT = Tenant("acme")


def kept(path: Path) -> tuple[set[str], list[str]]:
    """The ids of all entries, and the subjects of all pending events in order."""
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        entries = {entry.entry_id for _, entry in engine.state.scan("digest")}
        subjects: list[str] = []
        while events := engine.state.outbox(first=1000):
            subjects += [event.subject for event in events]
            engine.state.settle(events)
    return entries, subjects


@pytest.mark.parametrize("acknowledged", [1, 23, 140])
def test_a_killed_process_leaves_no_entry_without_its_event_and_no_event_without_its_entry(tmp_path: Path, acknowledged: int) -> None:
    path = tmp_path / "store.db"
    command = [sys.executable, "-m", "tests.search.engines.outbox_worker", str(path), TENANT]
    victim = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)
    assert victim.stdout is not None
    seen = [victim.stdout.readline().strip() for _ in range(acknowledged)]
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    entries, subjects = kept(path)
    assert set(seen) <= entries
    assert subjects == sorted(entries, key=int)


def test_a_file_of_the_release_before_gets_an_outbox_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        engine.write(TENANT, [written("a", "kept")])
        engine.state.put(TENANT, "trace", "run", {"n": 1})
    _as_before(path)
    event = Event(event_id("digest.published", TENANT, "d"), "digest.published", TENANT, datetime(2026, 3, 1, tzinfo=UTC), "d")
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        assert engine.corpus(TENANT).documents == 1
        assert engine.state.get(TENANT, "trace", "run") is not None
        engine.state.put(TENANT, "digest", "d", {}, event=event)
        assert engine.state.outbox() == (event,)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()


def _as_before(path: Path) -> None:
    """Take away what the release before did not have."""
    connection = sqlite3.connect(path)
    connection.executescript("DROP TABLE outbox; DROP INDEX state_of_kind; ALTER TABLE state DROP COLUMN facts; PRAGMA user_version = 1;")
    connection.close()


def test_a_store_from_before_there_were_facts_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    facts: dict[str, Fact] = {"seconds": 0.5, "at": datetime(2026, 3, 1, tzinfo=UTC)}
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        engine.state.put(TENANT, "trace", "old", {"n": 1})
    connection = sqlite3.connect(path)
    connection.executescript("ALTER TABLE state DROP COLUMN facts; PRAGMA user_version = 2;")
    connection.close()
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        engine.state.put(TENANT, "trace", "new", {"n": 2}, facts=facts)
        found = {entry.entry_id: (dict(entry.body), dict(entry.facts)) for entry in engine.state.entries(TENANT, "trace")[0]}
    assert found == {"old": ({"n": 1}, {}), "new": ({"n": 2}, facts)}
