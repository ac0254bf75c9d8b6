"""What every event bus must do. See :class:`worker.events.bus.EventBus`."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from runtime.clock import SettableClock
from runtime.events import Event, event_id
from runtime.tenancy import Tenant, tenant_named
from worker.events.bus import MAX_DELIVERIES, SHARDS, Delivery, EventBus, Sequenced, shard_of
from worker.events.local_bus import LocalBus
from worker.events.redis_bus import RedisBus

AT = datetime(2026, 3, 1, tzinfo=UTC)
_TRIES = 10_000


def message(tenant: str, sequence: int) -> Sequenced:
    owner = tenant_named(tenant)
    identity = event_id("digest.published", owner, str(sequence))
    return Sequenced(sequence, Event(identity, "digest.published", owner, AT, f"d{sequence}", {"n": sequence, "text": "ä"}))


@dataclass(frozen=True, slots=True)
class Under:
    """A bus under test. ``hasty`` is the same bus with next to no time for handling; ``later`` lets that time pass."""

    bus: EventBus
    hasty: EventBus
    later: Callable[[], None]

    def claimed(self, group: str, consumer: str) -> tuple[Delivery, ...]:
        """What this consumer gets once the time of the other is up."""
        for _ in range(_TRIES):
            self.later()
            if found := self.hasty.read(group, consumer):
                return found
        return ()


def in_process() -> Iterator[Under]:
    clock = SettableClock(AT)

    def later() -> None:
        clock.elapsed_s += 61

    bus = LocalBus(clock)
    yield Under(bus, bus, later)


def over_redis(url: str) -> Iterator[Under]:
    prefix = "t" + uuid.uuid4().hex[:12]
    with closing(RedisBus(url, prefix, length=100_000)) as bus, closing(RedisBus(url, prefix, length=100_000, handling_s=0.002)) as hasty:
        yield Under(bus, hasty, lambda: None)


@pytest.fixture(params=["in process", pytest.param("redis", marks=pytest.mark.live("valkey"))])
def under(request: pytest.FixtureRequest) -> Iterator[Under]:
    yield from in_process() if request.param == "in process" else over_redis(request.getfixturevalue("valkey_url"))


@pytest.fixture
def bus(under: Under) -> EventBus:
    return under.bus


def read_all(bus: EventBus, group: str, consumer: str = "one") -> list[Sequenced]:
    """Everything there is, acknowledged as it comes."""
    found: list[Sequenced] = []
    while deliveries := bus.read(group, consumer, first=7):
        assert len(deliveries) <= 7
        found += [delivery.message for delivery in deliveries]
        bus.acknowledge(group, deliveries)
    return found


def test_what_is_published_comes_whole_and_in_each_tenants_order(bus: EventBus) -> None:
    sent = [message(f"t{number % 5}", number) for number in range(50)]
    bus.publish(sent[:20])
    bus.publish([])
    bus.publish(sent[20:])
    came = read_all(bus, "g")
    for tenant in {each.event.tenant for each in sent}:
        assert [each for each in came if each.event.tenant == tenant] == [each for each in sent if each.event.tenant == tenant]
    assert len(came) == 50


def test_nothing_is_nothing(bus: EventBus) -> None:
    assert bus.read("g", "one") == ()
    assert bus.dead() == ()
    bus.acknowledge("g", ())
    assert (bus.lag("g").unread, bus.lag("g").pending) == (0, 0)


def test_every_group_gets_everything_also_one_that_comes_late(bus: EventBus) -> None:
    bus.publish([message("a", 1), message("b", 1)])
    assert len(read_all(bus, "early")) == 2
    bus.publish([message("a", 2)])
    assert len(read_all(bus, "late")) == 3
    assert [each.sequence for each in read_all(bus, "early")] == [2]


def test_lag_tells_the_unread_from_the_unacknowledged(bus: EventBus) -> None:
    bus.read("g", "one")
    bus.publish([message("a", 1), message("a", 2), message("a", 3)])
    assert (bus.lag("g").unread, bus.lag("g").pending) == (3, 0)
    deliveries = bus.read("g", "one")
    assert (bus.lag("g").unread, bus.lag("g").pending) == (3 - len(deliveries), len(deliveries))
    bus.acknowledge("g", deliveries)
    bus.acknowledge("g", deliveries)
    read_all(bus, "g")
    assert (bus.lag("g").unread, bus.lag("g").pending) == (0, 0)


def test_while_a_message_is_in_somebodys_hands_its_shard_gives_nothing(bus: EventBus) -> None:
    bus.publish([message("a", 1)])
    taken = bus.read("g", "one")
    assert [delivery.message.sequence for delivery in taken] == [1]
    bus.publish([message("a", 2)])
    assert bus.read("g", "two") == ()
    bus.acknowledge("g", taken)
    assert [each.sequence for each in read_all(bus, "g")] == [2]


def test_other_shards_go_on_beside_one_that_is_busy(bus: EventBus) -> None:
    busy, free = "a", next(name for name in "bcdefg" if shard_of(tenant_named(name)) != shard_of(tenant_named("a")))
    bus.publish([message(busy, 1)])
    bus.read("g", "one")
    bus.publish([message(busy, 2), message(free, 1)])
    assert [delivery.message.event.tenant for delivery in bus.read("g", "one")] == [free]


def test_what_a_consumer_dropped_goes_to_the_next_one_in_order(under: Under) -> None:
    under.bus.publish([message("a", 1), message("a", 2)])
    taken = under.hasty.read("g", "dies", first=SHARDS * 2)
    assert [delivery.times_delivered for delivery in taken] == [1, 1]
    under.bus.publish([message("a", 3)])
    again = under.claimed("g", "two")
    assert [delivery.message.sequence for delivery in again] == [1, 2]
    assert [delivery.times_delivered for delivery in again] == [2, 2]
    under.hasty.acknowledge("g", again)
    assert [delivery.message.sequence for delivery in under.claimed("g", "two")] == [3]


def test_what_is_delivered_too_often_is_a_dead_message_and_holds_up_nothing(under: Under) -> None:
    under.bus.publish([message("a", 1)])
    assert under.hasty.read("g", "c1")
    for number in range(2, MAX_DELIVERIES + 1):
        assert [delivery.times_delivered for delivery in under.claimed("g", f"c{number}")] == [number]
    under.bus.publish([message("a", 2)])
    assert [delivery.message.sequence for delivery in under.claimed("g", "after")] == [2]
    (dead,) = under.bus.dead()
    assert (dead.group, dead.shard) == ("g", shard_of(tenant_named("a")))
    assert '"sequence"' in dead.content.replace("\\", "") or "d1" in dead.content


def test_a_tenant_is_forgotten_and_others_are_not(under: Under) -> None:
    under.bus.publish([message("a", 1), message("b", 1), message("a", 2)])
    under.hasty.read("g", "one", first=200)
    assert under.bus.forget(Tenant("a")) == 2
    assert under.bus.forget(Tenant("a")) == 0
    assert [delivery.message.event.tenant for delivery in under.claimed("g", "two")] == ["b"]


def test_a_tenants_shard_is_the_same_in_every_process() -> None:
    assert [shard_of(tenant_named(name)) for name in ("acme", "birch", "t1")] == [62, 9, 55]
