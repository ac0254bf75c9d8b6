"""A real OTLP receiver on loopback: takes spans over HTTP as a collector does, keeps them, and misbehaves when told to."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse

Mood = Literal["well", "failing", "garbage", "silent"]


@dataclass(frozen=True)
class Received:
    """One span, as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    failed: bool
    attributes: dict[str, Any]
    links: tuple[tuple[str, str], ...]
    resource: dict[str, Any]


@dataclass
class Collector:
    """What a receiver has seen. Set ``mood`` to have it misbehave."""

    url: str = ""
    mood: Mood = "well"
    spans: list[Received] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    requests: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    released: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> list[Received]:
        """Spans of this name so far."""
        with self.changed:
            return [span for span in self.spans if span.name == name]

    def awaited(self, *names: str, within_s: float = 30.0) -> list[Received]:
        """All spans, once there is one of each name."""

        def there() -> bool:
            return {*names} <= {span.name for span in self.spans}

        with self.changed:
            assert self.changed.wait_for(there, within_s), (names, sorted({span.name for span in self.spans}))
            return list(self.spans)

    def trace(self, trace_id: str) -> dict[str, Received]:
        """Spans of a trace by id."""
        with self.changed:
            return {span.span_id: span for span in self.spans if span.trace_id == trace_id}

    def path(self, span: Received) -> list[str]:
        """Names from the root of its trace down to the span."""
        known, names = self.trace(span.trace_id), [span.name]
        while span.parent_id in known:
            span = known[span.parent_id]
            names.append(span.name)
        return names[::-1]

    def everything(self) -> bytes:
        """Every byte of every body, unpacked."""
        with self.changed:
            return b"".join(self.bodies)

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        with self.changed:
            self.bodies.append(body)
            for group in request.resource_spans:
                resource = _values(group.resource.attributes)
                for scope in group.scope_spans:
                    self.spans += [_received(span, resource) for span in scope.spans]
            self.changed.notify_all()


def _received(span: Any, resource: dict[str, Any]) -> Received:
    return Received(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=span.kind,
        failed=span.status.code == span.status.STATUS_CODE_ERROR,
        attributes=_values(span.attributes),
        links=tuple((link.trace_id.hex(), link.span_id.hex()) for link in span.links),
        resource=resource,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A receiver on a port of its own."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.requests += 1
            if collector.mood == "silent":
                collector.released.wait(30)
                return
            if collector.mood == "failing":
                self._answer(503, b"")
                return
            if collector.mood == "garbage":
                self.wfile.write(b"\x00\xffno http at all\r\n\r\n")
                return
            assert (self.path, self.headers["content-type"]) == ("/v1/traces", "application/x-protobuf")
            collector.take(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self._answer(200, ExportTraceServiceResponse().SerializeToString())

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield collector
    finally:
        collector.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
