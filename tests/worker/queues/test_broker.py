"""The ledger and the queue against a real Valkey, without workers."""

import base64
import json
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import redis

from runtime.clock import SettableClock, SystemClock
from runtime.errors import Misconfigured, Unavailable
from runtime.settings import Settings, read_settings
from runtime.tenancy import Tenant
from tests.faults.sockets import nobody_listening
from tests.worker.queues.windows import LONG_AGO, Windows
from tests.worker.queues.windows import Channel as Nowhere
from worker.duties import Work
from worker.queues.attempts import Again, Attempt
from worker.queues.broker_queue import BUNDLE, BrokerQueue, open_broker_queue
from worker.queues.broker_settings import check_broker
from worker.queues.celery_app import celery_app
from worker.queues.ledger import Ledger, open_ledger
from worker.queues.liveness import health
from worker.queues.opening import open_queue

ACME = Tenant("acme")
live = pytest.mark.live("valkey")


def pieces(*names: str, tenant: str = "acme") -> list[Work]:
    return [Work("windows", Tenant(tenant), (name,)) for name in names]


@pytest.fixture
def settings(valkey_url: str) -> Settings:
    """A deployment of the test's own in the session's Valkey."""
    return read_settings({}, redis_url=valkey_url, index_prefix="t" + uuid.uuid4().hex[:12])


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    ledger = open_ledger(settings, SystemClock())
    yield ledger
    ledger.close()


@pytest.fixture
def queue(settings: Settings) -> Iterator[BrokerQueue]:
    with open_broker_queue(settings, SystemClock(), lambda _duty: "monitors") as queue:
        yield queue


def waiting(settings: Settings, name: str) -> list[list[object]]:
    """Arguments of the messages in a queue, oldest first."""
    with redis.Redis.from_url(settings.redis_url) as client:
        raw = client.lrange(f"{settings.index_prefix}:work:{name}", 0, -1)
    bodies = [json.loads(base64.b64decode(json.loads(message)["body"])) for message in reversed(raw)]
    return [body[0] for body in bodies]


@live
def test_a_piece_is_announced_once_until_it_was_done(ledger: Ledger) -> None:
    work, other = pieces("w1", "w2")
    assert ledger.announce([work], kept_s=60) == [work]
    assert ledger.announce([work, other], kept_s=60) == [other]
    with ledger.running(work):
        assert ledger.announce([work], kept_s=60) == []
    assert ledger.announce([work], kept_s=60) == [work]


@live
def test_what_was_saved_while_a_piece_runs_is_told_of_and_what_waits_is_not(ledger: Ledger) -> None:
    running, queued = pieces("running", "queued")
    ledger.announce([queued], kept_s=60)
    with ledger.running(running):
        assert ledger.announce([running, queued], kept_s=60, though_running=True) == [running]


@live
def test_attempts_are_counted_per_piece_and_forgotten_when_it_is_done(ledger: Ledger) -> None:
    work, other = pieces("w1", "w2")
    assert [ledger.attempt(work), ledger.attempt(work), ledger.attempt(other)] == [1, 2, 1]
    ledger.uncount(work)
    assert ledger.attempt(work) == 2
    ledger.forget(work)
    assert ledger.attempt(work) == 1


@live
def test_one_tick_an_interval_whoever_asks(ledger: Ledger) -> None:
    assert ledger.first_tick(LONG_AGO)
    assert not ledger.first_tick(LONG_AGO + timedelta(seconds=59))
    assert ledger.first_tick(LONG_AGO + timedelta(seconds=60))


@live
def test_deployments_that_share_a_broker_do_not_meet(settings: Settings, ledger: Ledger) -> None:
    other = open_ledger(settings.model_copy(update={"index_prefix": "t" + uuid.uuid4().hex[:12]}), SystemClock())
    (work,) = pieces("w1")
    assert ledger.announce([work], kept_s=60)
    assert other.announce([work], kept_s=60)
    other.close()


@live
def test_a_heartbeat_ages_until_work_is_late(settings: Settings, ledger: Ledger) -> None:
    assert health(settings, LONG_AGO, ledger.last_beat).status == "late"
    ledger.beat(LONG_AGO)
    young = health(settings, LONG_AGO + timedelta(seconds=100), ledger.last_beat)
    assert (young.status, young.age_s) == ("ok", 100.0)
    old = health(settings, LONG_AGO + timedelta(seconds=200), ledger.last_beat)
    assert (old.status, "monitors are late" in old.message) == ("late", True)


@live
def test_messages_hold_ids_only_and_wait_in_the_queue_of_their_duty(settings: Settings, queue: BrokerQueue) -> None:
    assert queue.nudge(*pieces("w1", "w2"))
    assert queue.nudge(*pieces("w2", "w3"))
    assert waiting(settings, "monitors") == [["windows", "acme", [name]] for name in ("w1", "w2", "w3")]
    assert waiting(settings, "ingest") == []


