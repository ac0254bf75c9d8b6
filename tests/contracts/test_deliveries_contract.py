"""Deliveries on every state store: one record per receiver, one worker per attempt, and the states by which they are found."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from runtime.clock import SettableClock
from runtime.errors import Conflict
from runtime.tenancy import Tenant
from search.ports import StateStore
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery
from worker.deliveries.store import Deliveries

HOOK = Receiver("webhook", "https://hooks.example.org/secret")
MAIL = Receiver("email", "team@example.org")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def deliveries(state: StateStore, tenant: Tenant) -> Iterator[Deliveries]:
    yield Deliveries(state, SettableClock(NOW))
    state.erase(tenant)


def mine(deliveries: Deliveries, tenant: Tenant) -> list[Delivery]:
    return [found for whose, found in deliveries.pending() if whose == tenant]


def test_planning_many_times_at_once_makes_one_record_a_receiver(deliveries: Deliveries, tenant: Tenant) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: deliveries.plan(tenant, "dig_1", "m", 1, (HOOK, MAIL)[n % 2]), range(16)))
    assert len({item.delivery_id for item in made}) == 2
    assert {item.receiver for item in deliveries.of_digest(tenant, "dig_1")} == {HOOK, MAIL}
    assert len(mine(deliveries, tenant)) == 2


def test_an_attempt_belongs_to_one_worker(deliveries: Deliveries, tenant: Tenant) -> None:
    planned = deliveries.plan(tenant, "dig_1", "m", 1, HOOK)

    def claimed(_n: int) -> bool:
        try:
            deliveries.claim(tenant, planned, 60.0)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claimed, range(8))) == 1
    (found,) = deliveries.of_digest(tenant, "dig_1")
    assert (found.attempts, found.next_attempt_at) == (1, NOW + timedelta(seconds=60))


def test_states_are_found_by_what_they_are(deliveries: Deliveries, tenant: Tenant, other_tenant: Tenant) -> None:
    sent, lost, waiting = (deliveries.claim(tenant, deliveries.plan(tenant, f"dig_{n}", "m", 1, HOOK), 60.0) for n in range(3))
    deliveries.arrived(tenant, sent)
    deliveries.given_up(tenant, lost, "the receiver answered 410")
    deliveries.postponed(tenant, waiting, NOW, "the receiver answered 503")
    listed = {state: deliveries.list(tenant, state=state).deliveries for state in ("pending", "delivered", "undelivered")}
    assert {state: [item.digest_id for item in found] for state, found in listed.items()} == {
        "pending": ["dig_2"],
        "delivered": ["dig_0"],
        "undelivered": ["dig_1"],
    }
    assert [item.digest_id for item in mine(deliveries, tenant)] == ["dig_2"]
    assert deliveries.pending_at(tenant, "hooks.example.org", NOW) == listed["pending"][0]
    assert deliveries.pending_at(tenant, "email", NOW) is None
    assert len(deliveries.list(tenant).deliveries) == 3
    assert deliveries.list(other_tenant).deliveries == ()
    (again,) = deliveries.redeliver(tenant, "dig_1")
    assert (again.state, again.attempts, again.last_error) == ("pending", 0, "")


def test_a_version_planned_while_another_was_on_its_way_stays_to_be_sent(deliveries: Deliveries, tenant: Tenant) -> None:
    first = deliveries.claim(tenant, deliveries.plan(tenant, "dig_1", "m", 1, HOOK), 60.0)
    assert deliveries.plan(tenant, "dig_1", "m", 2, HOOK).version == 2
    deliveries.arrived(tenant, first)
    deliveries.postponed(tenant, first, NOW, "too late to say so")
    (found,) = deliveries.of_digest(tenant, "dig_1")
    assert (found.state, found.version, found.delivered_version, found.last_error) == ("pending", 2, 1, "")
    assert found.is_update
    assert found.message_id == f"{first.delivery_id}_2"
