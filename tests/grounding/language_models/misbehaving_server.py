"""A server that speaks the protocol of OpenAI over a real socket, and misbehaves on demand."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(slots=True)
class Exchange:
    """One request and the ways to answer it."""

    handler: BaseHTTPRequestHandler
    body: Body
    stopped: threading.Event

    @property
    def prompt(self) -> str:
        """Everything the client said."""
        return "\n".join(message["content"] for message in self.body["messages"])

    def json(self, value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answer whole."""
        self.raw(json.dumps(value).encode(), status, {"content-type": "application/json", **(headers or {})})

    def raw(self, content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answer with these bytes."""
        self.handler.send_response(status)
        for name, value in (headers or {}).items():
            self.handler.send_header(name, value)
        self.handler.send_header("content-length", str(len(content)))
        self.handler.end_headers()
        self.handler.wfile.write(content)

    def begin(self) -> None:
        """Begin a stream, which ends with the connection."""
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream; charset=utf-8")
        self.handler.send_header("connection", "close")
        self.handler.end_headers()

    def event(self, value: object) -> None:
        """One event of the stream."""
        text = value if isinstance(value, str) else json.dumps(value)
        self.handler.wfile.write(f"data: {text}\n\n".encode())
        self.handler.wfile.flush()


Behaviour = Callable[[Exchange], None]


@dataclass(slots=True)
class ModelServer:
    """What it will do, request after request (the last for good), and what it was asked. ``models`` are those it lists."""

    url: str = ""
    behaviours: list[Behaviour] = field(default_factory=list)
    requests: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    models: tuple[str, ...] = ("small",)
    stopped: threading.Event = field(default_factory=threading.Event)

    def will(self, *behaviours: Behaviour) -> None:
        """From now on, do this."""
        self.behaviours = list(behaviours)

    def next(self) -> Behaviour:
        """What to do with the next request."""
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]


@contextmanager
def model_server(*behaviours: Behaviour) -> Iterator[ModelServer]:
    """A running server."""
    state = ModelServer(behaviours=list(behaviours))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            Exchange(self, {}, state.stopped).json({"object": "list", "data": [_model(name) for name in state.models]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            state.requests.append(body)
            assert self.path == "/v1/chat/completions", self.path
            try:
                state.next()(Exchange(self, body, state.stopped))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            state.stopped.set()
            server.shutdown()
            thread.join()


def _model(name: str) -> Body:
    return {"id": name, "object": "model", "created": 0, "owned_by": "test"}


def chunk(delta: Mapping[str, object], finish: str | None = None) -> Body:
    """One piece of a streamed answer."""
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "small", "choices": [choice]}


def completion(message: Mapping[str, object], finish: str = "stop", usage: tuple[int, int] | None = (100, 20)) -> Body:
    """A whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body: Body = {"id": "c", "object": "chat.completion", "created": 0, "model": "small", "choices": [choice]}
    return body | ({"usage": _usage(usage)} if usage else {})


def _usage(counts: tuple[int, int]) -> Body:
    return {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}


def says(content: str | Callable[[Exchange], str], *, usage: tuple[int, int] | None = (100, 20), finish: str = "stop") -> Behaviour:
    """Streams ``content`` in small pieces, ends properly, counts tokens when asked to."""

    def answer(exchange: Exchange) -> None:
        text = content if isinstance(content, str) else content(exchange)
        exchange.begin()
        exchange.event(chunk({"role": "assistant", "content": ""}))
        for start in range(0, len(text), 40):
            exchange.event(chunk({"content": text[start : start + 40]}))
        exchange.event(chunk({}, finish))
        if usage and exchange.body.get("stream_options", {}).get("include_usage"):
            exchange.event({**chunk({}), "choices": [], "usage": _usage(usage)})
        exchange.event("[DONE]")

    return answer


def says_whole(content: str | Callable[[Exchange], str], *, finish: str = "stop", usage: tuple[int, int] | None = (100, 20)) -> Behaviour:
    """Does not stream, whatever it is asked."""

    def answer(exchange: Exchange) -> None:
        text = content if isinstance(content, str) else content(exchange)
        exchange.json(completion({"content": text}, finish, usage))

    return answer


def fails(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Behaviour:
    """An error of HTTP, as the protocol words it."""
    return lambda exchange: exchange.json({"error": {"message": message, "type": "error", "code": None}}, status, headers)


def complains_about(name: str, then: Behaviour) -> Behaviour:
    """Refuses requests that hold the member ``name``, as servers that do not know it do."""

    def answer(exchange: Exchange) -> None:
        if name in exchange.body:
            fails(400, f"Unsupported parameter: '{name}' is not supported")(exchange)
        else:
            then(exchange)

    return answer


def stalls(exchange: Exchange) -> None:
    """Takes the request and never answers."""
    exchange.stopped.wait()
    exchange.handler.close_connection = True


def stalls_midway(exchange: Exchange) -> None:
    """Begins a stream and falls silent."""
    exchange.begin()
    exchange.event(chunk({"content": '{"claims": [{"te'}))
    stalls(exchange)


def cut_midway(exchange: Exchange) -> None:
    """Closes the connection in the middle of a stream, as if all were said."""
    exchange.begin()
    exchange.event(chunk({"content": '{"claims": [{"te'}))
    exchange.handler.close_connection = True


def resets_midway(exchange: Exchange) -> None:
    """The connection breaks in the middle of a stream."""
    exchange.handler.send_response(200)
    exchange.handler.send_header("content-type", "text/event-stream")
    exchange.handler.send_header("content-length", "100000")
    exchange.handler.end_headers()
    exchange.event(chunk({"content": '{"claims": [{"te'}))
    exchange.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.handler.connection.close()
    exchange.handler.close_connection = True


def cut_whole(exchange: Exchange) -> None:
    """Promises more bytes of an answer than it sends."""
    exchange.handler.send_response(200)
    exchange.handler.send_header("content-type", "application/json")
    exchange.handler.send_header("content-length", "10000")
    exchange.handler.end_headers()
    exchange.handler.wfile.write(b'{"id": "c", "choices": [{"mess')
    exchange.handler.close_connection = True


def declines(exchange: Exchange) -> None:
    """Says in the member made for it that it will not."""
    exchange.begin()
    exchange.event(chunk({"refusal": "I cannot help with that."}))
    exchange.event(chunk({}, "stop"))
    exchange.event("[DONE]")


def declines_whole(exchange: Exchange) -> None:
    """The same without a stream."""
    exchange.json(completion({"content": None, "refusal": "I cannot help with that."}))


def floods(exchange: Exchange) -> None:
    """Never stops talking."""
    exchange.begin()
    while not exchange.stopped.is_set():
        exchange.event(chunk({"content": "and so on " * 50}))


def floods_one_line(exchange: Exchange) -> None:
    """One event without an end."""
    exchange.begin()
    exchange.handler.wfile.write(b"data: ")
    while not exchange.stopped.is_set():
        exchange.handler.wfile.write(b"x" * 65_536)


def floods_whole(exchange: Exchange) -> None:
    """A whole answer of many megabytes."""
    exchange.json(completion({"content": "and so on " * 3_000_000}))


def error_midway(exchange: Exchange) -> None:
    """Fails inside a stream, in the words of the protocol."""
    exchange.begin()
    exchange.event(chunk({"content": '{"claims"'}))
    exchange.event({"error": {"message": "the model is overloaded", "type": "server_error"}})


def garbage_events(exchange: Exchange) -> None:
    """A stream whose events are no JSON."""
    exchange.begin()
    exchange.event("{broken")


def odd_members(exchange: Exchange) -> None:
    """A stream whose events are JSON of another protocol."""
    exchange.begin()
    exchange.event({"choices": "none", "usage": [1, 2]})
    exchange.event("[DONE]")


def garbage_whole(exchange: Exchange) -> None:
    """A page where an answer should be."""
    exchange.raw(b"<html>it works</html>", headers={"content-type": "text/html"})


def as_draft(*claims: tuple[str, Sequence[str]]) -> str:
    """Claims as a well-behaved drafter writes them."""
    return json.dumps({"claims": [{"text": text, "cites": list(cites)} for text, cites in claims]}, ensure_ascii=False)
