"""Digests as they are published, over real WebSockets: what the protocol asks, who may listen, and that a client that comes back misses nothing."""

import json
import threading
from typing import Any

import anyio
import pytest
from websockets.exceptions import InvalidStatus

from api.app import create_app
from api.digest_feed import WAITING_DIGESTS, DigestFeed, FellBehind
from api.graphql_ws import MAX_CONNECTIONS, MAX_SUBSCRIPTIONS
from runtime.clock import SystemClock
from runtime.errors import Unavailable
from runtime.tenancy import Tenant, tenant_named
from tests.doors.judges import judged
from tests.doors.serving import running
from tests.doors.sockets import talking
from tests.worker.deliveries.digests import digest
from worker.monitors.digest import Digest
from worker.monitors.digests import Digests
from worker.opening import Service, open_service


@pytest.fixture
def tenant(request: pytest.FixtureRequest) -> str:
    """A tenant of this test alone."""
    return "t-" + str(abs(hash(request.node.name)))[:12]


@pytest.fixture
def elsewhere(service: Service) -> Digests:
    """Digests as another process publishes them: through a store it opened by itself."""
    return Digests(service.state, SystemClock(), service.engine)


def publish(digests: Digests, tenant: str, *numbers: int) -> list[str]:
    made = [digest(f"dig_{number}") for number in numbers]
    assert all(digests.publish(tenant_named(tenant), item) for item in made)
    return [item.digest_id for item in made]


def test_a_subscriber_is_told_of_every_digest_once_and_in_order(web: str, tenant: str, elsewhere: Digests) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe(after="")
        for number in range(3):
            publish(elsewhere, tenant, number)
            assert talk.told() == f"dig_{number}"
        talk.say(type="ping")
        assert talk.heard() == {"type": "pong"}


def test_a_digest_of_another_process_is_told_too(web: str, tenant: str, service: Service) -> None:
    with talking(web) as talk, open_service(service.settings) as other:
        talk.greet(tenant)
        talk.subscribe(after="")
        publish(other.digests, tenant, 7)
        assert talk.told() == "dig_7"


def test_a_client_that_comes_back_with_the_last_id_misses_nothing_and_is_told_nothing_twice(
    web: str, tenant: str, elsewhere: Digests
) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe(after="")
        publish(elsewhere, tenant, 1)
        last = talk.told()
    publish(elsewhere, tenant, *range(2, 204))
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe(after=last)
        assert [talk.told() for _ in range(202)] == [f"dig_{number}" for number in range(2, 204)]
        publish(elsewhere, tenant, 204)
        assert talk.told() == "dig_204"


def test_without_an_id_only_what_comes_is_told(web: str, tenant: str, elsewhere: Digests) -> None:
    publish(elsewhere, tenant, 1)
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe("old", after="")
        assert talk.told() == "dig_1"
        talk.subscribe("new")
        talk.subscribe("bad", "subscription { nothing }")
        assert talk.heard()["id"] == "bad"  # what was asked before it is being served by now
        publish(elsewhere, tenant, 2)
        assert {talk.told(), talk.told()} == {"dig_2"}


def test_each_tenant_is_told_of_its_own(web: str, tenant: str, elsewhere: Digests) -> None:
    with talking(web) as mine, talking(web) as other:
        mine.greet(tenant)
        other.greet(tenant + "-b")
        mine.subscribe(after="")
        other.subscribe(after="")
        publish(elsewhere, tenant, 1)
        publish(elsewhere, tenant + "-b", 2)
        assert (mine.told(), other.told()) == ("dig_1", "dig_2")


def test_a_subscription_ends_when_the_client_says_so_and_its_id_is_free_again(web: str, tenant: str, elsewhere: Digests) -> None:
    publish(elsewhere, tenant, 1)
    with talking(web) as talk:
        talk.greet(tenant)
        for _ in range(MAX_SUBSCRIPTIONS + 5):
            talk.subscribe(after="")
            assert talk.told() == "dig_1"
            talk.say(type="complete", id="1")
            talk.say(type="ping")
            assert talk.heard() == {"type": "pong"}


@pytest.mark.parametrize(
    "frame", ["", "x", "[]", '"text"', "{}", '{"type": 5}', '{"type": "fly"}', b"{}", '{"type": "subscribe"', "[" * 500]
)
def test_a_frame_that_is_no_message_closes_with_4400(web: str, frame: str | bytes) -> None:
    with talking(web) as talk:
        talk.greet()
        talk.connection.send(frame)
        assert talk.closed() == 4400


