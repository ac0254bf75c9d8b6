"""Duties on a real broker, with workers that are real processes."""

import signal
from collections import Counter

import httpx
import pytest

from runtime.clock import SystemClock
from runtime.tenancy import Tenant
from tests.servers import free_port
from tests.worker.queues.conftest import Plant, eventually
from tests.worker.queues.windows import SECRET, digests, plan
from worker.queues.broker_queue import open_broker_queue
from worker.queues.dead_letters import DeadLetter, DeadLetters

pytestmark = [pytest.mark.live("valkey"), pytest.mark.slow]

ACME = Tenant("acme")


def letters(plant: Plant) -> dict[str, DeadLetter]:
    """Dead letters of acme by window."""
    return {letter.work.key[0]: letter for letter in DeadLetters(plant.state, SystemClock()).list(ACME)[0]}


def test_a_worker_does_what_is_due_what_follows_and_what_it_is_told_of(plant: Plant) -> None:
    plan(plant.state, "w1")
    plan(plant.state, "w2", tenant="globex", follows=["w3"])
    follows = plan(plant.state, "w3", tenant="globex", at=SystemClock().now().replace(year=2999))
    plant.start("both", WA_MONITOR_INTERVAL_S="600", WA_WORKER_VISIBILITY_TIMEOUT_S="900")
    plant.channel.await_all("finished:w1", "finished:w2", "finished:w3")
    nudged = plan(plant.state, "w4")
    with open_broker_queue(plant.settings(), SystemClock(), lambda _duty: "monitors") as queue:
        assert queue.nudge(nudged)
        plant.channel.await_all("finished:w4", within_s=10)
    assert sorted(digests(plant.state)) == ["w1", "w2", "w3", "w4"]
    assert follows.key == ("w3",)


def test_a_tenant_whose_pieces_are_slow_leaves_a_process_for_the_others(plant: Plant) -> None:
    slow = [f"slow{number}" for number in range(6)]
    for window in slow:
        plan(plant.state, window, mode="waits")
    plant.start("both", WA_WORKER_TIME_LIMIT_S="60", WA_WORKER_VISIBILITY_TIMEOUT_S="90")
    assert next(plant.channel.heard()).startswith("started:slow")
    for number in range(3):
        plan(plant.state, f"quick{number}", tenant="globex")
    told = plant.channel.await_all(*(f"finished:quick{number}" for number in range(3)))
    assert not [each for each in told if "slow" in each], "the slow tenant held both processes, or was done"
    for window in slow:
        plant.channel.allow(window)
    plant.channel.await_all(*(f"finished:{window}" for window in slow))


def test_poison_becomes_a_dead_letter_after_bounded_attempts_and_the_others_go_on(plant: Plant) -> None:
    for mode in ("raises", "invalid", "dies", "hangs", "deaf"):
        plan(plant.state, mode, mode=mode)
    plant.start("both", WA_WORKER_TIME_LIMIT_S="2", WA_WORKER_MAX_DELIVERIES="2")
    eventually(lambda: len(letters(plant)) == 5)
    plan(plant.state, "fine", tenant="globex")
    told = plant.channel.await_all("finished:fine")
    assert digests(plant.state) == ["fine"]
    tries = Counter(each.removeprefix("started:") for each in told if each.startswith("started:"))
    assert tries["invalid"] == 1
    assert all(tries[mode] == 2 for mode in ("raises", "dies", "hangs", "deaf")), tries
    found = letters(plant)
    assert found["raises"].error.startswith("RuntimeError at windows.py:")
    assert found["invalid"].error == "InvalidRequest: condition: is not a condition"
    assert found["hangs"].error.startswith("SoftTimeLimitExceeded")
    assert "process ended" in found["dies"].error
    assert "process ended" in found["deaf"].error
    assert SECRET not in str(found.values())


def test_the_metrics_of_all_processes_are_on_one_port(plant: Plant) -> None:
    for number in range(8):
        plan(plant.state, f"w{number}")
    port = free_port()
    plant.start("both", WA_WORKER_METRICS_PORT=str(port))
    plant.channel.await_all(*(f"finished:w{number}" for number in range(8)))
    eventually(
        lambda: 'wa_tasks_total{outcome="done",task="windows"} 8.0' in httpx.get(f"http://127.0.0.1:{port}/metrics").text, within_s=10
    )


