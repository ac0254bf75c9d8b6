"""Digests by e-mail, through one SMTP server that the operator chose."""

import html
import smtplib
import ssl
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from runtime.errors import InvalidRequest, Misconfigured, Unavailable
from worker.deliveries.parcels import Parcel
from worker.deliveries.watching import Watch
from worker.deliveries.wording import lines, one_line

SMTPS_PORT = 465
SMTP_PORT = 25
NO_PASSWORD = SecretStr("")


@dataclass(frozen=True, slots=True)
class Server:
    """An SMTP server, read from a URL. ``secure`` is TLS from the first byte; otherwise STARTTLS is used where it is offered."""

    host: str
    port: int
    secure: bool
    user: str = ""
    password: SecretStr = NO_PASSWORD


def server_of(url: str) -> Server:
    """The server of ``WA_SMTP_URL``.

    Raises:
        Misconfigured: it is blank or no such URL; its content is not repeated.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise Misconfigured("WA_SMTP_URL must be smtp://user:password@host:25 or smtps://… before digests can be sent by e-mail")
    secure = parts.scheme == "smtps"
    password = SecretStr(unquote(parts.password or ""))
    return Server(parts.hostname, port or (SMTPS_PORT if secure else SMTP_PORT), secure, unquote(parts.username or ""), password)


@dataclass(frozen=True, slots=True)
class MailSending:
    """Implements :class:`worker.deliveries.parcels.Sending`."""

    url: str
    sender: str

    def send(self, parcel: Parcel, timeout_s: float) -> None:
        """See :class:`worker.deliveries.parcels.Sending`. The Message-ID is made of the idempotency key; mail programs show one copy of it."""
        server = server_of(self.url)
        message = mail_of(parcel, self.sender)
        with _translated(), _connected(server, timeout_s) as connection:
            connection.send_message(message)


def mail_of(parcel: Parcel, sender: str) -> EmailMessage:
    """The message: plain text and HTML that say the same, every word of it escaped. An update answers the first message."""
    delivery, domain = parcel.delivery, parseaddr(sender)[1].rpartition("@")[2] or "localhost"
    message = EmailMessage(policy=SMTP_POLICY)
    message["From"] = sender
    message["To"] = delivery.receiver.target
    message["Subject"] = _subject(parcel.headline)
    message["Date"] = format_datetime(parcel.at.astimezone(UTC))
    message["Message-ID"] = f"<{delivery.message_id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if delivery.is_update:
        message["In-Reply-To"] = message["References"] = f"<{delivery.delivery_id}@{domain}>"
    said = tuple(lines(parcel))
    message.set_content("\n".join(_text(said)) + "\n")
    message.add_alternative(_html(said), subtype="html")
    return message


def _subject(headline: str) -> str:
    """What begins like an encoded word would be decoded, and what comes out, line ends and all, written into the head of the message."""
    return one_line(headline).replace("=?", "= ?")


def _text(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    for kind, text in said:
        line = one_line(text)
        if kind == "cited":
            yield f"    [{line}]"
        else:
            yield from ("", f"- {line}" if kind == "claim" else line)


def _html(said: Iterable[tuple[str, str]]) -> str:
    tags = {"headline": "h2", "because": "p", "numbers": "p", "claim": "p", "cited": "small", "note": "p"}
    body = "\n".join(f"<{tags[kind]}>{html.escape(one_line(text))}</{tags[kind]}>" for kind, text in said)
    return f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n{body}\n</body></html>\n'


class _Mail(smtplib.SMTP):
    """A connection that is watched from its first byte on."""

    def __init__(self, watch: Watch, **options: Any) -> None:
        self._watch = watch
        super().__init__(**options)

    def _get_socket(self, host: Any, port: Any, timeout: Any) -> Any:
        found = super()._get_socket(host, port, timeout)  # type: ignore[misc]  # the library's own place for this
        self._watch.hold(found)
        return found


class _SecureMail(_Mail, smtplib.SMTP_SSL):
    """The same, with TLS from the first byte."""


@contextmanager
def _connected(server: Server, timeout_s: float) -> Iterator[smtplib.SMTP]:
    """The conversation as a whole takes no longer than ``timeout_s``, which to the library is the time of one read."""
    context, watch = ssl.create_default_context(), Watch(timeout_s)
    kind, more = (_SecureMail, {"context": context}) if server.secure else (_Mail, {})
    with watch.running(), closing(kind(watch, host=server.host, port=server.port, timeout=timeout_s, **more)) as connection:
        _introduced(connection, server, context)
        watch.hold(connection.sock)
        yield connection
        with suppress(smtplib.SMTPException, OSError):  # the message was taken: how the connection ends changes nothing
            connection.quit()


def _introduced(connection: smtplib.SMTP, server: Server, context: ssl.SSLContext) -> None:
    connection.ehlo()
    private = server.secure
    if not server.secure and connection.has_extn("starttls"):
        connection.starttls(context=context)
        private = True
    if server.user:
        if not private and not _is_this_machine(server.host):
            raise Misconfigured("the server of WA_SMTP_URL offers no TLS, and a password is not sent in the clear")
        connection.login(server.user, server.password.get_secret_value())


@contextmanager
def _translated() -> Iterator[None]:
    """Every way in which ``smtplib`` fails, in our words; the server's own are left out, because they repeat addresses."""
    try:
        yield
    except smtplib.SMTPAuthenticationError as error:
        raise Misconfigured(f"the mail server refused the user of WA_SMTP_URL ({error.smtp_code})") from error
    except smtplib.SMTPRecipientsRefused as error:
        raise _by_code(max((code for code, _ in error.recipients.values()), default=0), "the address") from error
    except smtplib.SMTPResponseException as error:
        raise _by_code(error.smtp_code, "the message") from error
    except smtplib.SMTPNotSupportedError as error:
        raise InvalidRequest("the mail server cannot carry this address", field="receivers.target") from error
    except (smtplib.SMTPException, ssl.SSLError, OSError) as error:
        raise Unavailable(f"the mail server cannot be reached or broke off ({type(error).__name__})", dependency="smtp") from error


def _by_code(code: int, what: str) -> Unavailable | InvalidRequest:
    if 500 <= code < 600:
        return InvalidRequest(f"the mail server refused {what} ({code})", field="receivers.target")
    return Unavailable(f"the mail server put {what} off ({code})", dependency="smtp")


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
