"""Sends a shot and tells what came back."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.hostile.shot import Shot

ANSWER_WITHIN_S = 60.0
BETWEEN_PIECES_S = 0.02
HEARD_WITHIN_S = 0.1
MAX_HEARD = 200
MAX_BODY = 32_000_000
CONNECTION_LOST = 1006


@dataclass(frozen=True, slots=True)
class Outcome:
    """``status`` is that of HTTP, the code a WebSocket was closed with, or the exit code of a command; 0 when nothing came. ``correlation`` is the id
    that the server's log calls the request by."""

    status: int
    said: bytes
    seconds: float
    correlation: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where shots go: the port of the server, the credential for WebSockets, and the environment of commands."""

    port: int
    secret: str
    environment: Mapping[str, str]


def sent(shot: Shot, target: Target) -> Outcome:
    """What came back, within :data:`ANSWER_WITHIN_S`."""
    started = time.perf_counter()
    how = {"frames": _conversed, "command": _commanded}.get(shot.conduct, _requested)
    status, said, correlation, trouble = how(shot, target)
    return Outcome(status, said, time.perf_counter() - started, correlation, trouble)


Told = tuple[int, bytes, str, str]


def _requested(shot: Shot, target: Target) -> Told:
    with socket.create_connection(("127.0.0.1", target.port), ANSWER_WITHIN_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before the end; the answer may be there nevertheless
            for piece in shot.wire:
                connection.sendall(piece)
                if shot.conduct == "slow":
                    time.sleep(BETWEEN_PIECES_S)
        if shot.conduct == "abort":
            return _broken_off(connection)
        return _answer(connection, shot.wire[0].split(b" ", 1)[0].decode("latin-1"))


def _broken_off(connection: socket.socket) -> Told:
    """Hang up, but look at what came at once."""
    connection.settimeout(BETWEEN_PIECES_S)
    with suppress(OSError):
        said = connection.recv(65_536)
        status = said.split(b" ", 2)[1] if said.startswith(b"HTTP/1.1 ") else b"0"
        return int(status), said, _correlation(said), ""
    return 0, b"", "", ""


def _correlation(head: bytes) -> str:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"x-correlation-id:"):
            return line.split(b":", 1)[1].strip().decode("latin-1")
    return ""


def _answer(connection: socket.socket, method: str) -> Told:
    response = HTTPResponse(connection, method=method)
    try:
        response.begin()
        said = response.read(MAX_BODY)
        head = str(response.headers).encode("utf-8", "replace")
        return response.status, head + said, response.getheader("x-correlation-id", "") or "", ""
    except TimeoutError:
        return 0, b"", "", "no answer in time"
    except (HTTPException, OSError) as error:
        return 0, b"", "", f"{type(error).__name__}: {error}"
    finally:
        response.close()


def _conversed(shot: Shot, target: Target) -> Told:
    heard: list[bytes] = []
    code, trouble = 0, ""
    try:
        with connect(
            f"ws://127.0.0.1:{target.port}/graphql", subprotocols=[Subprotocol("graphql-transport-ws")], max_size=MAX_BODY
        ) as talk:
            talk.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {target.secret}"}}))
            with suppress(ConnectionClosed):
                for frame in shot.frames:
                    talk.send(frame)
                _listen(talk, heard)
            code = talk.protocol.close_rcvd.code if talk.protocol.close_rcvd else 0
    except (WebSocketException, OSError) as error:
        trouble = f"{type(error).__name__}: {error}"
    return code, b"\n".join(heard), "", trouble


def _listen(talk: ClientConnection, heard: list[bytes]) -> None:
    with suppress(TimeoutError):
        while len(heard) < MAX_HEARD:
            said = talk.recv(HEARD_WITHIN_S)
            heard.append(said.encode() if isinstance(said, str) else said)


def _commanded(shot: Shot, target: Target) -> Told:
    command = [sys.executable, "-m", "api.cli.main", *shot.words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WA_")} | dict(target.environment)
    here = Path(__file__).resolve().parents[2]
    try:
        done = subprocess.run(  # noqa: S603 (our own module)
            command, cwd=here, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired:
        return 0, b"", "", "no end in time"
    return done.returncode, done.stdout + done.stderr, "", ""
