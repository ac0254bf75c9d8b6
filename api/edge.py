"""The outermost layer of HTTP: correlation id, size of the body, Host and Origin, and the answer to errors nobody caught."""

import math
from collections.abc import Sequence
from http import HTTPStatus

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.bodies import Replayed, whole_body
from api.errors import Fault, fault_of, http_fault, problem
from api.json_text import write_json
from runtime.clock import Stopwatch, SystemClock
from runtime.settings import Settings
from runtime.telemetry import Metrics, correlated, correlation_id, logger
from runtime.tracing import NOTHING, Span, asked_in, carrier, span

CORRELATION_HEADER = "x-correlation-id"

TRACED = "traced"
"""Where in the state of a request its place in a trace is, for doors that serve it in another task."""

EXACT_PATHS = frozenset({"/graphql", "/mcp"})
"""Routes that are applications of their own, which the router does not name."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

PROBES = frozenset({"/health", "/livez", "/ready", "/readyz", "/metrics"})
"""Routes that machines ask all the time: neither logged nor traced."""

PROTECTION = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Headers of every response that does not set them itself."""


class Edge:
    """Wraps the whole application. Nothing inside sees a request whose Host, Origin or size was refused."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body = settings.max_body_bytes
        self._body_within_s = settings.body_timeout_s
        self._hosts = _patterns(settings.allowed_hosts)
        self._origins = _patterns(settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "websocket" and self._refused(Headers(scope=scope)):
            await send({"type": "websocket.close"})  # before it is opened: the upgrade is answered with 403
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = correlation_id(Headers(scope=scope).get(CORRELATION_HEADER))
        scope.setdefault("state", {})["correlation_id"] = identifier
        watch, reply = Stopwatch.start(SystemClock()), _Reply(send, identifier)
        with correlated(identifier), _span(scope, identifier) as told:
            scope["state"][TRACED], caught = carrier(), ""
            try:
                await self._serve(scope, receive, reply)
            except Exception as error:  # noqa: BLE001 (the last door: whatever escaped becomes a masked problem)
                caught = type(error).__name__
                await reply.problem(scope, receive, fault_of(error))
            self._record(scope, reply.status, watch.elapsed_s())
            _tell(told, scope, reply.status, caught)

    async def _serve(self, scope: Scope, receive: Receive, reply: "_Reply") -> None:
        fault = self._refused(Headers(scope=scope))
        body = fault or await self._body(receive)
        if isinstance(body, Fault):
            await reply.problem(scope, receive, body)
        else:
            await self._app(scope, Replayed(body, receive), reply)

    async def _body(self, receive: Receive) -> bytes | Fault:
        with anyio.move_on_after(self._body_within_s):
            body = await whole_body(receive, self._max_body)
            return self._too_large() if body is None else body
        return http_fault(HTTPStatus.REQUEST_TIMEOUT, f"the body did not arrive within {self._body_within_s:g} s")

    def _too_large(self) -> Fault:
        return http_fault(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {self._max_body} bytes")

    def _refused(self, headers: Headers) -> Fault | None:
        if not _matches(headers.get("host", ""), self._hosts):
            return http_fault(HTTPStatus.MISDIRECTED_REQUEST, "this host name is not served here; WA_ALLOWED_HOSTS lists those that are")
        if "origin" in headers and not _matches(headers["origin"], self._origins):
            return http_fault(HTTPStatus.FORBIDDEN, "pages of this origin may not call; WA_ALLOWED_ORIGINS lists those that may")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._max_body:
            return self._too_large()
        return None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        operation = _route(scope)
        self._metrics.count("wa_requests_total", operation=operation, outcome=f"{status // 100}xx")
        self._metrics.observe("wa_request_duration_seconds", seconds, operation=operation)
        if operation not in PROBES:
            logger(__name__).info("request", method=scope["method"], operation=operation, status=status, ms=round(seconds * 1000, 1))


def _span(scope: Scope, identifier: str) -> Span:
    """The span of a request, in the trace its caller names."""
    if scope["path"] in PROBES:
        return NOTHING
    return span(_method(scope), kind="server", parent=asked_in(Headers(scope=scope)), http_method=_method(scope), correlation_id=identifier)


def _tell(told: Span, scope: Scope, status: int, caught: str) -> None:
    """What is known of a request when it is over. Only our own failures are failures."""
    told.rename(f"{_method(scope)} {_route(scope)}")
    told.set(http_route=_route(scope), http_status=status)
    if caught or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        told.failed(caught or str(status))


def _route(scope: Scope) -> str:
    """Its template, never the path itself."""
    return str(getattr(scope.get("route"), "path", scope["path"] if scope["path"] in EXACT_PATHS else "other"))


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in METHODS else "OTHER"


class _Reply:
    """The way out: adds our headers, and remembers whether the response has begun."""

    def __init__(self, send: Send, identifier: str) -> None:
        self._send = send
        self._identifier = identifier
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[CORRELATION_HEADER] = self._identifier
            for name, value in PROTECTION.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def problem(self, scope: Scope, receive: Receive, fault: Fault) -> None:
        """Answer with a problem document, unless an answer is already on its way."""
        if not self.status:
            await problem_response(fault, scope["path"], self._identifier)(scope, receive, self)


def problem_response(fault: Fault, instance: str, identifier: str, challenge: str = "") -> Response:
    """A fault as ``application/problem+json``; ``challenge`` says which credential would help."""
    headers = retry_headers(fault) | ({"www-authenticate": challenge} if challenge else {})
    body = problem(fault, instance=instance, correlation_id=identifier)
    return Response(write_json(body), fault.treatment.status, headers, "application/problem+json")


def retry_headers(fault: Fault) -> dict[str, str]:
    """When to come back, in whole seconds, where that is known."""
    return {} if fault.retry_after_s is None else {"retry-after": str(max(1, math.ceil(fault.retry_after_s)))}


def _patterns(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _matches(value: str, patterns: Sequence[str]) -> bool:
    bare, colon, port = value.rpartition(":")
    anywhere = f"{bare}:*" if colon and port.isdigit() else ""
    return value in patterns or (anywhere != "" and anywhere in patterns)
