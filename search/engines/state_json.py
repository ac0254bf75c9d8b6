"""What a state store keeps, as JSON text of bounded length."""

import json
from collections.abc import Mapping
from typing import Any

from runtime.errors import InvalidRequest
from runtime.events import Event, event_as_json
from runtime.tenancy import Tenant

MAX_BODY_BYTES = 1_000_000


def as_json(value: Mapping[str, Any], field: str) -> str:
    """Compact ASCII.

    Raises:
        InvalidRequest: on ``field``, for what has no JSON form or a longer one.
    """
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"cannot be kept as JSON: {error}", field=field) from error
    if len(text) > MAX_BODY_BYTES:
        raise InvalidRequest(f"is longer than {MAX_BODY_BYTES} bytes as JSON", field=field)
    return text


def event_json(tenant: Tenant, event: Event) -> str:
    """An event that is kept with an entry of ``tenant``.

    Raises:
        InvalidRequest: on ``event``, for one of another tenant, or too long.
    """
    if event.tenant != tenant:
        raise InvalidRequest("is of another tenant than the entry it is kept with", field="event")
    return as_json(event_as_json(event), "event")
