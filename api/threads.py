"""From the event loop into the plain functions of the core: one bounded set of worker threads, which sheds load instead of queueing for ever."""

import math
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
import anyio.to_thread

from runtime.errors import DeadlineExceeded, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

WAIT_S = 5.0
"""Longest wait for a free thread, in seconds."""


class Threads:
    """At most ``size`` calls of the core at once, each waiting at most ``wait_s`` for its turn.

    Context variables (the correlation id) travel into the thread.
    """

    def __init__(self, size: int, *, wait_s: float = WAIT_S) -> None:
        self._places = anyio.Semaphore(size)
        self._limiter = anyio.CapacityLimiter(math.inf)
        self._size = size
        self._wait_s = wait_s

    async def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``fn`` returns or raises.

        Raises:
            Unavailable: no thread became free in time.
        """
        await self._take_place()
        try:
            return await anyio.to_thread.run_sync(partial(fn, *args, **kwargs), limiter=self._limiter)
        finally:
            self._places.release()

    async def call_within(self, seconds: float, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like :meth:`call`, but stops waiting after ``seconds``. A thread cannot be stopped: it runs on until its own deadlines end it.

        Raises:
            DeadlineExceeded: the time is over.
        """
        with anyio.move_on_after(seconds):
            return await self._abandonable(partial(fn, *args, **kwargs))
        raise DeadlineExceeded(f"the call took longer than the {seconds:g} s allowed; narrow it with filters or a smaller limit")

    async def _abandonable(self, fn: Callable[[], T]) -> T:
        await self._take_place()
        try:
            return await anyio.to_thread.run_sync(fn, limiter=self._limiter, abandon_on_cancel=True)
        finally:
            self._places.release()

    async def _take_place(self) -> None:
        with anyio.move_on_after(self._wait_s):
            await self._places.acquire()
            return
        raise Unavailable(f"all {self._size} worker threads are busy; repeat in a moment", dependency="threads", retry_after_s=1.0)
