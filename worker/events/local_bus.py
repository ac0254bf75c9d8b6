"""The bus inside one process, for a deployment without Redis. What it holds is gone with the process; the log is not."""

import json
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import count, islice

from runtime.clock import Clock
from runtime.events import event_as_json
from runtime.tenancy import Tenant
from worker.events.bus import MAX_DELIVERIES, DeadMessage, Delivery, Lag, Sequenced, shard_of

_KEPT = 200
"""Messages kept for each shard; those behind are lost to who did not read them in time, and are still in the log."""


@dataclass(slots=True)
class _Taken:
    number: int
    message: Sequenced
    consumer: str
    at_s: float
    times: int


@dataclass(slots=True)
class _Group:
    """``read`` is the number of the last message that was taken of each shard; ``taken`` is in the hands of consumers."""

    read: dict[int, int] = field(default_factory=dict)
    taken: dict[int, _Taken] = field(default_factory=dict)


class LocalBus:
    """Implements :class:`worker.events.bus.EventBus`; safe to use from many threads."""

    def __init__(self, clock: Clock, *, handling_s: float = 60.0) -> None:
        self._clock = clock
        self._handling_s = handling_s
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._shards: dict[int, deque[tuple[int, Sequenced]]] = {}
        self._groups: dict[str, _Group] = {}
        self._dead: deque[tuple[Tenant, DeadMessage]] = deque(maxlen=_KEPT)

    def publish(self, messages: Sequence[Sequenced]) -> None:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            for message in messages:
                shard = self._shards.setdefault(shard_of(message.event.tenant), deque(maxlen=_KEPT))
                shard.append((next(self._numbers), message))

    def read(self, group: str, consumer: str, *, first: int = 100) -> tuple[Delivery, ...]:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            held = self._groups.setdefault(group, _Group())
            now_s = self._clock.seconds()
            again = self._claimed(group, held, consumer, now_s)[:first]
            busy = {shard_of(taken.message.event.tenant) for taken in held.taken.values()}
            fresh = self._fresh(held, consumer, now_s, busy, first - len(again))
            return tuple(_delivery(taken) for taken in (*again, *fresh))

    def _claimed(self, group: str, held: _Group, consumer: str, now_s: float) -> list[_Taken]:
        claimed = []
        for number, taken in sorted(held.taken.items()):
            if now_s - taken.at_s < self._handling_s:
                continue
            if taken.times >= MAX_DELIVERIES:
                del held.taken[number]
                self._bury(group, taken)
                continue
            taken.consumer, taken.at_s, taken.times = consumer, now_s, taken.times + 1
            claimed.append(taken)
        return claimed

    def _bury(self, group: str, taken: _Taken) -> None:
        tenant = taken.message.event.tenant
        content = json.dumps(event_as_json(taken.message.event))
        self._dead.append((tenant, DeadMessage(group, shard_of(tenant), content, taken.times)))

    def _fresh(self, held: _Group, consumer: str, now_s: float, busy: set[int], first: int) -> list[_Taken]:
        fresh = []
        for number, message in islice(
            merge(*(self._unread(held, shard) for shard in self._shards if shard not in busy), key=_number), first
        ):
            held.read[shard_of(message.event.tenant)] = number
            held.taken[number] = _Taken(number, message, consumer, now_s, 1)
            fresh.append(held.taken[number])
        return fresh

    def _unread(self, held: _Group, shard: int) -> list[tuple[int, Sequenced]]:
        return [waiting for waiting in self._shards[shard] if waiting[0] > held.read.get(shard, 0)]

    def acknowledge(self, group: str, deliveries: Sequence[Delivery]) -> None:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            taken = self._groups.setdefault(group, _Group()).taken
            for delivery in deliveries:
                taken.pop(int(delivery.message_id), None)

    def dead(self, *, first: int = 100) -> tuple[DeadMessage, ...]:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            return tuple(message for _, message in islice(reversed(self._dead), first))

    def lag(self, group: str) -> Lag:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            held = self._groups.get(group, _Group())
            return Lag(sum(len(self._unread(held, shard)) for shard in self._shards), len(held.taken))

    def forget(self, tenant: Tenant) -> int:
        """See :class:`worker.events.bus.EventBus`."""
        with self._lock:
            shard = self._shards.get(shard_of(tenant), deque())
            kept = [(number, message) for number, message in shard if message.event.tenant != tenant]
            dead = [(owner, message) for owner, message in self._dead if owner != tenant]
            removed = len(shard) - len(kept) + len(self._dead) - len(dead)
            self._shards[shard_of(tenant)], self._dead = deque(kept, maxlen=_KEPT), deque(dead, maxlen=_KEPT)
            for group in self._groups.values():
                group.taken = {number: taken for number, taken in group.taken.items() if taken.message.event.tenant != tenant}
            return removed

    def close(self) -> None:
        """See :class:`worker.events.bus.EventBus`."""


def _number(waiting: tuple[int, Sequenced]) -> int:
    return waiting[0]


def _delivery(taken: _Taken) -> Delivery:
    return Delivery(shard_of(taken.message.event.tenant), str(taken.number), taken.message, taken.times)
