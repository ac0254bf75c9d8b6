"""What only the bus over Redis can meet: a server that goes away, forgets, or holds what is none of ours."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.exceptions

from runtime.errors import Unavailable
from runtime.events import Event
from tests.servers import free_port, running_valkey
from tests.worker.events.mill import ACME, BIRCH, digest, folded, keep, open_mill, without_page
from worker.duties import Work
from worker.events import redis_bus
from worker.events.bus import SHARDS, Delivery, Sequenced, shard_of
from worker.events.counting import GROUP
from worker.events.redis_bus import RedisBus

SENT = Sequenced(1, Event("e1", "digest.published", ACME, datetime(2026, 3, 1, tzinfo=UTC), "d1"))

live = pytest.mark.live("valkey")


@contextmanager
def opened(url: str, prefix: str = "t-own", **options: Any) -> Iterator[RedisBus]:
    with closing(RedisBus(url, prefix, length=100_000, **options)) as bus:
        yield bus


@pytest.mark.parametrize("call", ["publish", "read", "acknowledge", "dead", "lag", "forget"])
def test_a_server_that_is_not_there_is_unavailable_and_says_no_address(call: str) -> None:
    with opened(f"redis://:secret@127.0.0.1:{free_port()}/0") as bus:
        calls = {
            "publish": lambda: bus.publish([SENT]),
            "read": lambda: bus.read("g", "one"),
            "acknowledge": lambda: bus.acknowledge("g", [Delivery(0, "1-1", SENT, 1)]),
            "dead": bus.dead,
            "lag": lambda: bus.lag("g"),
            "forget": lambda: bus.forget(ACME),
        }
        with pytest.raises(Unavailable) as refused:
            calls[call]()
    assert refused.value.dependency == "redis"
    assert "secret" not in str(refused.value)


def test_every_exception_of_the_driver_is_translated() -> None:
    raised = [each for each in vars(redis.exceptions).values() if isinstance(each, type) and issubclass(each, Exception)]
    others = [each.__name__ for each in raised if each.__module__.startswith("redis") and not issubclass(each, redis_bus.UNREACHABLE)]
    assert others == ["IncorrectPolicyType"]  # a defect of whoever routes commands in a cluster


@live
def test_a_server_that_lost_everything_serves_again_by_itself() -> None:
    with running_valkey() as server, opened(server.url) as bus:
        assert bus.read("g", "one") == ()
        with closing(redis.Redis.from_url(server.url)) as other:
            other.flushall()
        bus.publish([SENT])
        with pytest.raises(Unavailable):
            bus.read("g", "one")
        assert [delivery.message for delivery in bus.read("g", "one")] == [SENT]


@live
def test_a_server_that_was_away_serves_again_by_itself() -> None:
    with running_valkey(durable=True) as server, opened(server.url) as bus:
        bus.publish([SENT])
        server.kill()
        with pytest.raises(Unavailable):
            bus.read("g", "one")
        server.start()
        assert [delivery.message for delivery in bus.read("g", "one")] == [SENT]


@live
def test_a_message_that_is_no_event_is_buried_with_what_it_held(valkey_url: str, valkey_prefix: str) -> None:
    with opened(valkey_url, valkey_prefix) as bus, closing(redis.Redis.from_url(valkey_url)) as other:
        bus.read("g", "one")
        other.xadd(f"{valkey_prefix}:ev:{shard_of(ACME)}", {"sequence": "x", "event": "{}"})
        other.xadd(f"{valkey_prefix}:ev:{shard_of(ACME)}", {"strange": "thing"})
        bus.publish([SENT])
        assert [delivery.message for delivery in bus.read("g", "one", first=3 * SHARDS)] == [SENT]
        assert ["strange" in dead.content for dead in bus.dead()] == [True, False]


@live
def test_a_stream_is_cut_to_about_its_length(valkey_url: str, valkey_prefix: str) -> None:
    with closing(RedisBus(valkey_url, valkey_prefix, length=SHARDS)) as bus:
        for number in range(1, 6):
            bus.publish([Sequenced(number * 1000 + at, SENT.event) for at in range(300)])
        unread = bus.lag("g").unread
        assert len(bus.read("g", "one", first=10_000)) <= unread < 1_500


@live
def test_leases_count_their_changes_of_hands(valkey_url: str, valkey_prefix: str) -> None:
    with opened(valkey_url, valkey_prefix, handling_s=0.001) as bus, closing(redis.Redis.from_url(valkey_url)) as other:
        key = f"{valkey_prefix}:ev:lease:g:0:changes"
        bus.read("g", "one")
        assert int(other.get(key) or 0) == 1
        while int(other.get(key) or 0) == 1:
            bus.read("g", "two")
        assert int(other.get(key) or 0) == 2


@live
def test_events_wait_in_the_outbox_while_the_server_is_away_and_are_counted_once_when_it_is_back(tmp_path: Path) -> None:
    events = [digest((ACME, BIRCH)[number % 2], number) for number in range(40)]
    with running_valkey(durable=True) as server, opened(server.url) as bus, open_mill(tmp_path / "store.db", bus) as mill:
        keep(mill.state, events[:20])
        mill.run()
        server.kill()
        keep(mill.state, events[20:])
        (work,) = mill.relaying.due(mill.clock.now())
        assert mill.relaying.do(work) == ()
        assert list(mill.state.outbox()) == events[20:]
        assert mill.counting.do(Work("count_events", ACME, ("page", "1"))) == ()
        server.start()
        mill.run()
        for tenant in (ACME, BIRCH):
            assert without_page(mill.projection(tenant)) == folded([event for event in events if event.tenant == tenant])
        while mill.counting.consume():
            pass
        assert bus.lag(GROUP).unread == 0
