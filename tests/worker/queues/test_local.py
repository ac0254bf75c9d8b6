"""The embedded scheduler: real threads over a real state store."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest, Unavailable
from runtime.settings import read_settings
from runtime.tenancy import Tenant
from search.ports import StateStore
from tests.worker.queues.windows import LONG_AGO, SECRET, Broken, Workshop, open_state
from worker.duties import Duty, Queue, Work
from worker.queues.attempts import Again, Attempt
from worker.queues.claims import LEASE_S, Claims
from worker.queues.dead_letters import DeadLetters
from worker.queues.local import LocalScheduler

ACME, GLOBEX = Tenant("acme"), Tenant("globex")
SOON = 30.0


@dataclass
class Steps:
    """A duty whose pieces do what the test says, told by name; every piece that was done is noted."""

    name: str = "steps"
    queue: Queue = "monitors"
    waiting: list[Work] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    tries: list[str] = field(default_factory=list)
    gates: dict[str, threading.Event] = field(default_factory=dict)
    errors: dict[str, list[Exception]] = field(default_factory=dict)
    follows: dict[str, tuple[Work, ...]] = field(default_factory=dict)
    ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    tried: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def piece(self, name: str, tenant: Tenant = ACME) -> Work:
        work = Work(self.name, tenant, (name,))
        self.waiting.append(work)
        return work

    def due(self, now: datetime) -> Iterable[Work]:  # noqa: ARG002 (the port's signature)
        return [work for work in self.waiting if work.key[0] not in self.done]

    def do(self, work: Work) -> Iterable[Work]:
        name = work.key[0]
        self.tries.append(name)
        self.tried.release()
        if gate := self.gates.get(name):
            assert gate.wait(SOON)
        if self.errors.get(name):
            raise self.errors[name].pop(0)
        self.done.append(name)
        self.ended.release()
        return self.follows.get(name, ())

    def await_tries(self, count: int) -> None:
        for _ in range(count):
            assert self.tried.acquire(timeout=SOON), self.tries

    def await_done(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.ended.acquire(timeout=SOON), self.tries


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateStore]:
    with open_state(tmp_path / "store.db") as state:
        yield state


def workshop(state: StateStore, *duties: Duty, concurrency: int = 2, interval_s: float = 1.0) -> Workshop:
    settings = read_settings({}, worker_concurrency=concurrency, monitor_interval_s=interval_s, worker_metrics_port=0)
    return Workshop(settings, state, {duty.name: duty for duty in duties})


@contextmanager
def working(scheduler: LocalScheduler) -> Iterator[None]:
    thread = threading.Thread(target=scheduler.run)
    thread.start()
    try:
        yield
    finally:
        scheduler.stop()
        thread.join(SOON)
        assert not thread.is_alive()


def test_it_does_what_is_due_and_what_follows_at_once(state: StateStore) -> None:
    steps = Steps()
    steps.piece("first")
    steps.follows["first"] = (Work("steps", ACME, ("second",)),)
    with working(LocalScheduler(workshop(state, steps, interval_s=3600))):
        steps.await_done(2)
    assert steps.done == ["first", "second"]


def test_a_duty_that_cannot_say_what_is_due_does_not_hinder_the_others(state: StateStore) -> None:
    steps = Steps()
    steps.piece("first")
    with working(LocalScheduler(workshop(state, Broken(), steps))):
        steps.await_done()


def test_a_slow_piece_of_one_tenant_delays_nobody_else(state: StateStore) -> None:
    steps = Steps(gates={"slow": threading.Event(), "slow too": threading.Event()})
    for name in ("slow", "slow too"):
        steps.piece(name)
    other = Steps(name="others", queue="deliveries")
    other.piece("theirs", GLOBEX)
    with working(LocalScheduler(workshop(state, steps, other))):
        other.await_done()
        assert steps.done == []
        for gate in steps.gates.values():
            gate.set()
        steps.await_done(2)


def test_a_piece_that_fails_is_tried_again_and_given_up_after_bounded_attempts(state: StateStore) -> None:
    steps = Steps(errors={"poison": [RuntimeError(SECRET) for _ in range(9)], "unlucky": [RuntimeError(SECRET)]})
    for name in ("poison", "unlucky"):
        steps.piece(name)
    shop = workshop(state, steps)
    with working(LocalScheduler(shop)):
        steps.await_done()
        steps.await_tries(5)
    (letter,), _ = DeadLetters(state, shop.clock).list(ACME)
    assert (letter.work.key, letter.attempts) == (("poison",), 3)
    assert letter.error.startswith("RuntimeError at test_local.py:")
    assert SECRET not in letter.error
    assert steps.tries.count("poison") == 3


def test_an_error_raised_on_purpose_is_given_up_at_once(state: StateStore) -> None:
    steps = Steps(errors={"invalid": [InvalidRequest("is no condition", field="condition")]})
    steps.piece("invalid")
    shop = workshop(state, steps)
    with working(LocalScheduler(shop)):
        steps.await_tries(1)
    assert len(DeadLetters(state, shop.clock).list(ACME)[0]) == 1
    assert steps.tries == ["invalid"]


def test_an_outage_is_waited_for_without_blame(state: StateStore) -> None:
    steps = Steps(errors={"delayed": [Unavailable("down") for _ in range(4)]})
    steps.piece("delayed")
    shop = workshop(state, steps)
    with working(LocalScheduler(shop)):
        steps.await_done()
    assert DeadLetters(state, shop.clock).list(ACME) == ((), None)


def test_what_runs_is_finished_before_it_stops_and_nothing_new_begins(state: StateStore) -> None:
    steps = Steps(gates={"running": threading.Event()})
    steps.piece("running")
    scheduler = LocalScheduler(workshop(state, steps))
    steps.follows["running"] = (Work("steps", ACME, ("never",)),)
    with working(scheduler):
        steps.await_tries(1)
        scheduler.stop()
        steps.gates["running"].set()
    assert steps.done == ["running"]


def test_two_schedulers_do_not_do_the_same_piece_at_the_same_time(state: StateStore) -> None:
    steps = Steps(gates={f"p{n}": threading.Event() for n in range(2)})
    for name in steps.gates:
        steps.piece(name)
    both = [LocalScheduler(workshop(state, steps, concurrency=4)) for _ in range(2)]
    with working(both[0]), working(both[1]):
        steps.await_tries(2)
        threading.Event().wait(1.0)  # several looks of either one
        begun = sorted(steps.tries)
        for gate in steps.gates.values():
            gate.set()
        steps.await_done(2)
    assert begun == ["p0", "p1"]


def test_a_claim_ends_with_its_worker_and_the_lost_attempt_is_counted(state: StateStore) -> None:
    clock = SettableClock(LONG_AGO)
    work = Work("steps", ACME, ("piece",))
    first, second = (Claims(state, clock, name) for name in ("first", "second"))
    assert first.take(work) == Attempt(1)
    assert second.take(work) is None
    clock.instant = clock.now().replace(second=int(LEASE_S / 2))
    first.renew()
    clock.instant = clock.now().replace(second=int(LEASE_S + 5))
    assert second.take(work) is None
    clock.instant = clock.now().replace(minute=5)
    assert second.take(work) == Attempt(2)
    first.renew()
    second.postpone(work, Again(10.0, outage=True))
    assert first.take(work) is None
    clock.instant = clock.now().replace(minute=6)
    assert first.take(work) == Attempt(2, outages=1)
    first.release(work)
    assert second.take(work) == Attempt(1)


def test_claims_of_work_that_nobody_wanted_since_are_forgotten(state: StateStore) -> None:
    clock = SettableClock(LONG_AGO)
    Claims(state, clock, "killed").take(Work("steps", ACME, ("piece",)))
    clock.instant = clock.now().replace(month=2)
    Claims(state, clock, "next").forget_old()
    assert list(state.scan("work_claim")) == []
