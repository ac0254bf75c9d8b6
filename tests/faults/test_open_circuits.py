"""Whatever holds a client of a dependency calls it through its guard, whichever method is used: with the circuit open, nobody is connected to. A method
that is new has to be written down here."""

import inspect
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from api.identity.issuer_keys import IssuerKeys, issuer_keys
from grounding.language_models.dialect import Request
from grounding.language_models.endpoint import Endpoint
from grounding.language_models.opening import open_endpoints
from runtime.clock import Deadline, SystemClock
from runtime.errors import CircuitOpen, ServiceError, Unavailable
from runtime.resilience import Guard
from runtime.settings import Settings, read_settings
from runtime.telemetry import Metrics
from runtime.tenancy import tenant_named
from search.caching.redis_cache import RedisCache
from search.caching.redis_link import RedisLink
from search.embedding.openai import OpenAICompatible, open_openai
from search.engines.opensearch_cluster import Cluster, Operation
from search.engines.opensearch_connection import connected
from tests.worker.deliveries.digests import ACME, SECRET, digest
from tests.worker.events.test_redis_bus import SENT
from tests.worker.queues.test_broker import pieces
from worker.deliveries.parcels import Parcel
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery
from worker.deliveries.sending import Sender
from worker.events.bus import Delivery as Message
from worker.events.redis_bus import RedisBus, open_redis_bus
from worker.queues.attempts import Again, Attempt
from worker.queues.broker_queue import BrokerQueue, open_broker_queue
from worker.queues.ledger import Ledger, open_ledger

TENANT = tenant_named("a-tenant")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CLOCK = SystemClock()
Uses = dict[str, Callable[[Any], object]]


@dataclass
class Door:
    """A port that counts who comes."""

    port: int
    visits: list[object] = field(default_factory=list)

    def settings(self, **more: Any) -> Settings:
        url = f"http://127.0.0.1:{self.port}"
        given = {
            "engine_url": url,
            "redis_url": f"redis://127.0.0.1:{self.port}/0",
            "embedder_url": url,
            "embedder_dimension": 3,
            "llm_base_url": url,
            "llm_model": "small",
            "oidc_issuer": url,
            "oidc_jwks_url": f"{url}/jwks",
            "smtp_url": f"smtp://127.0.0.1:{self.port}",
            "webhook_secret": SECRET,
            "delivery_private_networks": True,
            "breaker_failures": 1,
            "breaker_open_s": 600.0,
            "monitor_interval_s": 600.0,
        }
        return read_settings({}, **(given | more))


@pytest.fixture
def door() -> Iterator[Door]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        opened = Door(server.getsockname()[1])

        def count() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.close()
                    opened.visits.append(connection)

        counting = threading.Thread(target=count, daemon=True)
        counting.start()
        yield opened
        server.shutdown(socket.SHUT_RDWR)
        counting.join(20)


def parcel(channel: str, port: int) -> Parcel:
    target = "team@example.org" if channel == "email" else f"http://127.0.0.1:{port}/hook"
    made = digest()
    record = Delivery("d", made.digest_id, "payments", Receiver(channel, target), "pending", 1, 1, NOW, NOW)  # type: ignore[arg-type]
    return Parcel(ACME, record, made, NOW)


WORK = pieces("w")[0]
ASKED = Request(({"role": "user", "content": "?"},), "draft", {}, 10)
OURS = {"query": {"bool": {"filter": [{"term": {"tenant": TENANT}}]}}}
LINES = ({"index": "wa-x"}, OURS)