@pytest.mark.parametrize(
    "message", [{"payload": {"query": "x"}}, {"id": "", "payload": {}}, {"id": 5, "payload": {}}, {"id": "1"}, {"id": "1", "payload": []}]
)
def test_a_subscription_without_id_or_payload_closes_with_4400(web: str, message: dict[str, Any]) -> None:
    with talking(web) as talk:
        talk.greet()
        talk.say(type="subscribe", **message)
        assert talk.closed() == 4400


def test_nobody_subscribes_before_saying_who_they_are(web: str) -> None:
    with talking(web) as talk:
        talk.subscribe()
        assert talk.closed() == 4401


@pytest.mark.parametrize(
    "payload",
    [{"x-tenant-id": "../x"}, {"X-Tenant-Id": "ACME"}, {"x-tenant-id": 5.5}, {"x-tenant-id": ["acme", "birch"]}, {"x-tenant-id": "ä"}],
)
def test_a_tenant_that_is_none_closes_with_4403(web: str, payload: dict[str, Any]) -> None:
    with talking(web) as talk:
        talk.say(type="connection_init", payload=payload)
        assert talk.closed() == 4403


def test_the_upgrade_and_the_greeting_may_not_name_two_tenants(web: str) -> None:
    with talking(web, additional_headers={"x-tenant-id": "acme"}) as talk:
        talk.say(type="connection_init", payload={"x-tenant-id": "birch"})
        assert talk.closed() == 4403
    with talking(web, additional_headers={"x-tenant-id": "acme"}) as talk:
        talk.greet("acme")


def test_the_tenant_cannot_be_changed_afterwards(web: str, tenant: str) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        talk.say(type="connection_init", payload={"x-tenant-id": "acme"})
        assert talk.closed() == 4429


@pytest.mark.parametrize("payload", [[], "acme", 5])
def test_a_greeting_whose_payload_is_no_object_closes_with_4400(web: str, payload: object) -> None:
    with talking(web) as talk:
        talk.say(type="connection_init", payload=payload)
        assert talk.closed() == 4400


def test_an_id_that_is_in_use_closes_with_4409(web: str, tenant: str) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe()
        talk.subscribe()
        assert talk.closed() == 4409


@pytest.mark.parametrize("protocols", [[], ["graphql-ws"]])
def test_a_client_of_another_protocol_is_refused_before_the_connection_opens(web: str, protocols: list[str]) -> None:
    with pytest.raises(InvalidStatus) as caught, talking(web, subprotocols=protocols or None):
        pass
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"origin": "null"}])
def test_a_page_of_a_foreign_origin_is_refused(web: str, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidStatus) as caught, talking(web, origin=headers["origin"]):
        pass
    assert caught.value.response.status_code == 403


def test_a_page_of_our_own_origin_is_served(web: str, tenant: str) -> None:
    with talking(web, origin=web) as talk:
        talk.greet(tenant)


def test_a_connection_that_says_nothing_is_closed(service: Service) -> None:
    with running(create_app(service, init_wait_s=0.05)) as url, talking(url) as talk:
        assert talk.closed() == 4408


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ corpus { documents } }", "BAD_USER_INPUT"),
        ("mutation { deleteDocuments(confirm: true) { deleted } }", "BAD_USER_INPUT"),
        ("subscription { digestPublished { nothing } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { digestPublished { digestId }", "GRAPHQL_PARSE_FAILED"),
        ("subscription { a: digestPublished { digestId } b: digestPublished { digestId } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription($after: ID!) { digestPublished(after: $after) { digestId } }", "BAD_USER_INPUT"),
        ("subscription { " + "...on Subscription { " * 500 + "x", "GRAPHQL_PARSE_FAILED"),
        ("   ", "BAD_USER_INPUT"),
    ],
)
def test_an_operation_that_cannot_be_served_is_an_error_of_its_own(web: str, tenant: str, query: str, code: str) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        talk.subscribe("bad", query)
        message = talk.heard()
        assert (message["type"], message["id"]) == ("error", "bad")
        assert {error["extensions"]["code"] for error in message["payload"]} == {code}
        assert "Did you mean" not in json.dumps(message)
        talk.say(type="ping")
        assert talk.heard() == {"type": "pong"}


def test_subscriptions_of_a_connection_are_bounded(web: str, tenant: str) -> None:
    with talking(web) as talk:
        talk.greet(tenant)
        for number in range(MAX_SUBSCRIPTIONS + 1):
            talk.subscribe(str(number))
        message = talk.heard()
        assert (message["type"], message["id"]) == ("error", str(MAX_SUBSCRIPTIONS))


def test_connections_of_a_tenant_are_bounded_and_another_tenant_does_not_notice(web: str, tenant: str) -> None:
    import contextlib

    with contextlib.ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            stack.enter_context(talking(web)).greet(tenant)
        with talking(web) as talk:
            talk.say(type="connection_init", payload={"x-tenant-id": tenant})
            assert talk.closed() == 1013
        with talking(web) as talk:
            talk.greet(tenant + "-b")
    with talking(web) as talk:
        talk.say(type="connection_init", payload={"x-tenant-id": tenant})
        assert talk.heard()["type"] == "connection_ack"


