"""Reports, sets and schedules of evaluations mean the same on every state store, also when the writer dies between any two writes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from grounding.evaluation.cases import EvalSet
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.report_store import Reports
from grounding.evaluation.reports import Subject, judged, report_of
from grounding.evaluation.set_files import digest_of
from grounding.evaluation.set_store import Sets
from runtime.clock import SettableClock
from runtime.errors import NotFound
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore
from tests.grounding.evaluation.graded import case, result, wrong
from worker.evaluations.schedules import Progress, Schedules

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
RESULTS = tuple(
    result(str(number), ranking=tuple(f"document-{place:030}" for place in range(50)), problems=wrong() if number % 3 else ())
    for number in range(300)
)
REPORT = judged(
    report_of("r-1", Subject("mine", "d" * 16, 10, 3, "engine 1", "minilm"), AT, 1.5, RESULTS), ScoreGate({"exact_rate": 0.5}), None
)


class Died(BaseException):
    """The process is gone."""


class Mortal:
    """A state store whose process dies before its n-th write."""

    def __init__(self, state: StateStore, dies_at: int) -> None:
        self._state = state
        self._left = dies_at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def put(self, *arguments: Any, **options: Any) -> StateEntry:
        self._left -= 1
        if self._left == 0:
            raise Died
        return self._state.put(*arguments, **options)


@pytest.fixture(autouse=True)
def _emptied(state: StateStore, tenant: Tenant) -> Iterator[None]:
    yield
    state.erase(tenant)


def told(state: StateStore, tenant: Tenant) -> list[str]:
    return [event.subject for event in state.outbox(first=1000) if event.type == "eval.finished" and event.tenant == tenant]


def test_a_report_of_many_sheets_is_read_as_it_was_written(state: StateStore, tenant: Tenant) -> None:
    assert Reports(state).save(tenant, REPORT)
    assert not Reports(state).save(tenant, replace(REPORT, seconds=9.0))
    assert Reports(state).get(tenant, "r-1") == REPORT
    assert [each.report_id for each in Reports(state).list(tenant, set_name="mine").reports] == ["r-1"]
    assert told(state, tenant) == ["r-1"]


@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_report_is_there_with_its_event_or_not_at_all(state: StateStore, tenant: Tenant, write: int) -> None:
    with pytest.raises(Died):
        Reports(Mortal(state, write)).save(tenant, REPORT)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        Reports(state).get(tenant, "r-1")
    assert told(state, tenant) == []
    assert Reports(state).save(tenant, REPORT)
    assert Reports(state).get(tenant, "r-1") == REPORT
    assert told(state, tenant) == ["r-1"]


@pytest.mark.parametrize("write", [1, 2])
def test_a_set_is_replaced_whole_or_not_at_all(state: StateStore, tenant: Tenant, write: int) -> None:
    sets = Sets(state)
    old, new = (EvalSet("mine", cases, digest_of(cases)) for cases in ((case("a", "old?"),), (case("b", "new?"), case("c", "new?"))))
    sets.save(tenant, old)
    with pytest.raises(Died):
        Sets(Mortal(state, write)).save(tenant, new)  # type: ignore[arg-type]
    assert sets.get(tenant, "mine") == old
    sets.save(tenant, new)
    assert sets.get(tenant, "mine") == new


def test_only_one_of_two_workers_gets_hold_of_a_schedule(state: StateStore, tenant: Tenant) -> None:
    schedules = Schedules(state, SettableClock(AT))
    schedules.save(tenant, "mine", name="nightly", every_s=3600, gate=ScoreGate({"exact_rate": 0.5}, must_hold=("a",)))
    one, two = schedules.get(tenant, "nightly"), schedules.get(tenant, "nightly")
    busy = Progress(busy_until=AT)
    taken = schedules.update(tenant, replace(one, progress=busy))
    assert taken == replace(one, progress=busy, version=one.version + 1)
    assert schedules.update(tenant, replace(two, progress=busy)) is None
    assert (tenant, taken) in list(schedules.all())
    schedules.delete(tenant, "nightly")
    assert schedules.update(tenant, replace(one, last_error="late")) is None