@live
def test_another_attempt_carries_the_outages_it_has_seen(settings: Settings, queue: BrokerQueue) -> None:
    queue.later(*pieces("w1"), Again(0.0, outage=True), Attempt(1, outages=2))
    assert waiting(settings, "monitors") == [["windows", "acme", ["w1"], 3]]


@live
def test_a_tick_spreads_bundles_in_which_no_tenant_is_far_ahead(settings: Settings, queue: BrokerQueue) -> None:
    many = pieces(*(f"a{number}" for number in range(3 * BUNDLE)))
    few = pieces("g1", tenant="globex")
    assert queue.spread([*many, *few]) == len(many) + 1
    assert queue.spread([*many, *few]) == 0
    assert [(bundle[1], len(bundle[2])) for bundle in waiting(settings, "ticks")] == [  # type: ignore[arg-type]
        ("acme", BUNDLE), ("globex", 1), ("acme", BUNDLE), ("acme", BUNDLE)
    ]  # fmt: skip


def test_without_an_answer_nothing_is_noted_and_nothing_hindered() -> None:
    settings = read_settings({}, redis_url=nobody_listening().replace("http://", "redis://") + "/0")
    ledger = open_ledger(settings, SystemClock())
    work, other = pieces("w1", "w2")
    assert ledger.announce([work, other], kept_s=60) == [work, other]
    assert ledger.attempt(work) == 1
    assert ledger.first_tick(LONG_AGO)
    with ledger.running(work):
        ledger.forget(work)
    with pytest.raises(Unavailable):
        ledger.last_beat()


def test_a_door_is_told_that_the_broker_is_down_and_goes_on() -> None:
    settings = read_settings({}, redis_url=nobody_listening().replace("http://", "redis://") + "/0")
    duties = {"windows": Windows(None, Nowhere("", ""))}  # type: ignore[arg-type]
    with open_queue(settings, SystemClock(), duties) as queue:
        assert not queue.nudge(*pieces("w1"))
        assert queue.health(SystemClock().now()).status == "unavailable"


def test_without_a_broker_nobody_is_told() -> None:
    clock = SettableClock(datetime.fromisoformat("2026-01-01T00:00:00+00:00"))
    with open_queue(read_settings({}), clock, {}) as queue:
        assert not queue.nudge(*pieces("w1"))
        assert queue.health(clock.now()).status == "not configured"


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({}, "WA_REDIS_URL"),
        ({"redis_url": "amqp://host"}, "WA_REDIS_URL"),
        ({"redis_url": "redis://h/0", "worker_time_limit_s": 840}, "WA_WORKER_TIME_LIMIT_S"),
        ({"redis_url": "redis://h/0", "worker_visibility_timeout_s": 360}, "WA_WORKER_VISIBILITY_TIMEOUT_S"),
    ],
)
def test_settings_that_cannot_work_are_named_at_start(overrides: dict[str, object], named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        check_broker(read_settings({}, **overrides))


def test_celery_is_set_up_so_that_nothing_is_lost_or_run_twice_at_once() -> None:
    conf = celery_app(read_settings({}, redis_url="redis://h/0")).conf
    assert conf.accept_content == ["json"]
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.task_acks_on_timeout) == (True, True, False)
    assert (conf.worker_prefetch_multiplier, conf.task_ignore_result, conf.result_backend) == (1, True, None)
    assert conf.task_soft_time_limit < conf.task_time_limit < conf.broker_transport_options["visibility_timeout"]
    assert not conf.task_always_eager


@live
def test_a_tenant_has_its_share_of_a_worker_and_the_rest_of_its_pieces_wait_in_order(ledger: Ledger) -> None:
    first, second, third = pieces("a", "b", "c")
    (other,) = pieces("a", tenant="globex")
    assert [ledger.shares.enter(work, 0) for work in (first, second, third, other)] == [True, False, False, True]
    assert ledger.shares.enter(first, 0), "a piece that is delivered again has its place already"
    ledger.shares.leave(first)
    parked = ledger.shares.next_of("acme")
    assert parked is not None
    assert parked.work == second
    assert ledger.shares.enter(second, 0)
    assert [each.work for each in ledger.shares.next_of_each()] == [third]
    assert list(ledger.shares.next_of_each()) == []


@live
def test_outages_are_kept_with_a_piece_that_waits_for_its_turn(queue: BrokerQueue, settings: Settings) -> None:
    first, second = pieces("a", "b")
    assert queue.admit(first, 0)
    assert not queue.admit(second, 3)
    assert waiting(settings, "monitors") == []
    queue.resume(ACME)
    assert waiting(settings, "monitors") == [["windows", "acme", ["b"], 3]]
    queue.resume_all()
    assert len(waiting(settings, "monitors")) == 1


def test_without_the_broker_nobody_is_held_back() -> None:
    ledger = open_ledger(read_settings({}, redis_url=nobody_listening().replace("http", "redis")), SystemClock())
    assert all(ledger.shares.enter(work, 0) for work in pieces("a", "b", "c"))
    assert list(ledger.shares.next_of_each()) == []
    ledger.close()
