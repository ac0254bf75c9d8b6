"""A real web server that receives deliveries and answers as it is told to, over real sockets."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class ReceivingServer:
    """Answers the n-th request with the n-th of ``answers``, the last one for ever. An answer is a status line with headers and body, or one of
    ``hang`` (never answers), ``drip`` (a byte now and then), ``reset`` (breaks off in the middle of a body)."""

    url: str
    answers: list[str]
    received: list[Received] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


def answer(status: int, headers: str = "", body: str = "ok") -> str:
    """An HTTP answer."""
    return f"HTTP/1.1 {status} Said\r\ncontent-length: {len(body)}\r\n{headers}\r\n{body}"


@contextlib.contextmanager
def receiving(*answers: str) -> Iterator[ReceivingServer]:
    """The server, on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = ReceivingServer(f"http://127.0.0.1:{listening.getsockname()[1]}/T0/secret-path", list(answers))
        thread = threading.Thread(target=_serve, args=(listening, server), name="receiver")
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            with contextlib.suppress(OSError):
                socket.create_connection(listening.getsockname(), 1).close()
            thread.join()


def _serve(listening: socket.socket, server: ReceivingServer) -> None:
    talking = []
    while not server.over.is_set():
        connection, _ = listening.accept()
        talking.append(threading.Thread(target=_talk, args=(connection, server)))
        talking[-1].start()
    for thread in talking:
        thread.join()


def _talk(connection: socket.socket, server: ReceivingServer) -> None:
    with connection, contextlib.suppress(OSError):
        reader = connection.makefile("rb")
        line = reader.readline().decode("latin-1").strip()
        if not line:
            return
        headers: dict[str, str] = {}
        while (header := reader.readline().decode("latin-1").strip()) != "":
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", "0")))
        server.received.append(Received(line, headers, body))
        said = server.answers[min(len(server.received), len(server.answers)) - 1]
        _say(connection, server, said)


def _say(connection: socket.socket, server: ReceivingServer, said: str) -> None:
    if said == "hang":
        server.over.wait()
    elif said == "drip":
        connection.sendall(b"HTTP/1.1 200 OK\r\nx-")
        while not server.over.wait(0.05):
            connection.sendall(b"a")
    elif said == "reset":
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegin")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif said == "huge":
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
        while not server.over.is_set():
            connection.sendall(b"a" * 65_536)
    else:
        connection.sendall(said.encode("latin-1"))


def closed_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port
