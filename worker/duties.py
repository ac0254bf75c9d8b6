"""What the worker does, one duty each. The state store is the truth about what is due; a queue only spreads the work.

Celery and the embedded scheduler run the same duties, so that a single-file deployment does what a cluster does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from runtime.tenancy import Tenant

Queue = Literal["monitors", "deliveries", "ingest", "evaluation", "events"]


@dataclass(frozen=True, slots=True)
class Work:
    """One bounded piece of work: of a duty, for a tenant. ``key`` holds ids only and names the effect, so that doing it twice changes nothing."""

    duty: str
    tenant: Tenant
    key: tuple[str, ...]


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
