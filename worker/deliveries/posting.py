"""One HTTP POST to a server a tenant chose: checked address, no redirects, bounded in time and size, every failure in our words.

Nothing of the URL but its host, and nothing of what the server says but its status, reaches an error: paths are often secrets, and an inner server's
words are nobody's business.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from runtime.clock import Clock
from runtime.errors import InvalidRequest, Unavailable
from worker.deliveries.addresses import Resolve, allowed, resolved
from worker.deliveries.watching import Watch

MAX_ANSWER_BYTES = 65_536
"""Read out of politeness, so that the server can finish; never looked at."""

LATER = frozenset({408, 425, 429})
"""Answers below 500 that ask to come back."""


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts; safe to share between threads. ``private`` allows loopback and private addresses, and plain ``http``."""

    clock: Clock
    private: bool = False
    resolve: Resolve = field(default=resolved)

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> None:
        """Returns when the server answered with a status of the 200s.

        Raises:
            Unavailable: it cannot be reached, did not answer in time, answered 5xx, 408, 425 or 429; ``retry_after_s`` is what it asked for.
            InvalidRequest: it answered anything else, or the address may not be connected to; repeating does not help.
        """
        target, host = _read(url)
        if target.scheme != "https" and not self.private:
            raise InvalidRequest("must begin with https:// unless WA_DELIVERY_PRIVATE_NETWORKS=true", field="receivers.target")
        port = target.port or (443 if target.scheme == "https" else 80)
        addresses = allowed(self.resolve(host, port), private=self.private)
        limits = httpx.Timeout(timeout_s, connect=timeout_s / len(addresses))
        for last, address in _marked(addresses):
            try:
                return self._posted(target, address, body, headers, limits)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if last:
                    raise Unavailable(_words(error), dependency="receiver") from error
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                raise Unavailable(_words(error), dependency="receiver") from error
        return None

    def _posted(self, target: httpx.URL, address: str, body: bytes, headers: Mapping[str, str], limits: httpx.Timeout) -> None:
        sent = {**headers, "host": target.netloc.decode("ascii"), "connection": "close", "accept-encoding": "identity"}
        watch = Watch(limits.read or 0.0)
        extensions = {"sni_hostname": target.host, "trace": _holding(watch)}
        with httpx.Client(timeout=limits, trust_env=False, follow_redirects=False) as client, watch.running():
            request = client.build_request("POST", target.copy_with(host=address), content=body, headers=sent, extensions=extensions)
            response = client.send(request, stream=True)
            try:
                _judge(response, self.clock.now())
                _drain(response)
            finally:
                response.close()


def _holding(watch: Watch) -> Callable[[str, Mapping[str, Any]], None]:
    """What the driver tells of each of its steps; the newest connection is the one to watch."""

    def seen(name: str, info: Mapping[str, Any]) -> None:
        if name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            watch.hold(info["return_value"].get_extra_info("socket"))

    return seen


def _read(url: str) -> tuple[httpx.URL, str]:
    """The URL and its host. Some that name a host at first sight cannot be sent to: one whose international name is malformed, or whose numbers are no
    address."""
    try:
        target = httpx.URL(url)
        host = target.host
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidRequest("names a host that cannot be one", field="receivers.target") from error
    return target, host


def _judge(response: httpx.Response, now: datetime) -> None:
    status = response.status_code
    if 200 <= status < 300:
        return
    if status >= 500 or status in LATER:
        raise Unavailable(
            f"the receiver answered {status}", dependency="receiver", retry_after_s=_retry_after_s(response.headers.get("retry-after"), now)
        )
    more = "; redirects are not followed, so give the address it leads to" if 300 <= status < 400 else ""
    raise InvalidRequest(f"the receiver answered {status}{more}", field="receivers.target")


def _drain(response: httpx.Response) -> None:
    """Read a little of the body. The status was the acknowledgement, so a body that breaks off changes nothing."""
    taken = 0
    with suppress(httpx.HTTPError, OSError):
        for piece in response.iter_raw():
            taken += len(piece)
            if taken > MAX_ANSWER_BYTES:
                return


def _retry_after_s(text: str | None, now: datetime) -> float | None:
    """Seconds, from either form of the header; None when it is absent or unreadable."""
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text.strip()[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def _words(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the receiver did not answer in time"
    if isinstance(error, httpx.ConnectError):
        return "the receiver's certificate is not valid" if "CERTIFICATE" in str(error) else "the receiver cannot be connected to"
    return f"the exchange with the receiver broke off ({type(error).__name__})"


def _marked(addresses: tuple[str, ...]) -> Iterator[tuple[bool, str]]:
    for number, address in enumerate(addresses, 1):
        yield number == len(addresses), address
