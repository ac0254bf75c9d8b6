"""Where a digest is sent: a channel and an address in it. Paths of addresses are often secrets, so only :func:`masked` ever leaves."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

from runtime.errors import InvalidRequest

Channel = Literal["webhook", "slack", "email", "stream"]
CHANNELS: tuple[str, ...] = get_args(Channel)

MAX_TARGET_CHARS = 2000
HIDDEN = "…"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"(?!.*=\?)(?=[^@]{{1,64}}@[^@]{{1,253}}\Z){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*\Z")


@dataclass(frozen=True, slots=True)
class Receiver:
    """``target`` is the URL of a webhook (``webhook``, ``slack``), an address (``email``), or empty for the event ``stream``."""

    channel: Channel
    target: str = ""

    @property
    def receiver_id(self) -> str:
        """Names the receiver without saying where it is: 16 hexadecimal digits, equal for equal receivers."""
        return hashlib.sha256(f"{self.channel} {self.target}".encode()).hexdigest()[:16]

    @property
    def host(self) -> str:
        """What fails together: the server of a webhook; all mail leaves through one server, all events through one stream."""
        return (urlsplit(self.target).hostname or "") if self.channel in ("webhook", "slack") else self.channel


def receiver_of(given: object, field: str = "receivers") -> Receiver:
    """The receiver a caller described as ``{channel, target}``.

    Raises:
        InvalidRequest: on ``field``, or ``field.target``; the address is not repeated.
    """
    if not isinstance(given, Mapping):
        raise InvalidRequest("must be an object with channel and target", field=field)
    channel, target = str(given.get("channel") or "").lower(), given.get("target") or ""
    if channel not in CHANNELS:
        raise InvalidRequest(f"must be one of {', '.join(CHANNELS)}", field=f"{field}.channel")
    if not isinstance(target, str) or len(target) > MAX_TARGET_CHARS:
        raise InvalidRequest(f"must be a text of at most {MAX_TARGET_CHARS} characters", field=f"{field}.target")
    problem = _problem(channel, target)
    if problem:
        raise InvalidRequest(problem, field=f"{field}.target")
    return Receiver(cast("Channel", channel), target)


def receiver_as_json(receiver: Receiver) -> dict[str, Any]:
    """With the whole address, for the state store alone."""
    return {"channel": receiver.channel, "target": receiver.target}


def receiver_from_json(body: Mapping[str, Any]) -> Receiver:
    """The inverse of :func:`receiver_as_json`."""
    return Receiver(body["channel"], body["target"])


def masked(receiver: Receiver) -> str:
    """The address as anybody may see it: scheme and host of a URL, the domain of an address, then ``…`` and the start of its id."""
    if receiver.channel == "stream":
        return ""
    hidden = HIDDEN + receiver.receiver_id[:8]
    if receiver.channel == "email":
        name, _, domain = receiver.target.rpartition("@")
        return f"{name[:1]}{hidden}@{domain}"
    parts = urlsplit(receiver.target)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}/{hidden}"


def _problem(channel: str, target: str) -> str:
    if channel == "stream":
        return "must be left out: the event stream has one place" if target else ""
    if channel == "email":
        return "" if _ADDRESS.match(target) else "must be one e-mail address, such as team@example.org"
    return _url_problem(target)


def _url_problem(target: str) -> str:
    try:
        parts = urlsplit(target)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not target.isascii() or any(sign.isspace() or not sign.isprintable() for sign in target):
        return "must be the URL of a web server, such as https://hooks.example.org/digests"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password"
    return "must not hold a fragment" if parts.fragment else ""
