"""A duty for trying the machinery that runs duties: windows that are planned in the state store and are to have one digest each.

A window's ``mode`` says how its evaluation behaves. What happens is told to a list in a Redis that no test kills, so that tests wait for it and never
sleep.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import redis

from runtime.clock import Clock, SystemClock
from runtime.errors import Conflict, InvalidRequest, Unavailable
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.engines.embedded import open_embedded
from search.engines.opening import sqlite_path
from search.ports import StateStore
from tests.contracts.writes import DIMENSION, MODEL
from worker.duties import Duty, Queue, Work

PLANNED, DIGEST = "window", "digest"
SECRET = "the words of a customer"
"""What no dead letter may show."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Channel:
    """What happens, as ``word:window``, and permission to go on."""

    url: str
    name: str

    def tell(self, word: str, window: str) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.rpush(self.name, f"{word}:{window}")

    def allow(self, window: str) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.rpush(f"{self.name}:go:{window}", "go")

    def await_permission(self, window: str) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.blpop([f"{self.name}:go:{window}"], timeout=60)

    def heard(self, within_s: float = 60.0) -> Iterator[str]:
        """What is told, as it comes; ends when nothing comes for so long."""
        with redis.Redis.from_url(self.url, socket_timeout=within_s + 10) as client:
            while (told := client.blpop([self.name], timeout=within_s)) is not None:
                yield told[1].decode()

    def await_all(self, *wanted: str, within_s: float = 60.0) -> list[str]:
        """Listen until all of these were told; returns all that was."""
        missing, told = set(wanted), []
        for each in self.heard(within_s):
            told.append(each)
            missing.discard(each)
            if not missing:
                return told
        raise AssertionError(f"never heard of {sorted(missing)}; heard {told[-20:]}")


@dataclass(frozen=True, slots=True)
class Windows:
    """Implements :class:`worker.duties.Duty`."""

    state: StateStore
    channel: Channel
    name: str = "windows"
    queue: Queue = "monitors"

    def due(self, now: datetime) -> Iterable[Work]:
        for tenant, entry in self.state.scan(PLANNED):
            if datetime.fromisoformat(entry.body["at"]) <= now and self.state.get(tenant, DIGEST, entry.entry_id) is None:
                yield Work(self.name, tenant, (entry.entry_id,))

    def do(self, work: Work) -> Iterable[Work]:
        window = work.key[0]
        entry = self.state.get(work.tenant, PLANNED, window)
        assert entry is not None
        self.channel.tell("started", window)
        self._behave(entry.body["mode"], window)
        with suppress(Conflict):
            self.state.put(work.tenant, DIGEST, window, {"window": window}, expected=0)
            self.channel.tell("digest", window)
        self.channel.tell("finished", window)
        return [Work(self.name, work.tenant, (follows,)) for follows in entry.body.get("follows", [])]

    def _behave(self, mode: str, window: str) -> None:
        if mode == "raises":
            raise RuntimeError(SECRET)
        if mode == "invalid":
            raise InvalidRequest("is not a condition", field="condition")
        if mode == "down":
            raise Unavailable("the engine does not answer", dependency="engine")
        if mode == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "dies_once" and not self._told_before("died", window):
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "hangs":
            threading.Event().wait(60)
        if mode == "deaf":
            _deaf_to_soft_limits()
        if mode == "lingers":
            threading.Event().wait(0.2)
        if mode == "waits":
            self.channel.await_permission(window)

    def _told_before(self, word: str, window: str) -> bool:
        with redis.Redis.from_url(self.channel.url) as client:
            return client.set(f"{self.channel.name}:{word}:{window}", "1", nx=True) is None


@dataclass(frozen=True, slots=True)
class Broken:
    """A duty that cannot even say what is due."""

    name: str = "broken"
    queue: Queue = "events"

    def due(self, now: datetime) -> Iterable[Work]:  # noqa: ARG002 (the port's signature)
        raise RuntimeError(SECRET)

    def do(self, work: Work) -> Iterable[Work]:  # noqa: ARG002
        return ()


@dataclass(frozen=True, slots=True)
class Workshop:
    """Implements :class:`worker.queues.performing.Working` with these duties."""

    settings: Settings
    state: StateStore
    duties: Mapping[str, Duty]
    clock: Clock = field(default_factory=SystemClock)
    metrics: Metrics = field(default_factory=Metrics)
    held: Callable[[], AbstractContextManager[None]] = nullcontext


def _deaf_to_soft_limits() -> None:
    while True:
        with suppress(Exception):
            threading.Event().wait(60)


def plan(state: StateStore, window: str, *, tenant: str = "acme", at: datetime = LONG_AGO, mode: str = "evaluates", **more: Any) -> Work:
    """Plan a window."""
    state.put(Tenant(tenant), PLANNED, window, {"at": at.isoformat(), "mode": mode, **more})
    return Work("windows", Tenant(tenant), (window,))


def digests(state: StateStore) -> list[str]:
    """The windows that have their digest."""
    return [entry.entry_id for _, entry in state.scan(DIGEST)]


@contextmanager
def open_state(path: Path) -> Iterator[StateStore]:
    """The state store in this file."""
    with open_embedded(path, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
        yield engine.state


class Opening:
    """Opens a workshop in a worker's process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @contextmanager
    def __call__(self, settings: Settings) -> Iterator[Workshop]:
        with open_state(sqlite_path(settings.engine_url)) as state:
            duties: tuple[Duty, ...] = (Broken(), Windows(state, self._channel))
            yield Workshop(settings, state, {duty.name: duty for duty in duties})
