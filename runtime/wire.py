"""Connections that keep to the time of one attempt as a whole.

The drivers' timeouts are of one read each: a server that sends a byte now and then could hold a thread for hours. Here every read and write gets what
is left of the attempt that it belongs to (:func:`runtime.clock.time_left_s`).
"""

import socket
import ssl
from typing import Any

from runtime.clock import time_left_s


class _Stream:
    """A connection of ``httpcore`` or of its successor; the two have no type in common."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._stream.read(max_bytes, timeout=time_left_s(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=time_left_s(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> "_Stream":
        return _Stream(self._stream.start_tls(ssl_context, server_hostname=server_hostname, timeout=time_left_s(timeout)))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend:
    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> _Stream:
        return _Stream(self._backend.connect_tcp(host, port, timeout=time_left_s(timeout), **options))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> _Stream:
        return _Stream(self._backend.connect_unix_socket(path, timeout=time_left_s(timeout), **options))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def keep_to_deadlines(client: Any) -> None:
    """Make a new client of ``httpx`` or ``httpx2`` do so. Neither lets a connection's reads be replaced from outside, so its parts are reached into;
    a release that calls them differently fails at once and not in silence."""
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001 (see above)
        if transport is not None:
            pool = transport._pool  # noqa: SLF001
            pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001


class _Timed:
    """Reads and writes of a socket; goes before the class of the socket."""

    _most_s: float | None = None

    def settimeout(self, value: float | None) -> None:
        """The longest wait of one read or write; 0 waits for nothing."""
        self._most_s = value
        super().settimeout(value)  # type: ignore[misc]

    def recv(self, *arguments: Any) -> bytes:
        """See :class:`socket.socket`."""
        self._limit()
        data: bytes = super().recv(*arguments)  # type: ignore[misc]
        return data

    def recv_into(self, *arguments: Any) -> int:
        """See :class:`socket.socket`."""
        self._limit()
        size: int = super().recv_into(*arguments)  # type: ignore[misc]
        return size

    def sendall(self, *arguments: Any) -> None:
        """See :class:`socket.socket`."""
        self._limit()
        super().sendall(*arguments)  # type: ignore[misc]

    def _limit(self) -> None:
        if self._most_s != 0:
            super().settimeout(time_left_s(self._most_s))  # type: ignore[misc]


class TimedSocket(_Timed, socket.socket):
    """A connected TCP socket that does the same, for drivers that read sockets themselves."""

    @classmethod
    def of(cls, connected: socket.socket) -> "TimedSocket":
        """Takes the connection over; ``connected`` is closed without ending it."""
        most_s = connected.gettimeout()
        taken = cls(connected.family, connected.type, connected.proto, fileno=connected.detach())
        taken.settimeout(most_s)
        return taken


class TimedTlsSocket(_Timed, ssl.SSLSocket):
    """The same over TLS: for ``SSLContext.sslsocket_class``."""
