"""Several processes, engines and threads over one store file."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Filters
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.ranking import BucketQuery, LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written

ROOT = Path(__file__).parents[3]
TENANT = Tenant("acme")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def engines(path: Path) -> Iterator[tuple[EmbeddedEngine, EmbeddedEngine]]:
    """Two engines over one file: to SQLite, as strange to each other as two processes."""
    with ExitStack() as stack:
        one, other = (stack.enter_context(open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock())) for _ in range(2))
        yield one, other


def worker(path: Path, prefix: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.search.engines.store_worker", str(path), TENANT, prefix, str(count)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def pictured(engine: EmbeddedEngine, tenant: Tenant = TENANT) -> tuple[object, ...]:
    """Everything an engine knows of a tenant, through every kind of read."""
    question = LegQuery("text number 7 shared", unit_vector("q"), EVERYTHING, 500)
    legs = engine.legs(tenant, question)
    return (
        engine.documents(tenant, EVERYTHING, first=1000),
        engine.aggregate(tenant, BucketQuery("theme", EVERYTHING, match="text")),
        engine.corpus(tenant),
        [(hit.candidate.passage.passage_id, hit.score) for hit in legs.lexical],
        [(hit.candidate.passage.passage_id, hit.score) for hit in legs.vector],
        legs.scope,
    )


def test_two_processes_writing_at_once_lose_nothing(path: Path) -> None:
    workers = [worker(path, prefix, 100) for prefix in ("a", "b")]
    acknowledged = [each.communicate()[0].split() for each in workers]
    assert [each.returncode for each in workers] == [0, 0]
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        found = {document.doc_id for document in engine.documents(TENANT, EVERYTHING, first=1000).documents}
        assert found == {"shared", *(f"{prefix}{number}" for prefix in "ab" for number in range(100))}
        versions = sorted(
            int(version) for lines in acknowledged for doc_id, version in zip(lines[::2], lines[1::2], strict=True) if doc_id == "shared"
        )
        assert versions == list(range(1, 41))
        assert engine.stored(TENANT, ["shared"])["shared"].version == 40


def test_a_process_killed_while_writing_loses_nothing_acknowledged(path: Path) -> None:
    for round_number in range(3):
        victim = worker(path, f"r{round_number}-", 0)
        assert victim.stdout is not None
        acknowledged = [victim.stdout.readline().split()[0] for _ in range(60 + 17 * round_number)]
        victim.send_signal(signal.SIGKILL)
        acknowledged += [line.split()[0] for line in victim.stdout.read().splitlines() if line.endswith(tuple("0123456789"))]
        victim.wait()
        victim.stdout.close()
        with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            known = engine.stored(TENANT, [doc_id for doc_id in dict.fromkeys(acknowledged) if len(doc_id) < 40][:1000])
            assert set(acknowledged) <= set(known)
            corpus = engine.corpus(TENANT)
            assert corpus.documents == corpus.passages == engine.legs(TENANT, LegQuery("", None, EVERYTHING)).scope
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_another_engines_commit_is_seen_by_the_next_call(engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, other = engines
    for number in range(30):
        writer, reader = (one, other) if number % 2 else (other, one)
        writer.write(TENANT, [written(f"d{number}", f"text number {number}", theme_id=f"t{number % 3}")])
        assert pictured(reader) == pictured(writer)
        if number % 4 == 3:
            writer.delete(TENANT, [f"d{number - 1}"])
            assert pictured(reader) == pictured(writer)
    assert one.corpus(TENANT).documents == 23


def test_another_engines_changes_of_a_document_are_seen(engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, other = engines
    one.write(TENANT, [written("a", "text about cards"), written("b", "text about parcels")])
    assert other.corpus(TENANT).documents == 2
    one.write(TENANT, [written("a", "text about refunds", attributes={"plan": "pro"})])
    assert [hit.candidate.passage.text for hit in other.legs(TENANT, LegQuery("refunds cards", None, EVERYTHING)).lexical] == [
        "text about refunds"
    ]
    assert other.documents(TENANT, Filters(attributes=(("plan", "pro"),))).total == 1
    one.write(TENANT, [written("a", "text about refunds")])
    assert other.documents(TENANT, Filters(attributes=(("plan", "pro"),))).total == 0


def test_a_tenant_erased_and_begun_anew_elsewhere_is_read_anew(engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, other = engines
    one.write(TENANT, [written(f"d{number}", "text") for number in range(5)])
    before = other.generation(TENANT)
    assert other.corpus(TENANT).documents == 5
    one.erase(TENANT)
    assert other.corpus(TENANT).documents == 0
    one.write(TENANT, [written("z", "text")])
    assert pictured(other) == pictured(one)
    assert other.generation(TENANT) > before


def test_an_engine_that_slept_through_the_log_of_removals_reads_anew(path: Path, engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, sleeper = engines
    one.write(TENANT, [written(f"d{number}", f"text number {number}") for number in range(20)])
    assert sleeper.corpus(TENANT).documents == 20
    one.delete(TENANT, ["d3", "d4"])
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM removals")
        connection.execute("UPDATE meta SET value = (SELECT value FROM meta WHERE name = 'generation') WHERE name = 'pruned'")
    connection.close()
    one.write(TENANT, [written("new", "text")])
    assert pictured(sleeper) == pictured(one)
    assert sleeper.corpus(TENANT).documents == 19


def test_when_a_quarter_is_dead_memory_is_made_anew_and_nothing_changes(path: Path, engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, _ = engines
    for start in range(0, 1200, 400):
        one.write(
            TENANT, [written(f"d{number}", f"text number {number}", theme_id=f"t{number % 5}") for number in range(start, start + 400)]
        )
    before = one.corpus(TENANT)
    one.write(TENANT, [written(f"d{number}", f"text number {number} again") for number in range(350)])
    one.delete(TENANT, [f"d{number}" for number in range(400, 500)])
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as fresh:
        assert pictured(one) == pictured(fresh)
    assert (before.documents, one.corpus(TENANT).documents) == (1200, 1100)


def test_threads_may_read_and_write_at_once(engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, other = engines

    def write(thread: int) -> None:
        for number in range(12):
            one.write(TENANT, [written(f"t{thread}-{number}", f"text number {number}", theme_id="x")])
        one.delete(TENANT, [f"t{thread}-0"])

    def read(_: int) -> None:
        for _ in range(15):
            found = one.aggregate(TENANT, BucketQuery("theme", EVERYTHING))
            assert sum(bucket.count for bucket in found.buckets) == found.total == found.scope
            legs = one.legs(TENANT, LegQuery("text number", unit_vector("q"), EVERYTHING, 1000))
            assert len(legs.lexical) == len(legs.vector) == legs.scope

    with ThreadPoolExecutor(8) as pool:
        for done in [*pool.map(write, range(4)), *pool.map(read, range(4))]:
            assert done is None
    assert one.corpus(TENANT).documents == 44
    assert pictured(one) == pictured(other)


def test_more_tenants_than_are_kept_in_memory_are_all_served(engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, _ = engines
    tenants = [Tenant(f"t{number}") for number in range(70)]
    for tenant in tenants:
        one.write(tenant, [written("a", f"text of {tenant}")])
    for tenant in (*tenants, *tenants):
        assert [hit.candidate.passage.text for hit in one.legs(tenant, LegQuery("text", None, EVERYTHING)).lexical] == [f"text of {tenant}"]


def test_words_are_forgotten_with_the_last_document_that_holds_them(path: Path, engines: tuple[EmbeddedEngine, EmbeddedEngine]) -> None:
    one, other = engines
    one.write(TENANT, [written("a", "secret word and secret word", title="Hidden"), written("b", "word")])
    one.write(TENANT, [written("c", "secretive")])
    assert _terms(path) == ["hidden", "secret", "word"]
    one.delete(TENANT, ["a"])
    assert _terms(path) == ["secret", "word"]
    one.write(TENANT, [written("c", "word")])
    assert _terms(path) == ["word"]
    one.write(TENANT, [written("d", "secret")])
    assert pictured(other) == pictured(one)
    one.delete(TENANT, ["b", "c", "d"])
    assert _terms(path) == []


def _terms(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return [term for (term,) in connection.execute("SELECT term FROM vocabulary ORDER BY term")]
    finally:
        connection.close()
