"""Who did what: one line for every write, use of a key and tool call. Ids, never text."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from api.identity.principal import Principal
from runtime.telemetry import audit_logger

MAX_IDS = 100
MAX_ID_CHARS = 200

_OPAQUE = frozenset({"attributes"})
"""Members whose names are the caller's own."""


def told(action: str, principal: Principal, *, outcome: str, given: Mapping[str, Any] | None = None, **more: str) -> None:
    """Write one line: ``action`` is ``write``, ``tool_call`` or ``key_used``; ids are taken from what was ``given``."""
    ids = list(ids_of(given or {}))
    members: dict[str, Any] = {"tenant": principal.tenant, "subject": principal.subject, **more, "outcome": outcome}
    members |= {"key_id": principal.key_id} if principal.key_id else {}
    members |= {"ids": ids[:MAX_IDS]} if ids else {}
    members |= {"ids_left_out": len(ids) - MAX_IDS} if len(ids) > MAX_IDS else {}
    audit_logger().info(action, **members)


@contextmanager
def writing(principal: Principal, operation: str, given: Mapping[str, Any]) -> Iterator[None]:
    """Tell of a write when it has ended, well or not."""
    outcome = "ok"
    try:
        yield
    except BaseException as error:
        outcome = type(error).__name__
        raise
    finally:
        told("write", principal, operation=operation, given=given, outcome=outcome)


def ids_of(given: Any, name: str = "") -> Iterator[str]:
    """Every text under a member whose name ends in ``id`` or ``ids``, in either casing."""
    if isinstance(given, Mapping):
        for key, value in given.items():
            if key not in _OPAQUE:
                yield from ids_of(value, str(key))
    elif isinstance(given, list | tuple):
        for item in given:
            yield from ids_of(item, name)
    elif isinstance(given, str) and name.endswith(("_id", "_ids", "Id", "Ids")):
        yield given[:MAX_ID_CHARS]
