"""The shared cases of monitors, each driven through the evaluator, delivered as often as the case says."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from runtime.tenancy import tenant_named
from search.engines.embedded import EmbeddedEngine
from tests.cases.reading import BESIDE, VARIABLE, folder
from tests.worker.monitors.watch import Watch
from worker.monitors.evaluating import Evaluation
from worker.monitors.reading import monitor_from

FILE = "monitors.json"


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    steps: tuple[dict[str, Any], ...]


def cases() -> Iterator[Case]:
    found = folder()
    if found is not None and (found / FILE).is_file():
        for case in json.loads((found / FILE).read_text("utf-8"))["cases"]:
            yield Case(f"{case['id']}: {case['title']}", tuple(case["steps"]))


FOUND = tuple(cases())


@pytest.mark.skipif(not FOUND, reason=f"no case files: set {VARIABLE}, or put them at {BESIDE}")
@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_case(case: Case, embedded_store: EmbeddedEngine, tenant: str) -> None:
    for number, taken in enumerate(case.steps):
        _step(Watch(embedded_store, embedded_store.state, tenant_named(f"{tenant}-{taken['tenant']}-{number}")), taken)


def _step(watch: Watch, taken: dict[str, Any]) -> None:
    assert taken["do"] == "ticks"
    moments = [datetime.fromisoformat(tick["at"]) for tick in taken["series"]]
    watch.lay_out({moment: tick["observed"] for moment, tick in zip(moments, taken["series"], strict=True)})
    watch.clock.instant = moments[0]
    monitor = watch.monitors.save(watch.tenant, monitor_from(taken["monitor"], moments[0]))
    states = []
    with ThreadPoolExecutor(taken.get("workers", 1)) as workers:
        for moment in moments:
            watch.clock.instant = moment
            delivered = [
                workers.submit(watch.evaluator.evaluate_latest, watch.tenant, monitor.monitor_id)
                for _ in range(taken.get("each_tick_delivered", 1))
            ]
            done: list[Evaluation] = [each.result() for each in delivered]
            assert sum(not each.repeated for each in done) == 1, "each window is evaluated once, whoever comes"
            states.append(watch.monitors.held(watch.tenant, monitor).standing.state.value)
    _check(watch, taken["expect"], states)


def _check(watch: Watch, expected: dict[str, Any], states: list[str]) -> None:
    assert len(watch.published()) == expected["digests_total"]
    assert len(watch.told("digest.published")) == expected["digests_total"]
    if "states" in expected:
        assert states == expected["states"]
    if "first_firing_tick" in expected:
        assert states.index("firing") + 1 == expected["first_firing_tick"]
    if expected.get("resolved_seen"):
        assert "resolved" in states
    if "state_at_end" in expected:
        assert states[-1] == expected["state_at_end"]
