"""A broker that does not answer changes no answer; readiness, and nothing else, says that monitors are late."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from api.app import create_app
from runtime.clock import SettableClock
from runtime.settings import read_settings
from tests.doors.calls import graphql
from tests.doors.serving import running
from tests.faults.sockets import nobody_listening
from worker.opening import Service
from worker.queues.ledger import open_ledger
from worker.queues.opening import open_queue

ASK = '{ ask(question: "How many people complain about the discount code?") { answer { refused } } }'


def served(service: Service, redis_url: str, clock: SettableClock, prefix: str) -> Iterator[httpx.Client]:
    settings = read_settings({}, redis_url=redis_url, index_prefix=prefix)
    with open_queue(settings, clock, service.duties) as queue:
        app = create_app(replace(service, queue=queue, clock=clock))
        with running(app) as url, httpx.Client(base_url=url, headers={"x-tenant-id": "acme"}, timeout=30) as client:
            yield client


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime.now(UTC))


@pytest.fixture
def brokerless(service: Service, clock: SettableClock) -> Iterator[httpx.Client]:
    yield from served(service, nobody_listening().replace("http", "redis") + "/0", clock, "wa")


def test_answers_are_as_before_and_readiness_says_that_monitors_are_late(http: httpx.Client, brokerless: httpx.Client) -> None:
    assert graphql(brokerless, ASK) == graphql(http, ASK)
    ready = brokerless.get("/ready")
    assert (ready.status_code, ready.json()["status"], ready.json()["worker"]["status"]) == (200, "degraded", "unavailable")
    assert "monitors are late" in ready.json()["worker"]["message"]


def test_without_a_broker_nothing_is_late(http: httpx.Client) -> None:
    assert http.get("/ready").json()["worker"] == {"status": "not configured"}


@pytest.mark.live("valkey")
def test_the_age_of_the_heartbeat_is_told_by_readiness_and_a_metric(service: Service, clock: SettableClock, valkey_url: str) -> None:
    prefix = f"t{datetime.now(UTC):%H%M%S%f}"
    ledger = open_ledger(read_settings({}, redis_url=valkey_url, index_prefix=prefix), clock)
    for client in served(service, valkey_url, clock, prefix):
        assert client.get("/ready").json()["worker"]["status"] == "late"
        ledger.beat(clock.now())
        clock.elapsed_s += 10
        clock.instant += timedelta(seconds=42)
        assert client.get("/ready").json()["worker"] == {"status": "ok", "heartbeat_age_s": 42.0}
        assert "wa_worker_heartbeat_age_seconds 42.0" in client.get("/metrics").text
        clock.elapsed_s += 10
        clock.instant += timedelta(seconds=600)
        ready = client.get("/ready").json()
        assert (ready["status"], ready["worker"]["status"], ready["worker"]["heartbeat_age_s"]) == ("degraded", "late", 642.0)
    ledger.close()
