"""Receivers of digests behind a proxy that breaks what passes: a webhook, Slack and a mail server, each real."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import pytest

from runtime.settings import read_settings
from runtime.telemetry import Metrics
from tests.faults.enduring import QUICK, Dependency, LeapingClock, endures, piles_nothing_up
from tests.faults.proxy import HTTP_FAULTS, TCP_FAULTS, Fault, Proxy, proxied
from tests.worker.deliveries.digests import ACME, SECRET, digest
from tests.worker.deliveries.receiving import answer, receiving
from tests.worker.deliveries.test_mail import mailbox
from worker.deliveries.parcels import Parcel
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery
from worker.deliveries.sending import Sender

TIMEOUT_S = 1.0
LOST = tuple(fault for fault in HTTP_FAULTS if fault not in ("reset", "cut"))
"""A status that came is an acknowledgement, even if the body behind it breaks off."""


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
def at() -> Iterator[Callable[[str], Proxy]]:
    """A proxy in front of the server of a channel; what the server got is the last thing each test looks at."""
    with ExitStack() as stack:

        def opened(channel: str) -> Proxy:
            server: AbstractContextManager[Any] = mailbox() if channel == "email" else receiving(answer(200))
            url = stack.enter_context(server).url
            return stack.enter_context(proxied("127.0.0.1", urlsplit(url).port or 0))

        yield opened


def sending(channel: str, proxy: Proxy, clock: LeapingClock) -> Dependency:
    """One attempt of a delivery at each call."""
    settings = read_settings(
        {},
        delivery_private_networks=True,
        webhook_secret=SECRET,
        delivery_timeout_s=TIMEOUT_S,
        smtp_url=f"smtp://localhost:{proxy.port}",
        **QUICK,
    )
    sender, metrics, numbers = Sender(settings, clock), Metrics(), count()
    metrics.watch(sender)
    target = "team@example.org" if channel == "email" else f"http://localhost:{proxy.port}/hook"
    receiver = Receiver(channel, target)  # type: ignore[arg-type]
    now = datetime.now(UTC)

    def send() -> object:
        made = digest(f"dig_{next(numbers)}")
        record = Delivery(made.digest_id, made.digest_id, "payments", receiver, "pending", 1, 1, now, now)
        sender.send(Parcel(ACME, record, made, now))
        return "delivered"

    sender.guard(receiver)
    return Dependency("receiver", send, clock, metrics, ("receiver", "smtp"), repeats=False)


@pytest.mark.parametrize("channel", ["webhook", "slack"])
@pytest.mark.parametrize("fault", LOST)
def test_a_post_arrives_or_is_known_not_to_have(fault: Fault, channel: str, at: Callable[[str], Proxy], clock: LeapingClock) -> None:
    proxy = at(channel)
    endures(sending(channel, proxy, clock), proxy, fault)


@pytest.mark.parametrize("fault", TCP_FAULTS)
def test_a_mail_arrives_or_is_known_not_to_have(fault: Fault, at: Callable[[str], Proxy], clock: LeapingClock) -> None:
    proxy = at("email")
    endures(sending("email", proxy, clock), proxy, fault)


@pytest.mark.parametrize("channel", ["webhook", "email"])
@pytest.mark.parametrize("fault", ["garbage", "throttled"])
def test_failed_attempts_pile_nothing_up(fault: Fault, channel: str, at: Callable[[str], Proxy], clock: LeapingClock) -> None:
    proxy = at(channel)
    piles_nothing_up(sending(channel, proxy, clock), proxy, fault)
