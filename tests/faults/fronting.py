"""A small HTTP server in front of a real node: it terminates TLS, asks for a credential, writes down what was called, or changes what is answered."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

Rewrite = Callable[[str, Any], Any]
"""From the path and the JSON of an answer to the JSON that is sent."""

_REFUSED = json.dumps({"error": {"root_cause": [{"type": "security_exception", "reason": "no such user"}]}, "status": 401}).encode()


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came in; ``path`` without its query."""

    method: str
    path: str
    query: str
    body: bytes


@dataclass
class Front:
    """What the server does, and what it saw."""

    target: str
    url: str = ""
    authorization: str = ""
    rewrite: Rewrite | None = None
    before: Callable[[Call], None] = lambda _call: None
    """Called with each request before it is passed on."""
    calls: list[Call] = field(default_factory=list)


@contextmanager
def fronting(target: str, *, tls: ssl.SSLContext | None = None, authorization: str = "", rewrite: Rewrite | None = None) -> Iterator[Front]:
    """A running front of ``target``. With ``authorization`` everybody without exactly that header is refused as the security plugin does."""
    front = Front(target, authorization=authorization, rewrite=rewrite)
    with httpx.Client(base_url=target, timeout=60) as client, _Server(front, client, tls) as server:
        front.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield front
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    """A thread for each connection; a handshake that fails ends its thread alone."""

    daemon_threads = False

    def __init__(self, front: Front, client: httpx.Client, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.front = front
        self.client = client
        self.tls = tls

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(20)
        with suppress(OSError):  # the other side went away, or does not like our certificate, which is what some tests are about
            if self.tls is None:
                super().finish_request(request, client_address)
                return
            with self.tls.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the library)
        """Nothing is printed."""

    def do_GET(self) -> None:
        server = cast("_Server", self.server)
        front = server.front
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = urlsplit(self.path)
        if front.authorization and self.headers.get("authorization") != front.authorization:
            self._answer(401, _REFUSED)
            return
        front.calls.append(Call(self.command, parts.path, parts.query, body))
        front.before(front.calls[-1])
        kind = {"content-type": self.headers.get("content-type", "application/json")}
        answer = server.client.request(self.command, self.path, content=body, headers=kind)
        content = answer.content
        if front.rewrite is not None and content:
            content = json.dumps(front.rewrite(parts.path, answer.json())).encode()
        self._answer(answer.status_code, content)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815 (names of the library)

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=UTF-8")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
