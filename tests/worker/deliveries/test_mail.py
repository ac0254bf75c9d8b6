"""E-mail through a real SMTP server that sometimes refuses."""

import email
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from runtime.errors import InvalidRequest, Misconfigured
from tests.worker.deliveries.digests import ACME, SPITEFUL, Desk, claim
from tests.worker.deliveries.receiving import closed_port
from worker.deliveries.mail import server_of
from worker.deliveries.receivers import Receiver, receiver_of

TEAM = Receiver("email", "team@example.org")


@dataclass
class Mailbox:
    """Takes messages, unless told what to answer first."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    messages: list[EmailMessage] = field(default_factory=list)
    url: str = ""

    def _said(self, verb: str) -> str | None:
        return self.answers[verb].pop(0) if self.answers.get(verb) else None

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        said = self._said("RCPT")
        if said is None:
            envelope.rcpt_tos.append(address)
        return said or "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        said = self._said("DATA")
        if said is None:
            self.messages.append(email.message_from_bytes(envelope.content, policy=default))  # type: ignore[arg-type]
        return said or "250 OK"


@contextmanager
def mailbox(**answers: list[str]) -> Iterator[Mailbox]:
    box = Mailbox(answers)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    box.url = f"smtp://127.0.0.1:{port}"
    try:
        yield box
    finally:
        controller.stop()


def parts(message: EmailMessage) -> tuple[str, str]:
    """Plain text and HTML."""
    plain, rich = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert rich is not None
    return plain.get_content(), rich.get_content()


def test_a_digest_arrives_as_text_and_html_that_say_the_same(opened: Callable[..., Desk]) -> None:
    with mailbox() as box:
        worker = opened(smtp_url=box.url, smtp_from="WisdomAgent <alerts@example.com>", public_url="https://wisdom.example")
        worker.publish(TEAM)
        worker.tick()
        worker.tick()
        (message,) = box.messages
    (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
    assert delivery.state == "delivered"
    assert (message["To"], message["Subject"]) == ("team@example.org", "[critical] Card payments")
    assert message["Message-ID"] == f"<{delivery.delivery_id}@example.com>"
    assert message["Auto-Submitted"] == "auto-generated"
    for text in parts(message):
        for part in ("12 of 80 documents", "Card payments are declined.", "d-1", "https://wisdom.example/#digest=dig_1"):
            assert part in text


def test_an_update_answers_the_first_message(opened: Callable[..., Desk]) -> None:
    with mailbox() as box:
        worker = opened(smtp_url=box.url)
        worker.publish(TEAM)
        worker.tick()
        worker.digests.update(ACME, "dig_1", lambda known: replace(known, n=13))
        worker.tick()
        first, second = box.messages
    assert second["Subject"] == "Update: [critical] Card payments"
    assert second["In-Reply-To"] == second["References"] == first["Message-ID"]
    assert second["Message-ID"] != first["Message-ID"]


def test_markup_and_line_breaks_of_documents_stay_text(opened: Callable[..., Desk]) -> None:
    with mailbox() as box:
        worker = opened(smtp_url=box.url)
        worker.publish(TEAM, claims=(claim(SPITEFUL),), monitor_name=SPITEFUL, fired_because=SPITEFUL)
        worker.tick()
        (message,) = box.messages
    plain, rich = parts(message)
    assert message["Bcc"] is None
    assert "\n" not in message["Subject"]
    assert "😀" in message["Subject"]
    assert "<b>" not in rich
    assert "&lt;b&gt;&amp;amp; &lt;!channel&gt;" in rich
    assert "\nBcc:" not in plain


def test_a_mail_that_is_put_off_is_sent_later_and_one_that_is_refused_is_not(opened: Callable[..., Desk]) -> None:
    with mailbox(DATA=["451 Later", "552 Too large"]) as box:
        worker = opened(smtp_url=box.url)
        worker.publish(TEAM)
        worker.tick()
        (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
        assert (delivery.state, delivery.last_error) == ("pending", "the mail server put the message off (451)")
        worker.later(hours=1)
        worker.tick()
        (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
        assert (delivery.state, delivery.last_error) == ("undelivered", "the mail server refused the message (552)")


@pytest.mark.parametrize(
    ("said", "state"), [("550 team@example.org has no mailbox", "undelivered"), ("450 team@example.org is full", "pending")]
)
def test_what_the_server_says_of_an_address_is_not_repeated(opened: Callable[..., Desk], said: str, state: str) -> None:
    with mailbox(RCPT=[said]) as box:
        worker = opened(smtp_url=box.url)
        worker.publish(TEAM)
        worker.tick()
    (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
    assert delivery.state == state
    assert "team@" not in delivery.last_error


def test_a_server_that_is_not_there_is_tried_again(opened: Callable[..., Desk]) -> None:
    worker = opened(smtp_url=f"smtp://127.0.0.1:{closed_port()}")
    worker.publish(TEAM)
    worker.tick()
    (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
    assert delivery.state == "pending"
    assert "mail server" in delivery.last_error


def test_a_password_is_not_sent_in_the_clear_to_another_machine(opened: Callable[..., Desk]) -> None:
    with mailbox() as box:
        port = box.url.rpartition(":")[2]
        worker = opened(smtp_url=f"smtp://user:s3cret@127.1:{port}")  # not spelt as a loopback address
        worker.publish(TEAM)
        worker.tick()
        (delivery,) = worker.deliveries.of_digest(ACME, "dig_1")
    assert delivery.state == "undelivered"
    assert delivery.last_error == "the server of WA_SMTP_URL offers no TLS, and a password is not sent in the clear"


@pytest.mark.parametrize("url", ["", "http://x", "smtp://", "smtp://h:port", "smtp:"])
def test_what_is_no_mail_server_is_named_by_its_setting(url: str) -> None:
    with pytest.raises(Misconfigured, match="WA_SMTP_URL"):
        server_of(url)


def test_the_parts_of_a_mail_server() -> None:
    server = server_of("smtps://us%40er:p%3Aw@mail.example.org")
    assert (server.host, server.port, server.secure, server.user) == ("mail.example.org", 465, True, "us@er")
    assert server.password.get_secret_value() == "p:w"
    assert "p:w" not in repr(server)


@pytest.mark.parametrize("address", ["", "a", "a@b@c", "A <a@b.c>", "a@b.c\nBcc: x@y.z", "a@b.c,d@e.f", "ä@b.c", "a@-b", " a@b.c"])
def test_what_is_no_single_address_is_refused_when_it_is_given(address: str) -> None:
    with pytest.raises(InvalidRequest):
        receiver_of({"channel": "email", "target": address})


@pytest.mark.parametrize(
    "name", ["=?utf-8?q?=0d=0aBcc:x=40evil.example?=", "\x1b[31mred\x1b]0;title\x07", "\u202egnp.exe", "a\x85Bcc: x@evil.example"]
)
def test_a_monitors_name_stays_a_name(opened: Callable[..., Desk], name: str) -> None:
    with mailbox() as box:
        worker = opened(smtp_url=box.url)
        worker.publish(TEAM, monitor_name=name, fired_because=name, claims=(claim(name),))
        worker.tick()
        (message,) = box.messages
    assert [header for header in message if header.lower() in ("bcc", "cc", "reply-to")] == []
    for text in (message["Subject"], *parts(message)):
        assert not [sign for sign in text if sign in "\x1b\x07\x85\u202e"]
