"""The end of an exchange that takes too long as a whole."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Watch:
    """Ends a call whose single reads are all in time and whose sum is not: a server may send a byte now and then for ever."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._socket: socket.socket | None = None
        self._over = False

    def hold(self, connection: socket.socket | None) -> None:
        """This is the connection now; the one before it became part of it."""
        self._socket = connection
        if self._over:
            self._cut()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Cuts the connection when the body takes too long."""
        self._timer.start()
        try:
            yield
        finally:
            self._timer.cancel()

    def _cut(self) -> None:
        self._over = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
