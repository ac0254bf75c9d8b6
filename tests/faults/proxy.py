"""A TCP proxy in front of a real server that breaks what passes through it in one of ten ways, switched while it runs.

It works with bytes and knows no protocol; the two faults that are answers of HTTP are meant for dependencies that speak it.
"""

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, get_args

import pytest

Fault = Literal["refused", "slow", "half_open", "reset", "cut", "throttled", "garbage", "http_429", "http_503", "dns"]
"""``refused``: nobody listens. ``slow``: every piece comes after ``SLOW_S``. ``half_open``: connections are taken and nothing is answered. ``reset`` and
``cut``: the connection breaks, or ends, in the middle of an answer. ``throttled``: an answer comes byte by byte, for longer than anybody should wait.
``garbage``: random bytes in place of the answer. ``http_429`` and ``http_503``: a gateway's words. ``dns``: the name does not resolve."""

TCP_FAULTS: tuple[Fault, ...] = ("refused", "slow", "half_open", "reset", "cut", "throttled", "garbage", "dns")
HTTP_FAULTS: tuple[Fault, ...] = get_args(Fault)

SLOW_S = 30.0
BYTE_EVERY_S = 0.1
RETRY_AFTER_S = 20
PIECE = 65_536
_HEAD_END = b"\r\n\r\n"
_ANSWERS = {
    "http_429": f"HTTP/1.1 429 Too Many Requests\r\nretry-after: {RETRY_AFTER_S}\r\ncontent-length: 4\r\n\r\nbusy",
    "http_503": "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\ndown",
}


class Proxy:
    """Listens on ``port`` of this machine; ``fault`` is what it does to connections, old and new, from the moment it is set. One thread of its own."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.fault: Fault | None = None
        self.accepted = 0

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()
        self._run(self._listen())

    def fail(self, fault: Fault) -> None:
        """From now on."""
        self._run(self._switch(fault))

    def heal(self) -> None:
        """Everything passes again; connections that suffered are gone."""
        self._run(self._switch(None))

    def close(self) -> None:
        """Close every connection and end the thread."""
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _switch(self, fault: Fault | None) -> None:
        was, self.fault = self.fault, fault
        if fault == "refused" and self._server is not None:
            self._server.close()
            self._server = None
        if fault in ("refused", "dns") or was is not None:
            self._drop_all()
        if self._server is None and fault != "refused":
            await self._listen()

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        self._drop_all()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _drop_all(self) -> None:
        for writer in tuple(self._open):
            _reset(writer)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.accepted += 1
        self._open.add(writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._talk(reader, writer)
        finally:
            self._open.discard(writer)
            _reset(writer)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(*self._target)
        self._open.add(up_writer)
        pumps = [
            asyncio.ensure_future(self._upwards(reader, up_writer, writer)),
            asyncio.ensure_future(self._downwards(up_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._open.discard(up_writer)
            _reset(up_writer)

    async def _upwards(self, reader: asyncio.StreamReader, up: asyncio.StreamWriter, down: asyncio.StreamWriter) -> None:
        while piece := await reader.read(PIECE):
            if self.fault in _ANSWERS:
                await self._answer(piece, reader, down)
                return
            if self.fault == "half_open":
                continue
            up.write(piece)
            await up.drain()

    async def _answer(self, piece: bytes, reader: asyncio.StreamReader, down: asyncio.StreamWriter) -> None:
        """Take the whole request, so that closing the connection does not reset it, and say what a gateway says."""
        while self._missing(piece):
            more = await reader.read(PIECE)
            if not more:
                return
            piece += more
        down.write(_ANSWERS[str(self.fault)].encode())
        await down.drain()
        down.write_eof()
        await reader.read(PIECE)

    @staticmethod
    def _missing(piece: bytes) -> bool:
        head, found, body = piece.partition(_HEAD_END)
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return not found or len(body) < (int(lengths[0]) if lengths else 0)

    async def _downwards(self, up: asyncio.StreamReader, down: asyncio.StreamWriter) -> None:
        said = b""
        while piece := await up.read(PIECE):
            if self.fault == "slow":
                await asyncio.sleep(SLOW_S)
            if self.fault == "half_open":
                continue
            if self.fault == "throttled":
                await _drip(piece, down)
            elif self.fault in ("reset", "cut"):
                said += piece
                if await _half(said, down, reset=self.fault == "reset"):
                    return
            else:
                down.write(random.Random(7).randbytes(len(piece)) if self.fault == "garbage" else piece)
                await down.drain()


async def _drip(piece: bytes, down: asyncio.StreamWriter) -> None:
    for number in range(len(piece)):
        down.write(piece[number : number + 1])
        await down.drain()
        await asyncio.sleep(BYTE_EVERY_S)


async def _half(said: bytes, down: asyncio.StreamWriter, *, reset: bool) -> bool:
    """Half of an answer, then the end; of HTTP the whole head and half of the body. False while there is no body yet."""
    if said.startswith(b"HTTP/"):
        head, found, body = said.partition(_HEAD_END)
        if not found or (not body and b"content-length: 0" not in head.lower()):
            return False
        said = head + found + body + body
    down.write(said[: max(1, len(said) // 2 if not said.startswith(b"HTTP/") else len(said) - len(body) - (len(body) + 1) // 2)])
    await down.drain()
    if reset:
        await asyncio.sleep(0.02)
        _reset(down)
    return True


def _reset(writer: asyncio.StreamWriter) -> None:
    """End with RST, so that no port lingers."""
    found = writer.get_extra_info("socket")
    with suppress(OSError):
        if found is not None and found.fileno() >= 0:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def proxied(host: str, port: int) -> Iterator[Proxy]:
    """A proxy in front of a server, closed at the end with everything that hangs on it. Reached as ``localhost``, so that the name can fail too."""
    proxy = Proxy((host, port))
    proxy.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", _resolver(proxy))
        try:
            yield proxy
        finally:
            proxy.close()


def _resolver(proxy: Proxy) -> Any:
    """The system's, but for the proxy's own port."""
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host == "localhost" and str(port) == str(proxy.port):
            if proxy.fault == "dns":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            host = "127.0.0.1"
        return real(host, port, *more, **named)

    return resolve