@pytest.mark.slow
def test_the_official_client_listens_loses_its_connection_and_goes_on(web: str, tenant: str, elsewhere: Digests) -> None:
    publish(elsewhere, tenant, *range(1, 4))
    done = judged("node", "subscription_tour.mjs", web.replace("http", "ws") + "/graphql", tenant, "3")
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen == {"first": ["dig_1"], "resumed": ["dig_2", "dig_3"], "refused": "GRAPHQL_VALIDATION_FAILED"}


# The feed itself, without a network

ACME = Tenant("acme")


class Log:
    """A store of digests that counts how often it is looked at, and may be down."""

    def __init__(self) -> None:
        self.digests: list[Digest] = []
        self.looks = 0
        self.down = False
        self.looked = threading.Event()

    async def since(self, _tenant: Tenant, after: str | None, first: int) -> tuple[Digest, ...]:
        self.looks += 1
        if self.down:
            raise Unavailable("the store is down")
        ids = [item.digest_id for item in self.digests]
        start = ids.index(after) + 1 if after in ids else 0
        return tuple(self.digests[start : start + first])

    async def newest(self, _tenant: Tenant) -> str | None:
        return self.digests[-1].digest_id if self.digests else None


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_the_store_is_looked_at_once_for_all_listeners_and_not_at_all_for_none() -> None:
    log = Log()
    feed = DigestFeed(log.since, log.newest, poll_s=0.0)
    async with feed.run(), anyio.create_task_group() as tasks:
        assert feed.watched == frozenset()
        heard: list[str] = []

        async def listen() -> None:
            async for item in feed.digests(ACME, None):
                heard.append(item.digest_id)
                return

        for _ in range(5):
            tasks.start_soon(listen)
        while not feed.watched:
            await anyio.sleep(0)
        log.digests.append(digest("dig_1"))
        while len(heard) < 5 or feed.watched:
            await anyio.sleep(0)
        looks = log.looks
        for _ in range(20):
            await anyio.sleep(0)
        assert log.looks == looks


@pytest.mark.anyio
async def test_a_store_that_is_down_for_a_while_costs_nothing_but_time() -> None:
    log = Log()
    log.down = True
    feed = DigestFeed(log.since, log.newest, poll_s=0.0)
    async with feed.run():
        listening = feed.digests(ACME, None)
        async with anyio.create_task_group() as tasks:

            async def recover() -> None:
                while log.looks < 3:
                    await anyio.sleep(0)
                log.digests.append(digest("dig_1"))
                log.down = False

            tasks.start_soon(recover)
            assert (await anext(listening)).digest_id == "dig_1"
        await listening.aclose()


@pytest.mark.anyio
async def test_a_reader_that_falls_behind_is_let_go_and_does_not_hold_up_the_others() -> None:
    log = Log()
    log.digests = [digest("dig_0")]
    feed = DigestFeed(log.since, log.newest, poll_s=0.0)
    async with feed.run():
        slow, quick = feed.digests(ACME, ""), feed.digests(ACME, "")
        assert (await anext(slow)).digest_id == (await anext(quick)).digest_id == "dig_0"
        log.digests += [digest(f"dig_{number}") for number in range(1, WAITING_DIGESTS + 10)]
        for number in range(1, WAITING_DIGESTS + 10):
            assert (await anext(quick)).digest_id == f"dig_{number}"
        with pytest.raises(FellBehind):
            async for _ in slow:
                pass
        await quick.aclose()


@pytest.mark.anyio
async def test_who_comes_back_at_once_is_not_held_up_by_the_channel_that_it_left() -> None:
    log = Log()
    log.digests = [digest("dig_0")]
    feed = DigestFeed(log.since, log.newest, poll_s=0.05)
    async with feed.run():
        first = feed.digests(ACME, "")
        assert (await anext(first)).digest_id == "dig_0"
        await first.aclose()
        numbers = range(1, 2 * WAITING_DIGESTS + 10)
        log.digests += [digest(f"dig_{number}") for number in numbers]
        again = feed.digests(ACME, "dig_0")
        for number in numbers:
            assert (await anext(again)).digest_id == f"dig_{number}"
            await anyio.sleep(0.001)  # longer than the old channel waits between two looks, all in all

        async def publish_later() -> None:
            await anyio.sleep(0.01)  # the backlog is read to its end by then
            log.digests.append(digest("dig_new"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(publish_later)
            assert (await anext(again)).digest_id == "dig_new"
        await again.aclose()
