"""A real web server in a thread, on a free port of this machine."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

STARTS_WITHIN_S = 30.0


class _Announcing(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """Serve ``app`` and yield its address; requests in progress are finished at the end."""
    with socket.socket(
        socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    ) as listening:  # named, or asyncio leaves Nagle's algorithm on
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        server = _Announcing(uvicorn.Config(app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="web server")
        thread.start()
        try:
            assert server.ready.wait(STARTS_WITHIN_S), "the web server did not start"
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
