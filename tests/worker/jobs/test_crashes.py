"""Workers that die at any point, that do the same chunk at once, or that go on after they were given up: the report and the store are those of one
undisturbed run."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from runtime.clock import SettableClock
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.embedded import open_embedded
from search.ingest.rows import rows_of
from tests.search.ingest.conftest import ticket
from tests.search.ingest.hashing import HashingEmbedder
from tests.worker.jobs.bench import Bench, bench, counted
from tests.worker.jobs.conftest import NOW
from tests.worker.jobs.dying import Ended, Life, Mortal
from worker.duties import Work

ROOT = Path(__file__).parents[3]

ROWS: list[dict[str, Any]] = [
    *(ticket(f"t-{n}", f"text {n}") for n in range(8)),
    ticket("t-0", "text 0"),
    ticket("t-1", "text 1 again"),
    ticket("t-1", "text 1 once more"),
    ticket("bad", ""),
    ticket("t-2", "text 2"),
    ticket("old", "older words", version=1),
    ticket("same", "same words"),
    *(ticket(f"u-{n}", f"text u {n}") for n in range(8)),
    ticket("t-1", "text 1 again"),
    ticket("gone", "was deleted"),
]
EXPECTED = {"received": 25, "indexed": 16, "unchanged": 3, "updated": 3, "duplicate": 2, "rejected": 1}


def prepared(desk: Bench, tenant: str) -> Bench:
    """A tenant with something stored already, beside which the rows make every outcome."""
    named = tenant_named(tenant)
    before = [ticket("old", "newer words", version=2), ticket("same", "same words"), ticket("gone", "was deleted")]
    desk.ingester.ingest(named, rows_of(before))
    desk.engine.delete(named, ["gone"])
    return bench(desk.engine, desk.clock, tenant)


def stored(desk: Bench) -> dict[str, tuple[int, str]]:
    """Every live document with its version and text."""
    page = desk.engine.documents(desk.tenant, EVERYTHING, first=1000)
    return {each.doc_id: (each.version, each.text) for each in page.documents}


def die() -> None:
    raise Ended


def test_rows_of_every_outcome_in_one_undisturbed_run(desk: Bench) -> None:
    undisturbed = prepared(desk, f"{desk.tenant}-calm")
    job = undisturbed.hand_in(ROWS)
    undisturbed.finish()
    assert counted(undisturbed.report(job)) == EXPECTED


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_may_die_at_any_change_and_the_report_is_that_of_one_run(desk: Bench, after: bool) -> None:
    calm = prepared(desk, f"{desk.tenant}-calm")
    calm.hand_in(ROWS)
    calm.finish()
    for calls in range(1, 100):
        one = prepared(desk, f"{desk.tenant}-{calls}-{after}".lower())
        job = one.hand_in(ROWS)
        life = Life(calls, after=after, end=die)
        mortal = one.worker(store=Mortal(one.engine, life), state=Mortal(one.state, life))
        try:
            _run(one, mortal)
        except Ended:
            _run(one, one.duty)
            assert one.job(job).state == "done", calls
            assert counted(one.report(job)) == EXPECTED, calls
            assert stored(one) == stored(calm), calls
            assert one.state.entries(one.tenant, "ingest_chunk", first=10) == ((), None), calls
        else:
            assert calls > 20
            return
    raise AssertionError("the job never ended without a crash")


@pytest.mark.parametrize("calls", [2, 3, 4, 5, 9, 10, 11, 12])
def test_a_job_goes_on_after_its_worker_was_killed(tmp_path: Path, calls: int) -> None:
    path, clock = tmp_path / "store.db", SettableClock(NOW)
    model, dimension = HashingEmbedder.model, HashingEmbedder.dimension
    with open_embedded(path, model=model, dimension=dimension, clock=clock) as engine:
        desk = bench(engine, clock, "acme")
        prepared(desk, "acme")
        job = desk.hand_in(ROWS)
    ended = subprocess.run([sys.executable, "-c", _WORKER, str(path), str(calls)], cwd=ROOT, check=False, timeout=120)
    assert ended.returncode == -9
    with open_embedded(path, model=model, dimension=dimension, clock=clock) as engine:
        desk = bench(engine, clock, "acme")
        desk.finish()
        assert desk.job(job).state == "done"
        assert counted(desk.report(job)) == EXPECTED


def test_two_workers_on_one_job_at_once_count_every_row_once(both: Bench) -> None:
    rows = [ticket(f"t-{n % 45}", f"text {n % 50}") for n in range(100)]
    calm = bench(both.engine, both.clock, f"{both.tenant}-calm")
    expected, job = calm.hand_in(rows), both.hand_in(rows)
    calm.finish()

    def work() -> None:
        worker = both.worker()
        waiting = [*worker.due(both.clock.now())]
        while waiting:
            waiting += worker.do(waiting.pop(0))
        _run(both, worker)

    failures: list[BaseException] = []
    threads = [threading.Thread(target=_caught(work, failures)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert both.job(job).state == "done"
    assert counted(both.report(job)) == counted(calm.report(expected))
    assert stored(both) == stored(calm)


def test_a_chunk_done_twice_at_once_is_written_once(desk: Bench) -> None:
    job = desk.hand_in([ticket(f"t-{n}", f"text {n}") for n in range(10)])
    work = next(iter(desk.duty.due(NOW)))
    other = desk.worker(state=Interleaved(desk.state, lambda: [*desk.duty.do(work)]))
    assert [*other.do(work)] == []
    assert counted(desk.report(job)) == {"received": 10, "indexed": 10}
    assert set(stored(desk).values()) == {(1, f"text {n}") for n in range(10)}


def test_a_worker_that_goes_on_after_it_was_given_up_puts_nothing_older_over_newer(desk: Bench) -> None:
    """It stops right before its write, and meanwhile the whole job is done by another."""
    rows = [*(ticket(f"t-{n}", f"text {n}") for n in range(10)), *(ticket(f"t-{n}", f"newer text {n}") for n in range(10))]
    job = desk.hand_in(rows)
    work = next(iter(desk.duty.due(NOW)))
    sleeper = desk.worker(store=Interleaved(desk.engine, desk.finish, at="write"))
    assert [*sleeper.do(work)] == []
    assert counted(desk.report(job)) == {"received": 20, "indexed": 10, "updated": 10}
    assert stored(desk) == {f"t-{n}": (2, f"newer text {n}") for n in range(10)}


def test_what_another_writer_changed_meanwhile_is_not_lost_and_the_report_adds_up(desk: Bench) -> None:
    def meanwhile() -> None:
        desk.ingester.ingest(
            desk.tenant, rows_of([ticket("t-1", "theirs"), ticket("t-2", "text 2"), ticket("t-3", "a"), ticket("t-3", "b")])
        )

    job = desk.hand_in([ticket(f"t-{n}", f"text {n}") for n in range(5)])
    worker = desk.worker(store=Interleaved(desk.engine, meanwhile, at="write"))
    _run(desk, worker)
    assert desk.report(job).received == 5
    assert stored(desk)["t-1"] == (2, "text 1")
    assert stored(desk)["t-2"] == (1, "text 2")
    assert stored(desk)["t-3"] == (2, "b")


def test_what_was_stored_before_a_crash_is_not_embedded_again(desk: Bench) -> None:
    job = desk.hand_in([*(ticket(f"t-{n}", f"text {n}") for n in range(8)), ticket("t-0", "newer text"), ticket("t-1", "text 1")])
    with pytest.raises(Ended):
        _run(desk, desk.worker(store=Mortal(desk.engine, Life(2, after=True, end=die))))
    first = len(desk.embedder.texts)
    desk.finish()
    assert counted(desk.report(job)) == {"received": 10, "indexed": 8, "updated": 1, "duplicate": 1}
    assert set(desk.embedder.texts[first:]) == {"text 0", "text 1", "newer text"}


def test_a_document_deleted_between_crash_and_repetition_stays_deleted(desk: Bench) -> None:
    job = desk.hand_in([ticket(f"t-{n}", f"text {n}") for n in range(5)])
    life = Life(1, after=True, end=die)
    with pytest.raises(Ended):
        _run(desk, desk.worker(store=Mortal(desk.engine, life)))
    desk.engine.delete(desk.tenant, ["t-3"])
    desk.finish()
    assert counted(desk.report(job)) == {"received": 5, "indexed": 5}
    assert "t-3" not in stored(desk)


class Interleaved:
    """A real store where something else happens once, right before the first call of a kind."""

    def __init__(self, store: Any, meanwhile: Any, at: str = "put") -> None:
        self._store = store
        self._meanwhile = meanwhile
        self._at = at

    def __getattr__(self, name: str) -> Any:
        if name == self._at and self._meanwhile is not None:
            meanwhile, self._meanwhile = self._meanwhile, None
            meanwhile()
        return getattr(self._store, name)


def _run(desk: Bench, worker: Any) -> None:
    waiting: list[Work] = [work for work in worker.due(NOW) if work.tenant == desk.tenant]
    while waiting:
        waiting += worker.do(waiting.pop(0))


def _caught(work: Any, failures: list[BaseException]) -> Any:
    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            failures.append(error)

    return run


_WORKER = """
import os, signal, sys
from pathlib import Path
from runtime.clock import SettableClock
from search.engines.embedded import open_embedded
from tests.search.ingest.hashing import HashingEmbedder
from tests.worker.jobs.bench import bench
from tests.worker.jobs.conftest import NOW
from tests.worker.jobs.dying import Life, Mortal

end = lambda: os.kill(os.getpid(), signal.SIGKILL)
clock = SettableClock(NOW)
with open_embedded(Path(sys.argv[1]), model=HashingEmbedder.model, dimension=HashingEmbedder.dimension, clock=clock) as engine:
    desk = bench(engine, clock, "acme")
    life = Life(int(sys.argv[2]), after=True, end=end)
    worker = desk.worker(store=Mortal(engine, life), state=Mortal(desk.state, life))
    waiting = list(worker.due(NOW))
    while waiting:
        waiting += worker.do(waiting.pop(0))
"""