def test_a_dead_letter_that_is_retried_is_done(plant: Plant) -> None:
    work = plan(plant.state, "w1", mode="invalid")
    plant.start("both")
    eventually(lambda: letters(plant))
    plan(plant.state, "w1")
    again = DeadLetters(plant.state, SystemClock()).retry(ACME, work.work_id)
    with open_broker_queue(plant.settings(), SystemClock(), lambda _duty: "monitors") as queue:
        queue.nudge(again)
    plant.channel.await_all("digest:w1", within_s=10)


def test_a_lost_pool_process_costs_one_attempt_and_no_time(plant: Plant) -> None:
    plan(plant.state, "w1", mode="dies_once")
    plant.start("both", WA_MONITOR_INTERVAL_S="600", WA_WORKER_VISIBILITY_TIMEOUT_S="900")
    told = plant.channel.await_all("digest:w1")
    assert told.count("started:w1") == 2
    assert letters(plant) == {}


def test_the_work_of_a_killed_worker_is_done_by_another_within_seconds(plant: Plant) -> None:
    plan(plant.state, "w1", mode="waits")
    first = plant.start("both", WA_WORKER_VISIBILITY_TIMEOUT_S="900")
    plant.channel.await_all("started:w1")
    plant.start("both", WA_WORKER_VISIBILITY_TIMEOUT_S="900")
    plant.kill(first)
    plant.channel.await_all("started:w1", within_s=15)
    plant.channel.allow("w1")
    plant.channel.await_all("digest:w1", within_s=10)


def test_sigterm_finishes_what_runs(plant: Plant) -> None:
    plan(plant.state, "w1", mode="waits")
    worker = plant.start("both")
    plant.channel.await_all("started:w1")
    worker.send_signal(signal.SIGTERM)
    plant.channel.allow("w1")
    plant.channel.await_all("finished:w1", within_s=10)
    assert worker.wait(30) == 0
    assert digests(plant.state) == ["w1"]


def test_sigquit_puts_back_what_runs_too_long(plant: Plant) -> None:
    plan(plant.state, "w1", mode="waits")
    worker = plant.start("both", WA_WORKER_TIME_LIMIT_S="2")
    plant.channel.await_all("started:w1")
    worker.send_signal(signal.SIGQUIT)
    worker.wait(30)
    plant.start("both")
    plant.channel.await_all("started:w1")
    plant.channel.allow("w1")
    plant.channel.await_all("digest:w1", within_s=10)


def test_a_broker_that_is_killed_and_comes_back_empty_costs_nothing_but_time(plant: Plant) -> None:
    worker = plant.start("both")
    plan(plant.state, "before")
    plan(plant.state, "running", mode="waits")
    plant.channel.await_all("digest:before", "started:running")
    with open_broker_queue(plant.settings(), SystemClock(), lambda _duty: "monitors") as queue:
        eventually(lambda: queue.health(SystemClock().now()).status == "ok", within_s=10)
        plant.broker.kill()
        during = plan(plant.state, "during")
        assert not queue.nudge(during)
        assert queue.health(SystemClock().now()).status == "unavailable"
        assert "monitors are late" in queue.health(SystemClock().now()).message
        plant.channel.allow("running")
        plant.channel.allow("running")
        plant.broker.start()
        eventually(lambda: sorted(digests(plant.state)) == ["before", "during", "running"])
        eventually(lambda: queue.health(SystemClock().now()).status == "ok", within_s=10)
    plant.broker.kill()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0


def test_an_acknowledgement_that_fails_makes_the_worker_connect_anew(plant: Plant) -> None:
    """Otherwise its only place would stay taken by a piece that is over, and it would fetch nothing more for ever."""
    plan(plant.state, "running", mode="waits")
    plant.start("both", WA_WORKER_CONCURRENCY="1")
    plant.channel.await_all("started:running")
    plant.broker.kill()
    plant.channel.allow("running")
    plant.channel.await_all("finished:running")
    eventually(lambda: "Connection to broker lost" in plant.log())
    plant.broker.start()
    plan(plant.state, "next")
    plant.channel.await_all("digest:next")
    assert "Couldn't ack" not in plant.log()
