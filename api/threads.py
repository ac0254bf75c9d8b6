"""From the event loop into the plain functions of the core: one bounded set of worker threads, which sheds load instead of queueing for ever."""

import asyncio
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from runtime.errors import DeadlineExceeded, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

WAIT_S = 5.0
"""Longest wait for a free thread, in seconds."""


class Threads:
    """At most ``size`` calls of the core at once, each waiting at most ``wait_s`` for its turn, and done inside ``around()``.

    Context variables (the correlation id) travel into the thread.
    """

    def __init__(self, size: int, *, wait_s: float = WAIT_S, around: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._places = anyio.Semaphore(size)
        self._limiter = anyio.CapacityLimiter(math.inf)
        self._size = size
        self._wait_s = wait_s
        self._around = around

    async def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``fn`` returns or raises.

        Raises:
            Unavailable: no thread became free in time.
        """
        await self._take_place()
        return await self._finished(partial(fn, *args, **kwargs))

    async def call_within(self, seconds: float, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like :meth:`call`, but stops waiting after ``seconds``. A thread cannot be stopped: it runs on until its own deadlines end it, and has its place
        until then.

        Raises:
            DeadlineExceeded: the time is over.
        """
        with anyio.move_on_after(seconds):
            await self._take_place()
            running = asyncio.ensure_future(self._finished(partial(fn, *args, **kwargs)))
            running.add_done_callback(_heard)
            return await asyncio.shield(running)
        raise DeadlineExceeded(f"the call took longer than the {seconds:g} s allowed; narrow it with filters or a smaller limit")

    async def _finished(self, fn: Callable[[], T]) -> T:
        try:
            return await anyio.to_thread.run_sync(self._inside, fn, limiter=self._limiter)
        finally:
            self._places.release()

    def _inside(self, fn: Callable[[], T]) -> T:
        with self._around():
            return fn()

    async def _take_place(self) -> None:
        with anyio.move_on_after(self._wait_s):
            await self._places.acquire()
            return
        raise Unavailable(f"all {self._size} worker threads are busy; repeat in a moment", dependency="threads", retry_after_s=1.0)


def _heard(running: "asyncio.Task[Any]") -> None:
    """Nobody may be waiting any more for what went wrong."""
    if not running.cancelled():
        running.exception()
