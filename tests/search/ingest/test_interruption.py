"""Interrupts, failures, killed processes and two writers at once: nothing acknowledged is lost, and a rerun goes on."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.clock import SettableClock, SystemClock
from runtime.errors import InvalidRequest, Unavailable
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentWrite, Vectors, WriteOutcome
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.ingest.pipeline import Ingester
from search.ingest.planning import CHUNK_ROWS
from search.ingest.rows import Row, rows_of
from tests.search.ingest.conftest import ACME, NOW, counts, ticket
from tests.search.ingest.hashing import HashingEmbedder

ROOT = Path(__file__).parents[3]
TOTAL = 5 * CHUNK_ROWS


def tickets(count: int = TOTAL) -> list[dict[str, object]]:
    return [ticket(f"t-{n}", f"text {n}") for n in range(count)]


class DyingEngine:
    """A real engine whose connection is gone after some writes."""

    def __init__(self, engine: EmbeddedEngine, writes: int) -> None:
        self._engine = engine
        self._left = writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        if self._left == 0:
            raise Unavailable("the engine does not answer.", dependency="engine", retry_after_s=3.0)
        self._left -= 1
        return self._engine.write(tenant, writes)


class DyingEmbedder(HashingEmbedder):
    """An endpoint that is gone once a chunk other than the first comes, whichever call that is."""

    def embed(self, texts: Sequence[str], **_: Any) -> Vectors:
        if f"text {CHUNK_ROWS}" in texts:
            raise Unavailable("the embedder does not answer", dependency="embedder")
        return super().embed(texts)


def test_an_interrupt_while_reading_gives_a_true_report_and_a_rerun_goes_on(ingester: Ingester, engine: EmbeddedEngine) -> None:
    def rows() -> Iterator[Row]:
        for number, document in enumerate(tickets(), start=1):
            if number == 3 * CHUNK_ROWS + 10:
                raise KeyboardInterrupt
            yield Row(number, document)

    report = ingester.ingest(ACME, rows())
    assert report.interrupted
    assert report.received == report.indexed <= 3 * CHUNK_ROWS
    assert engine.corpus(ACME).documents == report.corpus_size == report.indexed
    rerun = ingester.ingest(ACME, rows_of(tickets()))
    assert counts(rerun) == {
        key: value for key, value in {"received": TOTAL, "unchanged": report.indexed, "indexed": TOTAL - report.indexed}.items() if value
    }
    assert not rerun.interrupted


def test_an_interrupt_from_the_progress_bar_is_one_too(ingester: Ingester, engine: EmbeddedEngine) -> None:
    def stop(_: object) -> None:
        raise KeyboardInterrupt

    report = ingester.ingest(ACME, rows_of(tickets()), progress=stop)
    assert report.interrupted
    assert report.indexed == engine.corpus(ACME).documents < TOTAL


def test_an_engine_that_dies_keeps_what_it_acknowledged_and_the_error_says_how_to_go_on(
    engine: EmbeddedEngine, embedder: HashingEmbedder, clock: SettableClock
) -> None:
    dying = DyingEngine(engine, writes=2)
    rejected: list[object] = []
    rows = [ticket(text=""), *tickets()]
    with pytest.raises(
        Unavailable, match=r"the engine does not answer; ([\d,]+) rows are done and stay so, run the same ingest again"
    ) as caught:
        Ingester(dying, embedder, clock, Settings()).ingest(ACME, rows_of(rows), on_rejection=rejected.append)
    assert (caught.value.dependency, caught.value.retry_after_s) == ("engine", 3.0)
    stored = engine.corpus(ACME).documents
    assert stored == 2 * CHUNK_ROWS - 1
    assert f"{stored + 1:,} rows are done" in str(caught.value)
    assert len(rejected) == 1
    rerun = Ingester(engine, embedder, clock, Settings()).ingest(ACME, rows_of(rows))
    assert counts(rerun) == {"received": TOTAL + 1, "unchanged": stored, "indexed": TOTAL - stored, "rejected": 1}


def test_an_embedder_that_dies_is_told_the_same_way(engine: EmbeddedEngine, clock: SettableClock) -> None:
    with pytest.raises(Unavailable, match=r"the embedder does not answer; 512 rows are done") as caught:
        Ingester(engine, DyingEmbedder(), clock, Settings()).ingest(ACME, rows_of(tickets()))
    assert caught.value.dependency == "embedder"
    assert engine.corpus(ACME).documents == CHUNK_ROWS


def test_another_failure_of_the_rows_keeps_what_was_written_and_is_passed_on(ingester: Ingester, engine: EmbeddedEngine) -> None:
    def rows() -> Iterator[Row]:
        yield from (Row(number, document) for number, document in enumerate(tickets(), start=1))
        raise InvalidRequest("cannot be read", field="file")

    with pytest.raises(InvalidRequest, match="cannot be read"):
        ingester.ingest(ACME, rows())
    assert engine.corpus(ACME).documents > 0
    assert ingester.ingest(ACME, rows_of(tickets())).corpus_size == TOTAL


def test_no_thread_is_left_behind(ingester: Ingester) -> None:
    before = threading.active_count()
    ingester.ingest(ACME, rows_of(tickets()))
    assert threading.active_count() == before


def test_two_threads_with_overlapping_documents_lose_nothing(ingester: Ingester, engine: EmbeddedEngine) -> None:
    reports = together(ingester, [tickets()[:900], tickets()[300:]])
    assert sum(report.indexed for report in reports) == TOTAL
    assert sum(report.unchanged for report in reports) == 900 + (TOTAL - 300) - TOTAL
    assert engine.corpus(ACME).documents == TOTAL


def test_two_threads_with_different_versions_leave_the_higher_ones(ingester: Ingester, engine: EmbeddedEngine) -> None:
    sides = [[ticket(f"t-{n}", f"{side} {n}", version=(n + side) % 2 + 1) for n in range(600)] for side in (0, 1)]
    reports = together(ingester, sides)
    assert sum(report.received for report in reports) == 1_200
    page = [engine.document(ACME, f"t-{n}") for n in range(600)]
    assert [(document.text, document.version) for document in page if document] == [(f"{(n + 1) % 2} {n}", 2) for n in range(600)]


def test_two_stores_on_one_file_lose_nothing(tmp_path: Path, clock: SettableClock) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as two:
        ingesters = [Ingester(engine, HashingEmbedder(), clock, Settings()) for engine in (one, two)]
        reports = together(ingesters, [tickets()[:900], tickets()[300:]])
        assert sum(report.indexed for report in reports) == TOTAL
        assert one.corpus(ACME).documents == two.corpus(ACME).documents == TOTAL


def test_a_process_that_is_killed_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    """Rows are acknowledged by progress: what it calls done is stored, whenever the process dies."""
    for after in (1, 3):
        acknowledged = killed(tmp_path, after, signal.SIGKILL)
        with opened(tmp_path) as engine:
            assert engine.corpus(ACME).documents >= acknowledged >= after
            assert engine.documents(ACME, EVERYTHING).total == engine.corpus(ACME).documents
            rerun = Ingester(engine, HashingEmbedder(), SettableClock(NOW), Settings()).ingest(ACME, rows_of(tickets()))
            assert rerun.corpus_size == TOTAL
            assert rerun.indexed == TOTAL - rerun.unchanged
            engine.erase(ACME)


def test_ctrl_c_at_a_process_ends_it_with_a_report(tmp_path: Path) -> None:
    killed(tmp_path, 1, signal.SIGINT, expect="interrupted True")


CHILD = """
import sys
from pathlib import Path
from runtime.clock import SystemClock
from runtime.settings import Settings
from search.engines.embedded import open_embedded
from search.ingest.pipeline import Ingester
from search.ingest.rows import Row
from tests.search.ingest.conftest import ACME
from tests.search.ingest.hashing import HashingEmbedder
from tests.search.ingest.test_interruption import tickets

