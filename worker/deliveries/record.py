"""What is known of one digest on its way to one receiver."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from runtime.tenancy import Tenant
from worker.deliveries.receivers import Receiver, receiver_as_json, receiver_from_json

DeliveryState = Literal["pending", "delivered", "undelivered"]
STATES: tuple[str, ...] = get_args(DeliveryState)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One digest × receiver. ``attempts`` counts those made for ``version``, the version of the digest that is to arrive.

    ``first_version`` is the one this receiver is told first; later ones are updates of it. ``delivered_version`` is 0 until something arrived.
    ``revision`` is the version of the record itself, for compare-and-set.
    """

    delivery_id: str
    digest_id: str
    monitor_id: str
    receiver: Receiver
    state: DeliveryState
    version: int
    first_version: int
    queued_at: datetime
    next_attempt_at: datetime
    attempts: int = 0
    last_error: str = ""
    delivered_version: int = 0
    delivered_at: datetime | None = None
    revision: int = 0

    @property
    def message_id(self) -> str:
        """The idempotency key: the delivery's id, the same at every attempt. An update has a key of its own that begins with that id."""
        return self.delivery_id if self.version == self.first_version else f"{self.delivery_id}_{self.version}"

    @property
    def is_update(self) -> bool:
        """Whether this tells the receiver more of something it was told before, or may have been."""
        return self.version != self.first_version


def delivery_id(tenant: Tenant, digest_id: str, receiver: Receiver) -> str:
    """Deterministic, so that however often a digest is looked at, there is one record for each receiver."""
    parts = json.dumps([tenant, digest_id, receiver.channel, receiver.target])
    return "dlv_" + hashlib.sha256(parts.encode()).hexdigest()[:32]


def delivery_as_json(delivery: Delivery) -> dict[str, Any]:
    """For the state store; the receiver's whole address is in it."""
    return {
        "digest_id": delivery.digest_id,
        "monitor_id": delivery.monitor_id,
        "receiver": receiver_as_json(delivery.receiver),
        "state": delivery.state,
        "version": delivery.version,
        "first_version": delivery.first_version,
        "queued_at": delivery.queued_at.isoformat(),
        "next_attempt_at": delivery.next_attempt_at.isoformat(),
        "attempts": delivery.attempts,
        "last_error": delivery.last_error,
        "delivered_version": delivery.delivered_version,
        "delivered_at": delivery.delivered_at.isoformat() if delivery.delivered_at else None,
    }


def delivery_from_json(identifier: str, revision: int, body: Mapping[str, Any]) -> Delivery:
    """The inverse of :func:`delivery_as_json`."""
    delivered_at = body["delivered_at"]
    instants = {name: datetime.fromisoformat(body[name]) for name in ("queued_at", "next_attempt_at")}
    rest = {
        "receiver": receiver_from_json(body["receiver"]),
        "delivered_at": datetime.fromisoformat(delivered_at) if delivered_at else None,
    }
    return Delivery(delivery_id=identifier, revision=revision, **{**body, **instants, **rest})
