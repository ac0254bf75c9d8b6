"""MCP on standard input and output, for one client. The library drops lines that are no message; here they are answered."""

from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from api.mcp_server import mcp_server
from api.threads import Threads
from worker.opening import Service


def run_stdio(service: Service) -> None:
    """Serve one client on standard input and output until it goes away, for the default tenant."""

    async def serve() -> None:
        server = mcp_server(service, Threads(service.settings.bulkhead_calls))
        async with stdio_server() as (read, write):
            await server.run(Messages(read, write), write, server.create_initialization_options())

    anyio.run(serve)


class Messages:
    """What a client sends, without lines that are no message: each of those gets the error JSON-RPC has for it, under no id, since none could be read."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage]) -> None:
        self._read = read
        self._write = write

    @property
    def last_context(self) -> object:
        """The context of whoever sent the last one, which the library asks for."""
        return getattr(self._read, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        while isinstance(item := await self._read.receive(), Exception):
            await self._write.send(SessionMessage(_answer(item)))
        return item

    async def aclose(self) -> None:
        """Take no more."""
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


def _answer(error: Exception) -> types.JSONRPCError:
    readable = isinstance(error, ValidationError) and all(each["type"] != "json_invalid" for each in error.errors(include_input=False))
    if readable:
        said = types.ErrorData(code=types.INVALID_REQUEST, message="Invalid request: send one JSON-RPC 2.0 message a line")
    else:
        said = types.ErrorData(code=types.PARSE_ERROR, message="Parse error: the line is no JSON; send one JSON-RPC 2.0 message a line")
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=said)
