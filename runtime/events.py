"""Events: what happened, told once to whoever listens. They carry ids and numbers, never the text of a document or a question."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant, tenant_named

EventType = Literal[
    "documents.indexed",
    "documents.deleted",
    "answer.given",
    "answer.refused",
    "monitor.transitioned",
    "digest.published",
    "eval.finished",
]
EVENT_TYPES: tuple[str, ...] = get_args(EventType)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one tenant. ``subject`` is the id of what it happened to (batch, run, monitor, digest, report)."""

    event_id: str
    type: EventType
    tenant: Tenant
    at: datetime
    subject: str
    body: Mapping[str, Any] = field(default_factory=dict)


def event_id(kind: EventType, tenant: Tenant, *parts: str) -> str:
    """The same id for the same happening, so that telling it twice can be noticed: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps([kind, tenant, *parts]).encode()).hexdigest()[:32]


def event_as_json(event: Event) -> dict[str, Any]:
    """The event as plain JSON values."""
    return {
        "event_id": event.event_id,
        "type": event.type,
        "tenant": event.tenant,
        "at": event.at.isoformat(),
        "subject": event.subject,
        "body": dict(event.body),
    }


def event_from_json(value: Mapping[str, Any]) -> Event:
    """What :func:`event_as_json` made.

    Raises:
        ValueError: it is something else.
    """
    try:
        at = datetime.fromisoformat(value["at"])
        event = Event(str(value["event_id"]), value["type"], tenant_named(value["tenant"]), at, str(value["subject"]), dict(value["body"]))
    except (KeyError, TypeError, ValueError, AttributeError, InvalidRequest) as error:
        raise ValueError(f"not an event: {error}") from error
    if event.type not in EVENT_TYPES or at.tzinfo is None:
        raise ValueError(f"not an event: its type is {event.type!r} and it happened at {at}")
    return event
