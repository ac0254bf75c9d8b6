"""Subscriptions over WebSocket, in the protocol ``graphql-transport-ws``: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md

Who is asking is said once, in ``connection_init``, and holds until the connection ends. Nothing is buffered for a reader that does not read.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from inspect import isawaitable
from typing import Any

import anyio
from anyio.abc import TaskGroup
from graphql import ExecutionResult, GraphQLError, GraphQLSchema, OperationType, get_operation_ast, subscribe
from starlette.datastructures import Headers
from starlette.websockets import WebSocket, WebSocketDisconnect

from api import limits
from api.digest_feed import DigestFeed, FellBehind
from api.doors import Doors
from api.graphql_documents import Rejected, admitted, operation_of, parsed, validated
from api.graphql_errors import BAD_USER_INPUT, formatted
from api.graphql_schema import Request
from api.identity.principal import Principal
from api.json_text import read_json, write_json
from api.tenancy import CREDENTIAL_HEADER, TENANT_HEADER
from runtime.errors import InvalidRequest, ServiceError, Unauthenticated, Unavailable
from runtime.telemetry import correlated, correlation_id, logger
from runtime.tenancy import Tenant
from runtime.tracing import Carrier, asked_in, carrier, span

PROTOCOL = "graphql-transport-ws"

INIT_WAIT_S = 10.0
SEND_WITHIN_S = 10.0
RECOGNISE_S = 30.0
"""A conversation outlives its credential by this long at most."""
MAX_SUBSCRIPTIONS = 10
"""On one connection."""
MAX_CONNECTIONS = 100
"""Of one tenant, in one process."""
WS_MAX_BYTES = 4 * limits.MAX_QUERY_CHARS
"""Of one frame; the server closes the connection beyond it."""

BAD_FRAME, UNAUTHORIZED, FORBIDDEN, INIT_TIMEOUT, DUPLICATE, SECOND_INIT = 4400, 4401, 4403, 4408, 4409, 4429
TRY_AGAIN = 1013
"""Clients come back by themselves after this one."""

Message = dict[str, Any]


class Conversations:
    """The door; one per application."""

    def __init__(
        self, schema: GraphQLSchema, doors: Doors, feed: DigestFeed, *, init_wait_s: float = INIT_WAIT_S, recognise_s: float = RECOGNISE_S
    ) -> None:
        self.schema = schema
        self.doors = doors
        self.feed = feed
        self.init_wait_s = init_wait_s
        self.recognise_s = recognise_s
        self._connections: Counter[Tenant] = Counter()

    async def converse(self, socket: WebSocket) -> None:
        """Serve one connection; one that does not offer the protocol is refused before it is opened."""
        if PROTOCOL not in socket.scope.get("subprotocols", ()):
            await socket.close()
            return
        with correlated(correlation_id()) as identifier:
            await _Conversation(self, socket, identifier).serve()

    def admitted(self, tenant: Tenant) -> bool:
        """Take a place for a connection of this tenant, if there is one."""
        if self._connections[tenant] >= MAX_CONNECTIONS:
            return False
        self._connections[tenant] += 1
        return True

    def left(self, tenant: Tenant) -> None:
        """Give the place back."""
        self._connections[tenant] -= 1
        if not self._connections[tenant]:
            del self._connections[tenant]


class _Conversation:
    def __init__(self, door: Conversations, socket: WebSocket, identifier: str) -> None:
        self._door = door
        self._socket = socket
        self._identifier = identifier
        self._sending = anyio.Lock()
        self._operations: dict[str, anyio.CancelScope] = {}
        self._principal: Principal | None = None
        self._greeted = False
        self._said = socket.headers
        self._ending: tuple[int, str] | None = None
        self._tasks: TaskGroup

    async def serve(self) -> None:
        await self._socket.accept(PROTOCOL)
        try:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._wait_for_init)
                await self._read()
                self._tasks.cancel_scope.cancel()
        finally:
            if self._principal is not None:
                self._door.left(self._principal.tenant)
        if self._ending is not None:
            with anyio.move_on_after(SEND_WITHIN_S), suppress(WebSocketDisconnect, RuntimeError):  # it may have gone away by itself
                await self._socket.close(*self._ending)

    def _end(self, code: int, reason: str) -> None:
        self._ending = self._ending or (code, reason)
        self._tasks.cancel_scope.cancel()

    async def _wait_for_init(self) -> None:
        await anyio.sleep(self._door.init_wait_s)
        if not self._greeted:
            self._end(INIT_TIMEOUT, "Connection initialisation timeout")

    async def _recognise_again(self) -> None:
        """End the conversation when its credential has ended: a key was revoked, a token has expired. Who cannot be asked ends nothing."""
        while True:
            await anyio.sleep(self._door.recognise_s)
            assert self._principal is not None
            try:
                again = await self._door.doors.identify(self._said)
            except Unavailable:
                again = self._principal
            except ServiceError as error:
                return self._end(_close_code(error), str(error)[:100])
            ended = again.valid_until is not None and again.valid_until <= self._door.doors.service.clock.now()
            if ended or again.tenant != self._principal.tenant or not again.scopes >= self._principal.scopes:
                return self._end(UNAUTHORIZED, "The credential has ended or changed; greet again")

    async def _read(self) -> None:
        while self._ending is None:
            frame = await self._socket.receive()
            if frame["type"] == "websocket.disconnect":
                return
            message = _message(frame.get("text"))
            if message is None:
                self._end(BAD_FRAME, "Every message is a JSON object with a type")
            else:
                await self._take(message)

    async def _take(self, message: Message) -> None:
        kind = message["type"]
        if kind == "connection_init":
            await self._greet(message.get("payload"))
        elif kind == "subscribe":
            self._subscribe(message)
        elif kind == "complete":
            self._stop(message)
        elif kind == "ping":
            await self._send({"type": "pong"})
        elif kind != "pong":
            self._end(BAD_FRAME, "Unknown message type")

    async def _greet(self, payload: Any) -> None:
        if self._greeted:
            return self._end(SECOND_INIT, "Too many initialisation requests")
        self._greeted = True
        if not isinstance(payload, Mapping | None):
            return self._end(BAD_FRAME, "The payload of connection_init must be an object")
        try:
            self._said = _credentials(self._socket.headers, payload or {})
            principal = await self._door.doors.identify(self._said)
        except ServiceError as error:
            return self._end(_close_code(error), str(error)[:100])
        if not self._door.admitted(principal.tenant):
            return self._end(TRY_AGAIN, f"A tenant may have {MAX_CONNECTIONS} connections")
        self._principal = principal
        if principal.limited:
            self._tasks.start_soon(self._recognise_again)
        return await self._send({"type": "connection_ack"})

    def _subscribe(self, message: Message) -> None:
        identifier, payload = message.get("id"), message.get("payload")
        if self._principal is None:
            self._end(UNAUTHORIZED, "Unauthorized")
        elif not isinstance(identifier, str) or not identifier or not isinstance(payload, dict):
            self._end(BAD_FRAME, "subscribe needs an id and a payload")
        elif identifier in self._operations:
            self._end(DUPLICATE, f"Subscriber for {identifier[:40]} already exists")
        elif len(self._operations) >= MAX_SUBSCRIPTIONS:
            full = GraphQLError(f"A connection may have {MAX_SUBSCRIPTIONS} subscriptions.")
            self._tasks.start_soon(self._fail, identifier, (full,), BAD_USER_INPUT)
        else:
            scope = self._operations[identifier] = anyio.CancelScope()
            self._tasks.start_soon(self._operate, identifier, payload, scope)

    def _stop(self, message: Message) -> None:
        scope = self._operations.pop(str(message.get("id")), None)
        if scope is not None:
            scope.cancel()

    async def _operate(self, identifier: str, payload: Message, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self._stream(identifier, payload)
            except Rejected as rejected:
                await self._fail(identifier, rejected.errors, rejected.code)
            except FellBehind:
                self._end(TRY_AGAIN, "Read too slowly; come back with the last id")
            except Exception as error:  # noqa: BLE001 (a door: every error leaves with a code, unplanned ones masked)
                await self._fail(identifier, (GraphQLError("failed", original_error=error),), BAD_USER_INPUT)
        if self._operations.get(identifier) is scope:
            del self._operations[identifier]

    async def _stream(self, identifier: str, payload: Message) -> None:
        with span("subscribe", kind="server", parent=_place(payload, self._socket.headers), correlation_id=self._identifier) as told:
            told.set(tenant=self._principal.tenant if self._principal else None)
            found = await self._results(payload)
            begun = carrier(apart=True)  # it may go on for days: each event is a trace of its own, linked to this one
        async with aclosing(found) as results:  # type: ignore[type-var]
            async for result in results:
                body: Message = {"data": result.data}
                if result.errors:
                    body = {"errors": formatted(result.errors, BAD_USER_INPUT, self._identifier)} | body
                with span("subscription event", kind="producer", parent=begun, correlation_id=self._identifier):
                    await self._send({"type": "next", "id": identifier, "payload": body})
        await self._send({"type": "complete", "id": identifier})

    async def _results(self, payload: Message) -> AsyncIterator[ExecutionResult]:
        operation, door = operation_of(payload), self._door
        document = parsed(operation.query)
        validated(door.schema, document)
        chosen = get_operation_ast(document, operation.name)
        if chosen is None or chosen.operation is not OperationType.SUBSCRIPTION:
            raise Rejected((GraphQLError("Only subscriptions are served here; send queries and mutations by POST."),), BAD_USER_INPUT)
        assert self._principal is not None
        await admitted(door.doors.gate, self._principal, document, chosen)
        made = subscribe(
            door.schema,
            document,
            context_value=Request(door.doors.service, self._principal, door.doors.threads, door.doors.gate, door.feed),
            variable_values=operation.variables,
            operation_name=operation.name,
            max_coercion_errors=limits.MAX_REPORTED_ERRORS,
            hide_suggestions=True,
        )
        results = await made if isawaitable(made) else made
        if isinstance(results, ExecutionResult):
            raise Rejected(tuple(results.errors or ()), BAD_USER_INPUT)
        return results

    async def _fail(self, identifier: str, errors: tuple[GraphQLError, ...], code: str) -> None:
        await self._send({"type": "error", "id": identifier, "payload": formatted(errors, code, self._identifier)})

    async def _send(self, message: Message) -> None:
        """Send now, or end the conversation: a reader that does not read is not waited for, and nothing is kept for it."""
        try:
            with anyio.move_on_after(SEND_WITHIN_S) as late:
                async with self._sending:
                    await self._socket.send_text(write_json(message).decode())
        except (WebSocketDisconnect, RuntimeError):  # it went away; the reading side ends the conversation
            logger(__name__).info("websocket went away while it was written to")
            return
        if late.cancelled_caught:
            self._end(TRY_AGAIN, "Read too slowly; come back with the last id")


def _message(text: object) -> Message | None:
    if not isinstance(text, str):
        return None
    try:
        message = read_json(text)
    except InvalidRequest:
        return None
    return message if isinstance(message, dict) and isinstance(message.get("type"), str) else None


def _place(payload: Message, upgrade: Headers) -> Carrier:
    """Where the caller is: said in the ``extensions`` of the operation, else when the connection was opened."""
    extensions = payload.get("extensions")
    return asked_in(extensions if isinstance(extensions, Mapping) else None) or asked_in(upgrade)


def _credentials(upgrade: Headers, payload: Mapping[str, Any]) -> Headers:
    """What the upgrade and ``connection_init`` say of who is asking, as if both had been headers; saying the same twice is saying it once."""
    told = (TENANT_HEADER, CREDENTIAL_HEADER)
    raw = [(name, value) for name, value in upgrade.raw if name.decode("latin-1") not in told]
    for header in told:
        said = [*upgrade.getlist(header), *(str(value) for name, value in payload.items() if name.lower() == header)]
        raw += [(header.encode(), text.encode("utf-8", "replace")) for text in dict.fromkeys(said)]
    return Headers(raw=raw)


def _close_code(error: ServiceError) -> int:
    if isinstance(error, Unauthenticated):
        return UNAUTHORIZED
    return TRY_AGAIN if isinstance(error, Unavailable) else FORBIDDEN
