"""Exactly one digest and one transition per firing, on every state store: with many evaluators at once, and with one that dies between any two writes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from runtime.clock import SettableClock
from runtime.tenancy import Tenant
from search.ports import Engine, StateEntry, StateStore
from tests.worker.monitors.watch import Watch, at

WRITES = 4
"""Of an evaluation that fires: the standing, the digest, its place in the order, and that nothing is wanted any more."""


class Died(BaseException):
    """The process is gone."""


class Mortal:
    """A state store whose process dies before or after its n-th write."""

    def __init__(self, state: StateStore, dies_at: int, *, after: bool) -> None:
        self._state = state
        self._left = dies_at
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def put(self, *arguments: Any, **options: Any) -> StateEntry:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Died
        entry = self._state.put(*arguments, **options)
        if self._left == 0:
            raise Died
        return entry


@pytest.fixture
def watch(engine: Engine, state: StateStore, tenant: Tenant) -> Iterator[Watch]:
    made = Watch(engine, state, tenant)
    made.lay_out({at(0): 12})
    yield made
    state.erase(tenant)


def holds(watch: Watch) -> None:
    (digest,) = watch.published()
    assert digest.n == 12
    assert [each.digest_id for each in watch.digests.list(watch.tenant).digests] == [digest.digest_id]
    assert [body["after"] for body in watch.told("monitor.transitioned")] == ["firing"]
    assert len(watch.told("digest.published")) == 1
    held = watch.monitors.held(watch.tenant, watch.monitors.get(watch.tenant, "crash-volume"))
    assert (held.standing.state.value, held.wanted, held.digest_id) == ("firing", None, digest.digest_id)


def test_many_evaluators_at_once_give_one_digest(watch: Watch) -> None:
    monitor = watch.save()
    with ThreadPoolExecutor(8) as workers:
        done = list(workers.map(lambda _: watch.evaluator.evaluate_latest(watch.tenant, monitor.monitor_id), range(16)))
    assert sum(not each.repeated for each in done) == 1
    assert sum(each.digest is not None for each in done) == 1
    holds(watch)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("write", range(1, WRITES + 1))
def test_an_evaluator_that_dies_at_a_write_is_finished_by_the_next(watch: Watch, write: int, after: bool) -> None:
    monitor = watch.save()
    mortal = Watch(watch.engine, Mortal(watch.state, write, after=after), watch.tenant, watch.clock, watch.observer)  # type: ignore[arg-type]
    with pytest.raises(Died):
        mortal.evaluator.evaluate_latest(watch.tenant, monitor.monitor_id)
    watch.tick(monitor, at(0.5))
    holds(watch)


def test_an_evaluation_that_fires_takes_as_many_writes_as_are_killed_here(watch: Watch) -> None:
    monitor = watch.save()
    immortal = Watch(watch.engine, Mortal(watch.state, WRITES + 1, after=False), watch.tenant, watch.clock, watch.observer)  # type: ignore[arg-type]
    immortal.evaluator.evaluate_latest(watch.tenant, monitor.monitor_id)
    holds(watch)


def test_what_is_due_is_found_side_by_side_and_unfinished_digests_are_due(watch: Watch) -> None:
    monitor = watch.save()
    others = [watch.save(id=identifier) for identifier in ("a", "Z", "m.1", "m-1")]
    for other in others[:2]:
        watch.tick(other, at(0))
    mortal = Watch(watch.engine, Mortal(watch.state, 1, after=True), watch.tenant, watch.clock, watch.observer)  # type: ignore[arg-type]
    with pytest.raises(Died):
        mortal.evaluator.evaluate_latest(watch.tenant, monitor.monitor_id)
    due = {work.key[0]: work.key[1:] for work in watch.duty.due(at(0)) if work.tenant == watch.tenant}
    wanted = watch.monitors.held(watch.tenant, monitor).wanted
    assert wanted is not None
    assert due == {
        "crash-volume": (at(0).isoformat(), wanted.digest_id),
        "m.1": (at(0).isoformat(),),
        "m-1": (at(0).isoformat(),),
    }


def test_digests_are_read_on_from_any_of_them(watch: Watch) -> None:
    monitor = watch.save(cooldown_s=0)
    watch.lay_out({at(hour): 12 for hour in range(6)})
    clock = SettableClock(at(0))
    skewed = Watch(watch.engine, watch.state, watch.tenant, clock, watch.observer)
    for hour in range(6):
        (watch if hour % 2 else skewed).tick(monitor, at(hour))
    ids = [digest.digest_id for digest in watch.published()]
    assert len(ids) == 6
    for position, digest_id in enumerate(ids):
        assert [digest.digest_id for digest in watch.digests.since(watch.tenant, digest_id, 1000)] == ids[position + 1 :]
    assert [digest.digest_id for digest in watch.digests.since(watch.tenant, ids[1], 2)] == ids[2:4]
    assert watch.digests.latest_id(watch.tenant) == ids[-1]


def test_every_version_of_a_digest_waits_for_its_deliveries_once(watch: Watch) -> None:
    def waiting() -> list[str]:
        return [digest_id for tenant, digest_id in watch.digests.unplanned() if tenant == watch.tenant]

    first = watch.tick(watch.save(), at(0)).digest
    assert first is not None
    assert waiting() == [first.digest_id]
    watch.digests.planned(watch.tenant, first)
    assert waiting() == []
    second = watch.digests.update(watch.tenant, first.digest_id, lambda digest: replace(digest, n=13))
    watch.digests.planned(watch.tenant, first)
    assert waiting() == [first.digest_id]
    watch.digests.planned(watch.tenant, second)
    assert waiting() == []
    assert watch.digests.update(watch.tenant, first.digest_id, lambda digest: digest).version == 2
