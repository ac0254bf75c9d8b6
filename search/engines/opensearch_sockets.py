"""The driver's connections, made to keep to the time of an attempt as a whole."""

import socket
import ssl
from typing import Any

import urllib3.connection

from runtime.wire import TimedSocket, TimedTlsSocket


class _Http(urllib3.connection.HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return TimedSocket.of(super()._new_conn())


class _Https(urllib3.connection.HTTPSConnection):
    """The context makes the socket that is read from; this one carries it until then."""

    def _new_conn(self) -> socket.socket:
        return TimedSocket.of(super()._new_conn())


def keep_to_deadlines(client: Any, secure: ssl.SSLContext | None) -> None:
    """For a new client of ``opensearchpy``; its timeouts would be of one read each."""
    for connection in client.transport.connection_pool.connections:
        connection.pool.ConnectionCls = _Http if secure is None else _Https
    if secure is not None:
        secure.sslsocket_class = TimedTlsSocket
