"""Small servers on real sockets that misbehave in one way each."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Misbehaviour = Callable[[socket.socket], None]


@contextmanager
def listening(misbehave: Misbehaviour) -> Iterator[str]:
    """The URL of a server that does one thing with every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve, args=(server, misbehave), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def nobody_listening() -> str:
    """The URL of a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def answering(body: str, *, status: str = "200 OK", kind: str = "application/json") -> Misbehaviour:
    """Answers every request so."""
    content = body.encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\nconnection: close\r\n\r\n"

    def answer(connection: socket.socket) -> None:
        _read_request(connection)
        connection.sendall(head.encode() + content)

    return answer


def resetting(connection: socket.socket) -> None:
    """Reads, then resets the connection."""
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cutting_short(connection: socket.socket) -> None:
    """Promises more than it sends."""
    _read_request(connection)
    connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"took":')


def saying_nothing(connection: socket.socket) -> None:
    """Keeps the connection open and silent until the other side gives up."""
    while connection.recv(65536):
        pass


def _serve(server: socket.socket, misbehave: Misbehaviour) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_one, args=(connection, misbehave), daemon=True).start()


def _one(connection: socket.socket, misbehave: Misbehaviour) -> None:
    with connection, contextlib.suppress(OSError):
        misbehave(connection)


def _read_request(connection: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    wanted = int(lengths[0]) if lengths else 0
    while len(body) < wanted:
        body += connection.recv(65536)
