"""Duties on a real broker, with workers that are real processes."""

import signal

import pytest

from runtime.tenancy import Tenant
from tests.worker.queues.conftest import Plant
from tests.worker.queues.windows import digests, plan

pytestmark = [pytest.mark.live("valkey"), pytest.mark.slow]


def test_a_worker_finds_what_is_due_does_it_and_stops_cleanly(plant: Plant) -> None:
    plan(plant.state, "w1")
    plan(plant.state, "w2", tenant="globex", follows=["w3"])
    plan(plant.state, "w3", tenant="globex")
    worker = plant.start("both")
    plant.channel.await_all("finished:w1", "finished:w2", "finished:w3")
    assert sorted(digests(plant.state)) == ["w1", "w2", "w3"]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    assert Tenant("acme")
