"""Request bodies, read whole and handed on."""

from starlette.types import Message, Receive


class Replayed:
    """A ``receive`` that gives a body that has been read already, then goes on with the original."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """The body first."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def whole_body(receive: Receive, limit: int) -> bytes | None:
    """The whole body, or None when it is longer than ``limit`` bytes."""
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
        if size > limit:
            return None
    return b"".join(chunks)
