"""New digests as they are published, by this process or another: one look at the store per tenant and half a second, shared by everybody who
listens, and none when nobody does."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from runtime.errors import InvalidRequest, NotFound, ServiceError
from runtime.telemetry import logger
from runtime.tenancy import Tenant
from worker.monitors.digest import Digest

POLL_S = 0.5
PAGE = 100
WAITING_DIGESTS = 100
"""Digests that may wait for one reader; whoever is further behind comes back with the last id instead."""

Since = Callable[[Tenant, str | None, int], Awaitable[tuple[Digest, ...]]]
"""Digests published after the one of that id, oldest first; None is before the first."""

Newest = Callable[[Tenant], Awaitable[str | None]]
"""Id of the newest digest, or None."""


class FellBehind(Exception):
    """The reader took digests more slowly than they were published."""


@dataclass(eq=False, slots=True)
class _Channel:
    head: str | None
    listeners: set[MemoryObjectSendStream[Digest]] = field(default_factory=set)

    def tell(self, digest: Digest) -> None:
        self.head = digest.digest_id
        for listener in tuple(self.listeners):
            try:
                listener.send_nowait(digest)
            except anyio.WouldBlock:
                self.listeners.discard(listener)
                listener.close()


class DigestFeed:
    """Made once per application; :meth:`run` must be entered for as long as it serves."""

    def __init__(self, since: Since, newest: Newest, *, poll_s: float = POLL_S) -> None:
        self._since = since
        self._newest = newest
        self._poll_s = poll_s
        self._channels: dict[Tenant, _Channel] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve; once at a time, any number of times."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            tasks.cancel_scope.cancel()
        self._tasks = None
        self._channels.clear()

    @property
    def watched(self) -> frozenset[Tenant]:
        """Tenants that are looked at now."""
        return frozenset(self._channels)

    async def digests(self, tenant: Tenant, after: str | None) -> AsyncGenerator[Digest, None]:
        """Every digest published after the one with that id, then every new one; None begins now, an empty text with the first there is.

        Raises:
            FellBehind: the reader is too slow.
            InvalidRequest: on ``after``, when the tenant has no such digest.
        """
        head = await self._newest(tenant)
        with self._listening(tenant, head) as arriving:
            told: set[str] = set()
            if after is not None:
                async for digest in self._backlog(tenant, after or None):
                    told.add(digest.digest_id)
                    yield digest
            async for digest in arriving:
                if digest.digest_id not in told:
                    yield digest
            raise FellBehind

    async def _backlog(self, tenant: Tenant, after: str | None) -> AsyncIterator[Digest]:
        while page := await self._since(tenant, after, PAGE):
            for digest in page:
                yield digest
            after = page[-1].digest_id

    @contextmanager
    def _listening(self, tenant: Tenant, head: str | None) -> Iterator[MemoryObjectReceiveStream[Digest]]:
        arrived, arriving = anyio.create_memory_object_stream[Digest](WAITING_DIGESTS)
        channel = self._channels.get(tenant)
        if channel is None or not channel.listeners:  # one that nobody listens to any more may be far behind
            assert self._tasks is not None
            channel = self._channels[tenant] = _Channel(head)
            self._tasks.start_soon(self._poll, tenant, channel)
        channel.listeners.add(arrived)
        try:
            yield arriving
        finally:
            channel.listeners.discard(arrived)
            arrived.close()
            arriving.close()

    async def _poll(self, tenant: Tenant, channel: _Channel) -> None:
        while channel.listeners:
            if not await self._looked(tenant, channel):
                await anyio.sleep(self._poll_s)
        # No await since the last look at the listeners, so nobody can have joined in between.
        if self._channels.get(tenant) is channel:
            del self._channels[tenant]

    async def _looked(self, tenant: Tenant, channel: _Channel) -> bool:
        """Whether there may be more at once."""
        try:
            fresh = await self._since(tenant, channel.head, PAGE)
        except (InvalidRequest, NotFound):  # the digest at the head was deleted
            channel.head = await self._newest(tenant)
            return False
        except ServiceError as error:
            logger(__name__).info("digests cannot be looked for now", error=type(error).__name__)
            return False
        for digest in fresh:
            channel.tell(digest)
        return len(fresh) == PAGE
