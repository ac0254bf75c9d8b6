"""The bridge into the core's plain functions: bounded, shedding, and impatient when told to be."""

import socket
import threading

import anyio
import httpx
import pytest
import structlog

from api.threads import Threads
from runtime.errors import DeadlineExceeded, Unavailable


def test_context_variables_travel_into_the_thread() -> None:
    async def talk() -> dict[str, object]:
        with structlog.contextvars.bound_contextvars(correlation_id="c-1"):
            return await Threads(1).call(structlog.contextvars.get_contextvars)

    assert anyio.run(talk)["correlation_id"] == "c-1"


def test_errors_of_the_core_arrive_as_they_were_raised() -> None:
    def fail() -> None:
        raise Unavailable("the engine is down", dependency="engine")

    with pytest.raises(Unavailable, match="engine is down"):
        anyio.run(Threads(1).call, fail)


def test_when_every_thread_is_busy_a_call_is_shed_after_a_short_wait() -> None:
    release = threading.Event()

    async def talk() -> None:
        pool = Threads(1, wait_s=0.01)
        async with anyio.create_task_group() as group:
            group.start_soon(pool.call, release.wait)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(Unavailable, match="busy"):
                await pool.call(int)
            release.set()

    anyio.run(talk)


def test_a_call_that_outlasts_its_time_is_given_up() -> None:
    release = threading.Event()

    async def talk() -> None:
        try:
            with pytest.raises(DeadlineExceeded):
                await Threads(1).call_within(0.01, release.wait)
        finally:
            release.set()

    anyio.run(talk)


def test_who_was_given_up_has_its_place_until_its_server_lets_it_go() -> None:
    """So that no more than so many are ever on a slow server, whoever stopped waiting for them."""
    with socket.create_server(("127.0.0.1", 0)) as slow:
        address = f"http://127.0.0.1:{slow.getsockname()[1]}"

        def ask() -> None:
            with pytest.raises(httpx.HTTPError):
                httpx.get(address, timeout=60)

        async def talk() -> None:
            pool = Threads(1, wait_s=0.01)
            with pytest.raises(DeadlineExceeded):
                await pool.call_within(0.05, ask)
            held, _ = slow.accept()
            with pytest.raises(Unavailable, match="busy"):
                await pool.call_within(5, int)
            held.close()
            pool._wait_s = 20.0
            assert await pool.call_within(20, int) == 0

        anyio.run(talk)
