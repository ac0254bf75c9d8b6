"""Digests on their way to receivers, over real sockets: retried, bounded, told apart from updates, and never in each other's way."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from standardwebhooks import Webhook

from runtime.clock import SettableClock
from runtime.errors import Unavailable
from search.engines.embedded import EmbeddedEngine
from search.ports import StateStore
from tests.worker.deliveries.digests import ACME, BIRCH, SECRET, Desk, desk
from tests.worker.deliveries.receiving import ReceivingServer, answer, closed_port, receiving
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery

OK = answer(200)


def only(worker: Desk, number: int = 1) -> Delivery:
    (delivery,) = worker.deliveries.of_digest(ACME, f"dig_{number}")
    return delivery


def ids(server: ReceivingServer) -> list[str]:
    return [got.headers["webhook-id"] for got in server.received]


def test_a_digest_arrives_once_signed_so_that_the_standard_library_verifies_it(worker: Desk) -> None:
    with receiving(OK) as server:
        made = worker.publish(Receiver("webhook", server.url))
        worker.tick()
        worker.tick()
        (got,) = server.received
    body = Webhook(SECRET).verify(got.body, got.headers)
    assert (body["type"], body["tenant"], body["data"]["digestId"]) == ("digest.published", "acme", made.digest_id)
    assert body["data"]["claims"][0]["citations"][0]["docId"] == "d-1"
    assert got.headers["webhook-id"] == body["deliveryId"] == only(worker).delivery_id
    assert (only(worker).state, only(worker).attempts, only(worker).delivered_version) == ("delivered", 1, 1)


def test_a_failed_attempt_is_repeated_later_under_the_same_key(worker: Desk) -> None:
    with receiving(answer(500), OK) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
        assert (only(worker).state, only(worker).attempts, only(worker).last_error) == ("pending", 1, "the receiver answered 500")
        assert worker.tick() == []  # not yet
        worker.later(minutes=1)
        worker.tick()
        assert only(worker).state == "delivered"
        assert len(set(ids(server))) == 1
        assert len(server.received) == 2


def test_a_receiver_that_asks_to_wait_is_waited_for(worker: Desk) -> None:
    with receiving(answer(429, "retry-after: 7200\r\n"), OK) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
        assert only(worker).next_attempt_at == worker.clock.instant + timedelta(hours=2)
        worker.later(hours=1)
        assert worker.tick() == []
        worker.later(hours=1)
        worker.tick()
        assert only(worker).state == "delivered"


def test_attempts_are_bounded_and_what_was_given_up_is_seen_and_can_be_sent_again(worker: Desk) -> None:
    with receiving(*[answer(503)] * 6, OK) as server:
        worker.publish(Receiver("webhook", server.url))
        for _ in range(20):
            worker.tick()
            worker.later(hours=7)
        assert len(server.received) == 6
        assert (only(worker).state, only(worker).attempts) == ("undelivered", 6)
        assert worker.deliveries.list(ACME, state="undelivered").deliveries == (only(worker),)
        assert worker.deliveries.redeliver(ACME, "dig_1") == (only(worker),)
        worker.tick()
        assert only(worker).state == "delivered"
        assert len(set(ids(server))) == 1
    assert worker.deliveries.redeliver(ACME, "dig_1") == ()


@pytest.mark.parametrize("said", [answer(404), answer(410), answer(302, "location: /elsewhere\r\n")])
def test_a_receiver_that_refuses_for_good_is_asked_once(worker: Desk, said: str) -> None:
    with receiving(said) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
        worker.later(days=1)
        worker.tick()
        assert len(server.received) == 1
    assert only(worker).state == "undelivered"


def test_an_update_is_sent_as_an_update_under_a_key_that_begins_with_the_first(worker: Desk) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
        worker.digests.update(ACME, "dig_1", lambda known: replace(known, n=13))
        worker.tick()
        worker.tick()
        first, second = (json.loads(got.body) for got in server.received)
    assert (second["type"], second["data"]["version"], second["data"]["n"]) == ("digest.updated", 2, 13)
    assert first["deliveryId"] == second["deliveryId"]
    assert ids(server) == [first["deliveryId"], first["deliveryId"] + "_2"]


def test_a_digest_that_grows_before_anybody_was_told_is_told_once_as_it_is(worker: Desk) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        (plan,) = worker.duty.due(worker.clock.now())
        (send,) = worker.duty.do(plan)
        worker.digests.update(ACME, "dig_1", lambda known: replace(known, n=13))
        worker.work([send])
        worker.tick()
        (got,) = server.received
    assert (json.loads(got.body)["type"], json.loads(got.body)["data"]["version"]) == ("digest.published", 2)


def test_words_of_a_document_that_was_deleted_meanwhile_are_not_sent(worker: Desk, store: EmbeddedEngine) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        store.delete(ACME, ["d-1"])
        worker.tick()
        assert b"declined." not in server.received[0].body
        assert json.loads(server.received[0].body)["data"]["withdrawnDocIds"] == ["d-1"]


def test_each_receiver_gets_its_own_and_nobody_else_when_the_monitor_is_gone(worker: Desk) -> None:
    with receiving(OK) as one, receiving(OK) as two:
        worker.publish(Receiver("webhook", one.url), Receiver("webhook", two.url), Receiver("stream"))
        worker.tick()
        assert (len(one.received), len(two.received)) == (1, 1)
        assert {item.state for item in worker.deliveries.of_digest(ACME, "dig_1")} == {"delivered"}
        worker.publish(Receiver("webhook", one.url), number=2)
        worker.monitors.delete(ACME, "payments")
        worker.tick()
        assert len(one.received) == 1
    assert worker.deliveries.of_digest(ACME, "dig_2") == ()
    assert worker.tick() == []


def test_the_same_work_twice_sends_once(worker: Desk, opened: Callable[..., Desk]) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        (plan,) = worker.duty.due(worker.clock.now())
        (send,) = worker.duty.do(plan)
        opened().work([plan, send])
        worker.work([send, plan])
        assert len(server.received) == 1


class Dying:
    """A process that dies at the n-th write: nothing is kept of that write or of any later one."""

    def __init__(self, state: StateStore, writes: int) -> None:
        self._state = state
        self._writes = writes

    def put(self, *arguments: object, **named: object) -> object:
        self._writes -= 1
        if self._writes < 0:
            raise Unavailable("the process has died")
        return self._state.put(*arguments, **named)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._state, name)


@pytest.mark.parametrize("writes", [0, 1, 2, 3])
def test_a_worker_that_dies_at_any_write_leaves_at_most_a_second_copy_under_the_same_key(
    worker: Desk, store: EmbeddedEngine, clock: SettableClock, writes: int
) -> None:
    dying = desk(store, Dying(store.state, writes), clock)  # type: ignore[arg-type]
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        try:
            dying.tick()
        except Unavailable:
            assert writes < 4
        worker.later(minutes=5)
        worker.tick()
        assert only(worker).state == "delivered"
        assert len(set(ids(server))) == 1
        assert len(server.received) == (2 if writes == 3 else 1)


def test_a_worker_that_dies_in_every_attempt_has_used_them_up(worker: Desk, store: EmbeddedEngine, clock: SettableClock) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        for _ in range(10):
            for piece in worker.duty.due(clock.now()):
                dying = desk(store, Dying(store.state, 1 if piece.key[0] == "send" else 9), clock)  # type: ignore[arg-type]
                try:
                    tuple(dying.duty.do(piece))
                except Unavailable:
                    continue
            worker.later(minutes=5)
        worker.tick()
    assert only(worker).state == "undelivered"
    assert len(server.received) == 6


def test_a_dead_receiver_is_tried_once_a_tick_and_comes_before_nobody(worker: Desk) -> None:
    dead = Receiver("webhook", f"http://localhost:{closed_port()}/")
    with receiving(OK) as server:
        for number in range(1, 6):
            worker.publish(dead, number=number, monitor_id="dead")
        for number in range(6, 11):
            worker.publish(Receiver("webhook", server.url), number=number, monitor_id="live")
        plans = [piece for piece in worker.duty.due(worker.clock.now()) if piece.key[0] == "plan"]
        for plan in plans:
            worker.duty.do(plan)
        sends = list(worker.duty.due(worker.clock.now()))
        assert len(sends) == 2  # one for each host
        worker.work(sends)
        assert len(server.received) == 5  # what succeeds is followed by the next at once
    tried = [item for item in worker.deliveries.list(ACME, state="pending", first=100).deliveries if item.attempts]
    assert len(tried) == 1


def test_one_tenants_backlog_does_not_come_before_anothers_first(worker: Desk) -> None:
    for number in range(1, 31):
        worker.publish(Receiver("webhook", f"http://host-{number}.invalid/"), number=number, monitor_id=f"m-{number}")
    worker.publish(Receiver("webhook", "http://birch.invalid/"), tenant=BIRCH, number=99)
    order = list(worker.duty.due(worker.clock.now()))
    assert [piece.tenant for piece in order].index(BIRCH) <= 1
    for piece in order:
        worker.duty.do(piece)
    again = list(worker.duty.due(worker.clock.now()))
    assert len(again) == 31
    assert [piece.tenant for piece in again].index(BIRCH) <= 1


def test_what_an_open_circuit_kept_from_being_tried_costs_no_attempt(worker: Desk) -> None:
    dead = Receiver("webhook", f"http://localhost:{closed_port()}/")
    for number in range(1, 8):
        worker.publish(dead, number=number)
    for piece in list(worker.duty.due(worker.clock.now())):
        worker.work([piece])
    attempts = sorted(only(worker, number).attempts for number in range(1, 8))
    assert attempts == [0, 0, 1, 1, 1, 1, 1]  # the circuit opens after five


def test_what_is_never_tried_because_of_an_open_circuit_ends_after_days(worker: Desk) -> None:
    worker.publish(Receiver("webhook", f"http://localhost:{closed_port()}/"))
    worker.tick()
    worker.later(days=4)
    worker.tick()
    assert only(worker).state == "undelivered"


def test_a_channel_without_its_setting_says_which(opened: Callable[..., Desk]) -> None:
    worker = opened(webhook_secret="", smtp_url="")
    worker.publish(Receiver("webhook", "https://example.org/x"), Receiver("email", "team@example.org"))
    worker.tick()
    told = {item.receiver.channel: item.last_error for item in worker.deliveries.of_digest(ACME, "dig_1")}
    assert "WA_WEBHOOK_SECRET" in told["webhook"]
    assert "WA_SMTP_URL" in told["email"]
    assert {item.state for item in worker.deliveries.of_digest(ACME, "dig_1")} == {"undelivered"}


def test_private_addresses_are_refused_unless_they_are_allowed(opened: Callable[..., Desk]) -> None:
    worker = opened(delivery_private_networks=False)
    worker.publish(Receiver("webhook", "https://127.0.0.1/secret-path"))
    worker.tick()
    assert "WA_DELIVERY_PRIVATE_NETWORKS" in only(worker).last_error
    assert "secret-path" not in only(worker).last_error


def test_nothing_is_seen_of_another_tenants_deliveries(worker: Desk) -> None:
    with receiving(OK) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
    assert worker.deliveries.of_digest(BIRCH, "dig_1") == ()
    assert worker.deliveries.list(BIRCH).deliveries == ()
    assert worker.deliveries.redeliver(BIRCH, "dig_1") == ()
