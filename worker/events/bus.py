"""The bus that carries relayed events to consumer groups. Two implementations, one contract suite: in this process, and Redis Streams."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from runtime.events import Event
from runtime.tenancy import Tenant

SHARDS = 64
"""Fixed: with another number, a tenant's events would lie in two shards and lose their order."""

MAX_DELIVERIES = 3


@dataclass(frozen=True, slots=True)
class Sequenced:
    """An event and its place in its tenant's log, 1 for the first. The same event always has the same place, however often it is sent."""

    sequence: int
    event: Event


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message in the hands of one consumer, who acknowledges it after the effect."""

    shard: int
    message_id: str
    message: Sequenced
    times_delivered: int


@dataclass(frozen=True, slots=True)
class DeadMessage:
    """A message that is not delivered any more; ``content`` is what it held, which may not be an event at all."""

    group: str
    shard: int
    content: str
    times_delivered: int


@dataclass(frozen=True, slots=True)
class Lag:
    """What a group has not acknowledged: never delivered yet, and delivered only."""

    unread: int
    pending: int


class EventBus(Protocol):
    """At least once, in order for each tenant. Every method raises ``Unavailable`` when the bus cannot be reached."""

    def publish(self, messages: Sequence[Sequenced]) -> None:
        """Send messages, in this order; each group gets each of them at least once, also a group that reads for the first time later."""
        ...

    def read(self, group: str, consumer: str, *, first: int = 100) -> tuple[Delivery, ...]:
        """Up to ``first`` messages for this consumer, possibly none; does not wait.

        What another consumer took and did not acknowledge in the time one may take comes first, then what is new. A shard is read by one
        consumer of a group at a time, and gives nothing while messages of it are in another's hands, so that a tenant's order is kept. What was
        delivered more than ``MAX_DELIVERIES`` times, or cannot be read as an event, becomes a dead message and is not returned.
        """
        ...

    def acknowledge(self, group: str, deliveries: Sequence[Delivery]) -> None:
        """The effect of these has been had; a second time changes nothing."""
        ...

    def dead(self, *, first: int = 100) -> tuple[DeadMessage, ...]:
        """Dead messages, newest first."""
        ...

    def lag(self, group: str) -> Lag:
        """What this group has yet to acknowledge."""
        ...

    def forget(self, tenant: Tenant) -> int:
        """Remove every message of a tenant, read or not, dead ones too; returns how many there were."""
        ...

    def close(self) -> None:
        """Release everything; further calls are errors."""
        ...


def shard_of(tenant: Tenant) -> int:
    """The shard that carries a tenant; the same in every process."""
    return zlib.crc32(tenant.encode("utf-8")) % SHARDS
