"""A plain client of ``graphql-transport-ws`` over a real WebSocket."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

PROTOCOL = Subprotocol("graphql-transport-ws")
WITHIN_S = 20.0
SUBSCRIBE = "subscription($after: ID) { digestPublished(after: $after) { digestId version n deliveries { state } claims { text } } }"


class Talk:
    """One connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def say(self, **message: Any) -> None:
        self.connection.send(json.dumps(message))

    def heard(self) -> dict[str, Any]:
        """The next message."""
        message = json.loads(self.connection.recv(WITHIN_S))
        assert isinstance(message, dict)
        return message

    def greet(self, tenant: str | None = None) -> None:
        self.say(type="connection_init", **({"payload": {"x-tenant-id": tenant}} if tenant else {}))
        assert self.heard() == {"type": "connection_ack"}

    def subscribe(self, identifier: str = "1", query: str = SUBSCRIBE, **variables: Any) -> None:
        self.say(type="subscribe", id=identifier, payload={"query": query, "variables": variables})

    def told(self) -> str:
        """The id of the next digest."""
        message = self.heard()
        assert message["type"] == "next", message
        return str(message["payload"]["data"]["digestPublished"]["digestId"])

    def closed(self) -> int:
        """The code the server closes with, after whatever it still says."""
        with suppress(ConnectionClosed):
            while True:
                self.connection.recv(WITHIN_S)
        said = self.connection.protocol.close_rcvd
        assert said is not None
        return said.code


@contextmanager
def talking(web: str, **options: Any) -> Iterator[Talk]:
    """A connection that is open and has not greeted."""
    url = web.replace("http://", "ws://") + "/graphql"
    with connect(url, **({"subprotocols": [PROTOCOL]} | options)) as connection:
        yield Talk(connection)