CLUSTER: Uses = {
    "get": lambda it: it.get("_cluster", "health"),
    "rows": lambda it: it.rows("_cat", "indices"),
    "find": lambda it: it.find("wa-x", "_doc", "1"),
    "put": lambda it: it.put("wa-x", body={}),
    "post": lambda it: it.post("_aliases", body={}),
    "drop": lambda it: it.drop("wa-x"),
    "search": lambda it: it.search("wa-x", OURS, tenant=TENANT),
    "searches": lambda it: it.searches(LINES, tenant=TENANT, accept=lambda _answers: None),
    "bulk": lambda it: it.bulk([Operation({"index": {"_index": "wa-x", "_id": "1"}}, b"{}")]),
    "record": lambda it: it.record("wa-x", "1", tenant=TENANT),
    "records": lambda it: it.records([{"_index": "wa-x", "_id": "1"}], tenant=TENANT),
    "refresh": lambda it: it.refresh("wa-x"),
}
BUS: Uses = {
    "publish": lambda it: it.publish([SENT]),
    "read": lambda it: it.read("g", "one"),
    "acknowledge": lambda it: it.acknowledge("g", [Message(0, "1-1", SENT, 1)]),
    "dead": lambda it: it.dead(),
    "lag": lambda it: it.lag("g"),
    "forget": lambda it: it.forget(TENANT),
}
LEDGER: Uses = {
    "announce": lambda it: it.announce([WORK], kept_s=1.0),
    "queued": lambda it: it.queued(WORK, 1.0),
    "running": lambda it: it.running(WORK).__enter__(),
    "attempt": lambda it: it.attempt(WORK),
    "uncount": lambda it: it.uncount(WORK),
    "forget": lambda it: it.forget(WORK),
    "given_up": lambda it: it.given_up(WORK),
    "revived": lambda it: it.revived(WORK),
    "first_tick": lambda it: it.first_tick(NOW),
    "beat": lambda it: it.beat(NOW),
    "last_beat": lambda it: it.last_beat(),
}
QUEUE: Uses = {
    "nudge": lambda it: it.nudge(WORK),
    "health": lambda it: it.health(NOW),
    "enqueue": lambda it: it.enqueue([WORK]),
    "later": lambda it: it.later(WORK, Again(1.0, outage=False), Attempt(1)),
    "spread": lambda it: it.spread([WORK]),
    "deliver": lambda it: it.deliver([WORK]),
    "ask_for_heartbeat": lambda it: it.ask_for_heartbeat(),
    "admit": lambda it: it.admit(WORK, 0),
    "resume": lambda it: it.resume(TENANT),
    "resume_all": lambda it: it.resume_all(),
}
CACHE: Uses = {
    "get": lambda it: it.get(TENANT, "n"),
    "put": lambda it: it.put(TENANT, "n", b"v"),
    "forget": lambda it: it.forget(TENANT),
}


@pytest.fixture
def held(door: Door) -> Iterator[dict[type, tuple[Any, Uses]]]:
    """Everything that holds a client, and how each of its methods is used."""
    settings = door.settings()
    with ExitStack() as stack:
        cluster = connected(settings, CLOCK)
        stack.callback(cluster.close)
        bus, ledger = open_redis_bus(settings, CLOCK), open_ledger(settings, CLOCK)
        stack.callback(bus.close)
        stack.callback(ledger.close)
        link = RedisLink(settings, "cache", CLOCK)
        stack.callback(link.close)
        sender = Sender(settings, CLOCK)
        (endpoint,) = stack.enter_context(open_endpoints(settings, CLOCK, Metrics()))
        parcels = [parcel(channel, door.port) for channel in ("webhook", "slack", "email")]
        for each in parcels:
            sender.guard(each.delivery.receiver)
        yield {
            Cluster: (cluster, CLUSTER),
            RedisBus: (bus, BUS),
            Ledger: (ledger, LEDGER),
            BrokerQueue: (stack.enter_context(open_broker_queue(settings, CLOCK, lambda _duty: "monitors")), QUEUE),
            RedisCache: (RedisCache(link, "p", ttl_s=60.0), CACHE),
            OpenAICompatible: (stack.enter_context(open_openai("small", settings, CLOCK)), {"embed": lambda it: it.embed(["text"])}),
            Endpoint: (
                endpoint,
                {
                    "reply": lambda it: it.reply(ASKED, Deadline.after(5.0, CLOCK)),
                    "names": lambda it: it.names(Deadline.after(5.0, CLOCK)),
                },
            ),
            IssuerKeys: (issuer_keys(settings, CLOCK), {"key": lambda it: it.key("k1")}),
            Sender: (sender, {"send": lambda it: [_sent(it, each) for each in parcels], "guard": lambda _it: None}),
        }


def _outcome(use: Callable[[Any], object], holder: object) -> ServiceError | None:
    try:
        use(holder)
    except ServiceError as error:
        return error
    return None


def _sent(sender: Sender, each: Parcel) -> None:
    with pytest.raises(CircuitOpen):
        sender.send(each)


KINDS = (Cluster, RedisBus, Ledger, BrokerQueue, RedisCache, OpenAICompatible, Endpoint, IssuerKeys, Sender)


@pytest.mark.parametrize("kind", KINDS)
def test_with_its_circuit_open_no_method_connects(kind: type, held: dict[type, tuple[Any, Uses]], door: Door) -> None:
    holder, uses = held[kind]
    for guard in _guards(holder):
        _open(guard)
    for name, use in uses.items():
        outcome = _outcome(use, holder)
        assert outcome is None or isinstance(outcome, CircuitOpen), (name, repr(outcome))
    assert door.visits == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_is_written_down(kind: type, held: dict[type, tuple[Any, Uses]]) -> None:
    public = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
    assert public - {"close"} == set(held[kind][1])


def _guards(holder: Any) -> tuple[Guard, ...]:
    if isinstance(holder, Cluster):
        return (holder.reads, holder.writes)
    return (holder.guard,) if isinstance(holder, Ledger) else tuple(holder.guards)


def _open(guard: Guard) -> None:
    def fail(_timeout_s: float) -> None:
        raise Unavailable("down", dependency=guard.dependency)

    with pytest.raises(Unavailable):
        guard.call(fail, repeatable=False)