def rows():
    for number, document in enumerate(tickets(), start=1):
        yield Row(number, document)
    print("end of rows", flush=True)
    sys.stdin.read()

with open_embedded(Path(sys.argv[1]), model="hashing-32", dimension=32, clock=SystemClock()) as engine:
    ingester = Ingester(engine, HashingEmbedder(), SystemClock(), Settings())
    report = ingester.ingest(ACME, rows(), progress=lambda progress: print(progress.done, flush=True))
    print("interrupted", report.interrupted, flush=True)
"""


def killed(folder: Path, after: int, how: signal.Signals, expect: str = "") -> int:
    """Run an ingest in a process, kill it once at least ``after`` rows are done; returns how many it had said were."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder / "store.db")], cwd=ROOT, text=True, stdout=subprocess.PIPE, stdin=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        done = 0
        for line in process.stdout:
            done = int(line) if line.strip().isdigit() else done
            if done >= after:
                break
        process.send_signal(how)
        rest = process.stdout.read()
    assert expect in rest
    return done


@contextmanager
def opened(folder: Path) -> Iterator[EmbeddedEngine]:
    with open_embedded(folder / "store.db", model="hashing-32", dimension=32, clock=SystemClock()) as engine:
        yield engine


def together(ingesters: Ingester | list[Ingester], sides: list[list[dict[str, object]]]) -> list[Any]:
    """Both sides ingested at once, from one starting line."""
    each = ingesters if isinstance(ingesters, list) else [ingesters] * len(sides)
    line, reports = threading.Barrier(len(sides)), []

    def run(ingester: Ingester, documents: list[dict[str, object]]) -> None:
        line.wait()
        reports.append(ingester.ingest(ACME, rows_of(documents)))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(each, sides, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return reports
