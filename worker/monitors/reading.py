"""Monitors as callers write them: JSON in either casing, durations in the unit that suits, every problem named by its field."""

import re
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any, cast

from grounding.periods import period_in
from grounding.small_talk import is_small_talk
from runtime.errors import InvalidRequest
from search.documents import EVERYTHING, Filters
from search.filters import filters_of
from worker.deliveries.receivers import Receiver, receiver_of
from worker.monitors.condition_json import condition_from_json
from worker.monitors.monitor import CADENCE_S, COOLDOWN_S, SEVERITIES, WINDOW_S, Monitor, Severity

MAX_NAME_CHARS = 200
MAX_QUESTION_CHARS = 2000
MAX_RECEIVERS = 20
MAX_BREACHES = 100
DAY_S = 86_400
BOUNDS_S = {"window": (1, 366 * DAY_S), "cadence": (1, 7 * DAY_S), "cooldown": (0, 90 * DAY_S)}
_DEFAULTS_S = {"window": WINDOW_S, "cadence": CADENCE_S, "cooldown": COOLDOWN_S}
_UNITS = {"s": 1, "seconds": 1, "minutes": 60, "hours": 3600, "days": DAY_S}
_DURATIONS = {f"{name}_{unit}" for name in BOUNDS_S for unit in _UNITS}
_PLAIN = {
    "id",
    "monitor_id",
    "name",
    "question",
    "match",
    "filters",
    "condition",
    "consecutive_breaches",
    "severity",
    "receivers",
    "paused",
}
_IGNORED = {
    "version", "created_at", "state", "since", "breaches", "last_window_end", "observed", "threshold", "unit", "baseline", "n", "denominator",
    "caveat", "problem", "problem_at", "digest_id",
}  # fmt: skip
"""What a monitor that was read carries and nobody can set; accepted, so that it can be changed and sent back."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_TIME_FILTERS = ("since", "until", "before")


def monitor_from(given: object, now: datetime) -> Monitor:
    """The monitor a caller described. Without an id its name becomes one: ``Crash volume`` is ``crash-volume``.

    Raises:
        InvalidRequest: names the member that is wrong, missing or unknown.
    """
    members = _members(given)
    _known(members)
    name = _text(members, "name", MAX_NAME_CHARS)
    return Monitor(
        monitor_id=_identifier(members, name),
        name=name,
        question=_question(members, now),
        condition=condition_from_json(members.get("condition")),
        created_at=now,
        filters=_filters(members.get("filters")),
        match=_text(members, "match", MAX_QUESTION_CHARS) if members.get("match") is not None else None,
        window_s=_duration_s(members, "window"),
        cadence_s=_duration_s(members, "cadence"),
        consecutive_breaches=_breaches(members.get("consecutive_breaches", 1)),
        cooldown_s=_duration_s(members, "cooldown"),
        severity=_severity(members.get("severity", "warning")),
        receivers=_receivers(members.get("receivers")),
        paused=_flag(members.get("paused", False)),
    )


def named_id(given: object) -> str | None:
    """The id a caller gave, None where the name is to become one."""
    members = _members(given)
    return members.get("id") or members.get("monitor_id")


def _members(given: object) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidRequest("must be an object", field="monitor")
    return {name: value for name, value in _snaked(given).items() if value is not None}


def _snaked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {snake(str(name)): item if name == "attributes" else _snaked(item) for name, item in value.items()}
    return [_snaked(item) for item in value] if isinstance(value, list | tuple) else value


def snake(name: str) -> str:
    """``windowSeconds`` as ``window_seconds``."""
    return _CAPITAL.sub(lambda match: "_" + match.group(1).lower(), name)


def _known(members: Mapping[str, Any]) -> None:
    for name in members:
        if name not in _PLAIN | _DURATIONS | _IGNORED:
            raise InvalidRequest("is not a known member of a monitor", field=name)


def _text(members: Mapping[str, Any], name: str, limit: int) -> str:
    value = members.get(name)
    if value is None:
        raise InvalidRequest("is required", field=name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest("must be a text that is not blank", field=name)
    text = " ".join(value.encode("utf-8", "replace").decode().replace("\x00", " ").split())
    if len(text) > limit:
        raise InvalidRequest(f"has {len(text)} characters; at most {limit} are allowed", field=name)
    return text


def _question(members: Mapping[str, Any], now: datetime) -> str:
    question = _text(members, "question", MAX_QUESTION_CHARS)
    if is_small_talk(question):
        raise InvalidRequest("is not a question about documents", field="question")
    period = period_in(question, now.date())
    if period is not None and period.relative:
        raise InvalidRequest(
            f"names a time (“{period.text}”); leave it out, the window says which documents are looked at", field="question"
        )
    return question


def _identifier(members: Mapping[str, Any], name: str) -> str:
    given = members.get("id", members.get("monitor_id"))
    if given is None:
        words = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:64].strip("-")
        if not words:
            raise InvalidRequest("is required where the name has no Latin letters or digits", field="id")
        return words
    if not isinstance(given, str) or not _ID.match(given):
        raise InvalidRequest("must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit", field="id")
    return given


def _filters(given: object) -> Filters:
    if given is None:
        return EVERYTHING
    if not isinstance(given, Mapping):
        raise InvalidRequest("must be an object", field="filters")
    members = {name: value for name, value in given.items() if value is not None}
    for name in members:
        if name in _TIME_FILTERS:
            raise InvalidRequest("cannot be set: the window says which time is looked at", field=f"filters.{name}")
        if name not in _FILTERS:
            raise InvalidRequest("is not a known filter", field=f"filters.{name}")
    if isinstance(members.get("attributes"), list | tuple):
        members["attributes"] = [_pair(item) for item in members["attributes"]]
    try:
        return filters_of(**members)
    except InvalidRequest as error:
        raise InvalidRequest(error.reason, field=f"filters.{error.field}") from error


_FILTERS = ("sources", "theme_ids", "account_ids", "doc_ids", "rating_min", "rating_max", "attributes")


def _pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, Mapping) and {"key", "value"} <= set(item):
        return item["key"], item["value"]
    if isinstance(item, list | tuple) and len(item) == 2:
        return item[0], item[1]
    raise InvalidRequest("must be objects with key and value", field="attributes")


def _duration_s(members: Mapping[str, Any], name: str) -> int:
    given = [f"{name}_{unit}" for unit in _UNITS if f"{name}_{unit}" in members]
    if not given:
        return _DEFAULTS_S[name]
    if len(given) > 1:
        raise InvalidRequest(f"is given beside {given[0]}; give one of them", field=given[1])
    low, high = BOUNDS_S[name]
    value, unit_s = members[given[0]], _UNITS[given[0].removeprefix(f"{name}_")]
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not number or value * unit_s != int(value * unit_s) or not low <= value * unit_s <= high:
        raise InvalidRequest(f"must be whole seconds, from {low} to {high}", field=given[0])
    return int(value * unit_s)


def _breaches(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_BREACHES:
        raise InvalidRequest(f"must be a whole number from 1 to {MAX_BREACHES}", field="consecutive_breaches")
    return value


def _severity(value: object) -> Severity:
    text = value.lower() if isinstance(value, str) else ""
    if text not in SEVERITIES:
        raise InvalidRequest(f"must be one of {', '.join(SEVERITIES)}", field="severity")
    return cast("Severity", text)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequest("must be true or false", field="paused")
    return value


def _receivers(given: object) -> tuple[Receiver, ...]:
    """``kind`` and ``address`` are understood for ``channel`` and ``target``."""
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        raise InvalidRequest("must be a list", field="receivers")
    if len(given) > MAX_RECEIVERS:
        raise InvalidRequest(f"has {len(given)} entries; at most {MAX_RECEIVERS} are allowed", field="receivers")
    return tuple(dict.fromkeys(receiver_of(_receiver(item)) for item in given))


def _receiver(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    return {"channel": item.get("channel", item.get("kind")), "target": item.get("target", item.get("address"))}
