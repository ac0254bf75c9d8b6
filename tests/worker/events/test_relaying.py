"""From the outbox into each tenant's log, once and in order, whatever dies or runs twice."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.worker.events.mill import ACME, BIRCH, DownBus, Mill, QuietBus, digest, folded, keep, open_mill, refusal, without_page
from worker.events.relay import BATCH, Relay

ROOT = Path(__file__).parents[3]


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    with open_mill(tmp_path / "store.db") as opened:
        yield opened


def test_events_go_into_their_tenants_log_in_order_and_out_of_the_outbox(mill: Mill) -> None:
    events = [digest((ACME, BIRCH)[number % 3 == 0], number) for number in range(3 * BATCH)]
    keep(mill.state, events)
    mill.run()
    for tenant in (ACME, BIRCH):
        assert mill.logged(tenant) == [event for event in events if event.tenant == tenant]
    assert mill.state.outbox() == ()


def test_the_bus_gets_what_the_log_has_with_the_same_numbers(mill: Mill) -> None:
    keep(mill.state, [digest(ACME, number) for number in range(5)])
    mill.relay.relay()
    assert [(each.message.sequence, each.message.event) for each in mill.bus.read("others", "one")] == list(enumerate(mill.logged(ACME), 1))


def test_a_bus_that_is_down_keeps_events_where_they_are_and_fails_nothing(tmp_path: Path) -> None:
    events = [digest(ACME, number) for number in range(5)]
    with open_mill(tmp_path / "store.db", DownBus()) as mill:
        keep(mill.state, events)
        for _ in range(3):
            (work,) = mill.relaying.due(mill.clock.now())
            assert mill.relaying.do(work) == ()
        assert list(mill.state.outbox()) == events
        registry = mill.metrics.registry
        labels = {"event_type": "digest.published", "outcome": "unavailable"}
        assert registry.get_sample_value("wa_events_published_total", labels) == 15
        assert registry.get_sample_value("wa_outbox_events") == 5
    with open_mill(tmp_path / "store.db") as mill:
        mill.run()
        assert mill.logged(ACME) == events
        assert without_page(mill.projection(ACME)) == folded(events)


class Dies(Exception):
    """In place of a process that ends."""


class DyingState:
    """A state store whose owner dies before or after the call of some number."""

    def __init__(self, state: Any, at: int, *, after: bool) -> None:
        self._state, self._left, self._after = state, at, after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._state, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                raise Dies
            answer = method(*args, **kwargs)
            if self._left == 0:
                raise Dies
            return answer

        return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 22))
def test_a_relay_that_dies_at_any_call_loses_and_doubles_nothing(mill: Mill, at: int, after: bool) -> None:
    events = [digest((ACME, BIRCH)[number % 2], number) for number in range(6)]
    keep(mill.state, events[:4])
    dying = DyingState(mill.state, at, after=after)
    log = type(mill.log)(dying)
    with suppress(Dies):
        Relay(dying, log, mill.bus, mill.metrics).relay()
    keep(mill.state, events[4:])
    mill.run()
    for tenant in (ACME, BIRCH):
        expected = [event for event in events if event.tenant == tenant]
        assert mill.logged(tenant) == expected
        assert without_page(mill.projection(tenant)) == folded(expected)


def test_relays_and_counters_at_once_count_everything_once(mill: Mill) -> None:
    events = [(digest, refusal)[number % 2]((ACME, BIRCH)[number % 3 == 0], number) for number in range(240)]
    chosen = random.Random(7)

    def work(number: int) -> None:
        if number % 4 == 0:
            keep(mill.state, events[number * 3 : number * 3 + 12])
        elif chosen.random() < 0.5:
            mill.relay.relay()
        else:
            mill.projections.catch_up(ACME)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(80)))
    mill.run()
    for tenant in (ACME, BIRCH):
        expected = {event.event_id for event in events if event.tenant == tenant}
        logged = mill.logged(tenant)
        assert len(logged) == len(expected)
        assert {event.event_id for event in logged} == expected
        assert without_page(mill.projection(tenant)) == folded(logged)


def test_a_bus_that_loses_everything_changes_no_count(tmp_path: Path) -> None:
    events = [digest(ACME, number) for number in range(5)]
    with open_mill(tmp_path / "store.db", QuietBus()) as mill:  # type: ignore[arg-type]
        keep(mill.state, events)
        mill.run()
        assert without_page(mill.projection(ACME)) == folded(events)


def test_workers_killed_at_random_count_every_event_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    events = [(digest, refusal)[number % 2]((ACME, BIRCH)[number % 3 == 0], number) for number in range(200)]
    command = [sys.executable, "-m", "tests.worker.events.mill_worker", str(path)]
    with open_mill(path) as mill:
        for start in range(0, len(events), 100):
            victims = [
                subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE) for _ in range(2)
            ]
            for victim in victims:
                assert victim.stdout is not None
                victim.stdout.readline()
            for at in range(start, start + 100, 20):
                keep(mill.state, events[at : min(at + 20, start + 100)])
            for victim in victims:
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                assert victim.stdout is not None
                victim.stdout.close()
        mill.run()
        for tenant in (ACME, BIRCH):
            expected = [event for event in events if event.tenant == tenant]
            assert {event.event_id for event in mill.logged(tenant)} == {event.event_id for event in expected}
            assert without_page(mill.projection(tenant)) == folded(mill.logged(tenant))
            counted = mill.projection(tenant)
            assert mill.projections.rebuild(tenant).as_json() == counted
