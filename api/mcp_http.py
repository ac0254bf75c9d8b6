"""MCP over HTTP: the SDK's transports behind one path, with what they leave open closed in front of them.

Answers are plain JSON, so that a client without handshake or ``Accept`` header is served; an event stream is used only for requests that ask for
messages on the way. There are no sessions, so GET and DELETE have nothing to do.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.bodies import Replayed, whole_body
from api.casing import snake
from api.doors import Identify
from api.edge import retry_headers
from api.errors import fault_of
from api.identity.challenge import MCP_METADATA_PATH, base_url, challenge
from api.identity.gate import Gate
from api.identity.rights import TOOLS
from api.json_text import read_json, write_json
from api.mcp_server import PRINCIPAL
from api.mcp_tools import TOOLS as OURS
from runtime.errors import InvalidRequest, ServiceError
from runtime.settings import Settings

ON_THE_WAY = ("progressToken", "io.modelcontextprotocol/logLevel")
"""Members of ``_meta`` by which a request asks for messages before its result."""


class McpEndpoint:
    """An ASGI application for the path ``/mcp``; :meth:`run` must be entered for as long as it serves."""

    def __init__(self, server: Server[Any], settings: Settings, identify: Identify, gate: Gate) -> None:
        self._server = server
        self._settings = settings
        self._identify = identify
        self._gate = gate
        self._max_body = settings.max_body_bytes
        self._security = TransportSecuritySettings(
            allowed_hosts=_listed(settings.allowed_hosts), allowed_origins=_listed(settings.allowed_origins)
        )
        self._plain: StreamableHTTPSessionManager | None = None
        self._streaming: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve; once at a time, any number of times."""
        plain, streaming = self._transport(json_response=True), self._transport(json_response=False)
        async with plain.run(), streaming.run():
            self._plain, self._streaming = plain, streaming
            yield
        self._plain = self._streaming = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        body = await whole_body(receive, self._max_body) or b""
        scope["headers"] = _mended(scope["headers"])
        message, refused = _message(body)
        if refused is None:
            refused = await self._recognised(scope, message)
        if refused is not None:
            await refused(scope, receive, send)
            return
        # Written anew, so that the transports read what was checked here, and valid UTF-8 whatever escapes it held.
        await self._chosen(message, scope).handle_request(scope, Replayed(write_json(message), receive), send)

    async def _recognised(self, scope: Scope, message: Mapping[str, Any]) -> Response | None:
        """Leave who asks in the state of the request, or answer who may not ask this."""
        try:
            principal = await self._identify(Headers(scope=scope), "mcp")
            await self._gate.admitted(principal, _operations(message))
        except ServiceError as error:
            return _refusal(message, error, challenge(error, self._settings, self._metadata_url(scope)))
        scope.setdefault("state", {})[PRINCIPAL] = principal
        return None

    def _metadata_url(self, scope: Scope) -> str:
        host = Headers(scope=scope).get("host", "")
        return base_url(self._settings, scope["scheme"], host) + MCP_METADATA_PATH

    def _chosen(self, message: Mapping[str, Any], scope: Scope) -> StreamableHTTPSessionManager:
        assert self._plain is not None
        assert self._streaming is not None
        accepts = "text/event-stream" in Headers(scope=scope).get("accept", "")
        return self._streaming if accepts and _wants_messages(message) else self._plain

    def _transport(self, *, json_response: bool) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            app=self._server,
            json_response=json_response,
            stateless=True,
            security_settings=self._security,
            max_request_body_size=self._max_body,
        )


def _mended(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Blanks around values taken away; a client that does not say what it accepts accepts anything (RFC 9110, 12.5.1)."""
    mended = [(name, value.strip()) for name, value in headers]
    return mended if any(name == b"accept" for name, _ in mended) else [*mended, (b"accept", b"*/*")]


def _wants_messages(message: Mapping[str, Any]) -> bool:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    asked = isinstance(meta, dict) and any(name in meta for name in ON_THE_WAY)
    return asked or message.get("method") == "subscriptions/listen"


def _message(body: bytes) -> tuple[dict[str, Any], Response | None]:
    """The JSON-RPC message, or the answer to what is none. The transports would answer with other codes and the text of their internals."""
    try:
        message = read_json(body)
    except InvalidRequest as error:
        return {}, _error(None, types.PARSE_ERROR, f"Parse error: {error.reason}")
    if not isinstance(message, dict):
        return {}, _error(None, types.INVALID_REQUEST, "Invalid request: send one JSON-RPC message, not a batch")
    identifier = message.get("id")
    if "id" in message and (isinstance(identifier, bool) or not isinstance(identifier, str | int)):
        return {}, _error(None, types.INVALID_REQUEST, "Invalid request: id must be a text or a whole number")
    if message.get("jsonrpc") != "2.0":
        return {}, _error(identifier, types.INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"')
    return _params_checked(message, identifier)


def _params_checked(message: dict[str, Any], identifier: str | int | None) -> tuple[dict[str, Any], Response | None]:
    is_response = "result" in message or "error" in message
    if not is_response and not isinstance(message.get("method"), str):
        return {}, _error(identifier, types.INVALID_REQUEST, "Invalid request: method must be a text")
    if not isinstance(message.get("params"), dict | None):
        return {}, _error(identifier, types.INVALID_PARAMS, "Invalid params: params must be an object")
    wrong = _wrong_member(message)
    return ({}, _error(identifier, types.INVALID_PARAMS, f"Invalid params: {wrong}")) if wrong else (message, None)


_MEMBERS: Mapping[str, tuple[tuple[str, type, str, bool], ...]] = {
    "tools/call": (("name", str, "a text", True), ("arguments", dict, "an object", False)),
    "prompts/get": (("name", str, "a text", True), ("arguments", dict, "an object", False)),
    "resources/read": (("uri", str, "a text", True),),
}
"""Members of the params by method: name, type, how the type is called, and whether it must be there. The library would refuse them without naming one."""


def _wrong_member(message: Mapping[str, Any]) -> str:
    """What is wrong with the first member of the params that is of another type, or ``""``."""
    params = message.get("params") or {}
    for name, kind, called, needed in _MEMBERS.get(str(message.get("method")), ()):
        if (needed or params.get(name) is not None) and not isinstance(params.get(name), kind):
            return f"{name} must be {called}"
    return ""


def _operations(message: Mapping[str, Any]) -> tuple[str, ...]:
    """What is called. A tool that does not exist is the server's to refuse; the other methods say nothing of any document."""
    if message.get("method") != "tools/call":
        return ()
    name = message["params"]["name"]
    return (TOOLS.get(name, name),) if name in OURS else ()


def _refusal(message: Mapping[str, Any], error: ServiceError, challenged: str) -> Response:
    fault = fault_of(error, casing=snake)
    refused = _error(message.get("id"), types.INVALID_REQUEST, fault.message, fault.treatment.status)
    refused.headers.update(retry_headers(fault) | ({"www-authenticate": challenged} if challenged else {}))
    return refused


def _error(identifier: str | int | None, code: int, text: str, status: int = HTTPStatus.BAD_REQUEST) -> Response:
    body = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": text}}
    return Response(write_json(body), status, media_type="application/json")


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
