"""A monitor: a saved question with a condition, when it is looked at, and who is told."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from search.documents import EVERYTHING, Filters
from search.listing import filters_as_json, filters_from_json
from worker.deliveries.receivers import Receiver, receiver_as_json, receiver_from_json
from worker.monitors.condition_json import condition_as_json, condition_from_json
from worker.monitors.conditions import Condition

Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[str, ...] = get_args(Severity)

WINDOW_S = 86_400
CADENCE_S = 600
COOLDOWN_S = 21_600


@dataclass(frozen=True, slots=True)
class Monitor:
    """What is watched. ``match`` holds the words to count by; None leaves it to the question what matches, as in a question that counts.

    Every ``cadence_s`` the documents of the last ``window_s`` are looked at; ``consecutive_breaches`` looks in a row that breach the condition make it
    fire, and no digest follows another within ``cooldown_s``. ``version`` is 0 until it is saved.
    """

    monitor_id: str
    name: str
    question: str
    condition: Condition
    created_at: datetime
    filters: Filters = EVERYTHING
    match: str | None = None
    window_s: int = WINDOW_S
    cadence_s: int = CADENCE_S
    consecutive_breaches: int = 1
    cooldown_s: int = COOLDOWN_S
    severity: Severity = "warning"
    receivers: tuple[Receiver, ...] = ()
    paused: bool = False
    version: int = 0

    @property
    def revision(self) -> str:
        """Names what is asked: another question, filter, condition or window is another revision, which begins in ``ok``."""
        asked = [
            self.monitor_id,
            self.question,
            self.match,
            filters_as_json(self.filters),
            condition_as_json(self.condition),
            self.window_s,
        ]
        return hashlib.sha256(json.dumps([*asked, self.created_at.isoformat()], sort_keys=True).encode()).hexdigest()[:16]


def monitor_as_json(monitor: Monitor) -> dict[str, Any]:
    """For the state store: the whole addresses of receivers are in it."""
    return {
        "name": monitor.name,
        "question": monitor.question,
        "match": monitor.match,
        "filters": filters_as_json(monitor.filters),
        "condition": condition_as_json(monitor.condition),
        "window_s": monitor.window_s,
        "cadence_s": monitor.cadence_s,
        "consecutive_breaches": monitor.consecutive_breaches,
        "cooldown_s": monitor.cooldown_s,
        "severity": monitor.severity,
        "receivers": [receiver_as_json(receiver) for receiver in monitor.receivers],
        "paused": monitor.paused,
        "created_at": monitor.created_at.isoformat(),
        "revision": monitor.revision,
    }


def monitor_from_json(monitor_id: str, version: int, body: Any) -> Monitor:
    """The inverse of :func:`monitor_as_json`."""
    rest = {
        "filters": filters_from_json(body["filters"]),
        "condition": condition_from_json(body["condition"]),
        "receivers": tuple(receiver_from_json(receiver) for receiver in body["receivers"]),
        "created_at": datetime.fromisoformat(body["created_at"]),
    }
    plain = {name: value for name, value in body.items() if name != "revision"}
    return Monitor(monitor_id=monitor_id, version=version, **{**plain, **rest})
