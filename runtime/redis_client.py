"""Clients of Redis that repeat nothing by themselves and keep to the time of the call they are part of."""

import socket
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from runtime.errors import Misconfigured
from runtime.wire import TimedSocket


class TimedConnection(redis.Connection):
    """Over TLS or a local socket the library's own connections are used, whose timeout is of one read."""

    def _connect(self) -> socket.socket:
        return TimedSocket.of(super()._connect())  # type: ignore[no-untyped-call]


def redis_client(url: str, timeout_s: float, **options: Any) -> Any:
    """A client that connects at its first call; ``timeout_s`` bounds connecting and each read (the library by itself waits for ever), and the guard around
    a call bounds all of it.

    Raises:
        Misconfigured: the URL has another scheme.
    """
    if url.startswith("redis://"):
        options["connection_class"] = TimedConnection
    try:
        return redis.Redis.from_url(url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=Retry(NoBackoff(), 0), **options)
    except ValueError as error:
        raise Misconfigured("WA_REDIS_URL must begin with redis://, rediss:// or unix://") from error
