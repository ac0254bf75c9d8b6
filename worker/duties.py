"""What the worker does, one duty each. The state store is the truth about what is due; a queue only spreads the work.

Celery and the embedded scheduler run the same duties, so that a single-file deployment does what a cluster does.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Literal, Protocol, get_args

from runtime.tenancy import Tenant

Queue = Literal["monitors", "deliveries", "ingest", "evaluation", "events"]
QUEUES: tuple[str, ...] = get_args(Queue)


@dataclass(frozen=True, slots=True)
class Work:
    """One bounded piece of work: of a duty, for a tenant. ``key`` holds ids only and names the effect, so that doing it twice changes nothing."""

    duty: str
    tenant: Tenant
    key: tuple[str, ...]

    @property
    def work_id(self) -> str:
        """The same for the same piece, so that asking for it twice can be noticed: 32 hexadecimal digits."""
        return hashlib.sha256(json.dumps([self.duty, self.tenant, *self.key]).encode()).hexdigest()[:32]


def in_turn(works: Iterable[Work]) -> Iterator[Work]:
    """The first of every tenant, then the second of every tenant, and so on."""
    by_tenant: dict[Tenant, list[Work]] = {}
    for work in works:
        by_tenant.setdefault(work.tenant, []).append(work)
    for turn in zip_longest(*by_tenant.values()):
        yield from (work for work in turn if work is not None)


class Duty(Protocol):
    """A kind of work. ``due`` is cheap and changes nothing; ``do`` is idempotent and bounded."""

    @property
    def name(self) -> str:
        """Snake case; the task and the ``task`` label of metrics are called so."""
        ...

    @property
    def queue(self) -> Queue:
        """Where its work waits, so that a bulk load never delays an alert."""
        ...

    def due(self, now: datetime) -> Iterable[Work]:
        """What is to be done now, over all tenants, in a fair order: one tenant's backlog does not come before another's first piece."""
        ...

    def do(self, work: Work) -> Iterable[Work]:
        """Do one piece; returns what should follow at once (the next chunk of a job), possibly nothing.

        Raises:
            Unavailable: a dependency is down; repeating later makes sense, and is bounded by whoever runs duties.
            ServiceError: repeating does not help; the work becomes a dead letter.
        """
        ...


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """Whether workers work: ``unavailable`` is the broker. ``age_s`` is how long ago one last finished a round trip, None when that is unknown."""

    status: Literal["not configured", "ok", "late", "unavailable"]
    age_s: float | None = None
    message: str = ""


class WorkQueue(Protocol):
    """The workers, seen from a door."""

    def nudge(self, *pieces: Work) -> bool:
        """Have work done at once; whether somebody was told. Best effort: what is due is found in the state store at the next tick anyway. Never raises;
        a piece that waits already is not told of twice."""
        ...

    def health(self, now: datetime) -> WorkerHealth:
        """Whether the workers work. Never raises; at most a few seconds."""
        ...


class NoQueue:
    """Without a broker nobody can be told; the embedded scheduler finds the work at its next look."""

    def nudge(self, *pieces: Work) -> bool:  # noqa: ARG002 (the port's signature)
        """See :class:`WorkQueue`."""
        return False

    def health(self, now: datetime) -> WorkerHealth:  # noqa: ARG002
        """See :class:`WorkQueue`."""
        return WorkerHealth("not configured")
