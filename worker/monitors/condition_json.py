"""Conditions as JSON: named by their first member, as in ``{"count_at_least": 10}``."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from runtime.errors import InvalidRequest
from worker.monitors.conditions import Answered, Change, Condition, Count, Share

MAX_DOCUMENTS = 1_000_000
MAX_BASELINE_WINDOWS = 60
NAMES = ("count_at_least", "count_at_most", "share_at_least", "share_at_most", "change_at_least", "groundedness_below", "refused")

_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "share_at_least": ("min_documents",),
    "share_at_most": ("min_documents",),
    "change_at_least": ("direction", "of", "baseline_windows", "min_documents"),
}


def condition_as_json(condition: Condition) -> dict[str, Any]:
    """The condition with every member that it has, in snake_case."""
    if isinstance(condition, Count):
        return _bound("count", condition.at_least, condition.at_most)
    if isinstance(condition, Share):
        return _bound("share", condition.at_least, condition.at_most) | {"min_documents": condition.min_documents}
    if isinstance(condition, Change):
        return {
            "change_at_least": condition.by,
            "direction": condition.direction,
            "of": condition.of,
            "baseline_windows": condition.baseline_windows,
            "min_documents": condition.min_documents,
        }
    return {"refused": True} if condition.refused else {"groundedness_below": condition.groundedness_below}


def condition_from_json(given: object) -> Condition:
    """The condition of a caller's object in snake_case; also the inverse of :func:`condition_as_json`.

    Raises:
        InvalidRequest: on ``condition`` or one of its members.
    """
    if not isinstance(given, Mapping):
        raise InvalidRequest(f"must be an object with one of {', '.join(NAMES)}", field="condition")
    members = {str(name): value for name, value in given.items() if value is not None}
    named = [name for name in NAMES if name in members]
    if len(named) != 1:
        raise InvalidRequest(f"must have exactly one of {', '.join(NAMES)}", field="condition")
    for name in members:
        if name not in (named[0], *_ALLOWED.get(named[0], ())):
            raise InvalidRequest(f"is not known beside {named[0]}", field=f"condition.{name}")
    return _READERS[named[0]](members)


def _bound(what: str, at_least: float | None, at_most: float | None) -> dict[str, Any]:
    return {f"{what}_at_least": at_least} if at_least is not None else {f"{what}_at_most": at_most}


def _share(members: Mapping[str, Any]) -> Share:
    least = _whole(members, "min_documents", 1, MAX_DOCUMENTS, default=20)
    if "share_at_least" in members:
        return Share(at_least=_ratio(members, "share_at_least"), min_documents=least)
    return Share(at_most=_ratio(members, "share_at_most"), min_documents=least)


def _change(members: Mapping[str, Any]) -> Change:
    direction = _one_of(members, "direction", ("up", "down"))
    by = _number(members, "change_at_least", 0.01, 1.0 if direction == "down" else 1000.0)
    return Change(
        by=by,
        direction="down" if direction == "down" else "up",
        of="share" if _one_of(members, "of", ("count", "share")) == "share" else "count",
        baseline_windows=_whole(members, "baseline_windows", 1, MAX_BASELINE_WINDOWS, default=1),
        min_documents=_whole(members, "min_documents", 1, MAX_DOCUMENTS, default=20),
    )


def _refused(members: Mapping[str, Any]) -> Answered:
    if members["refused"] is not True:
        raise InvalidRequest("must be true", field="condition.refused")
    return Answered(refused=True)


def _ratio(members: Mapping[str, Any], name: str) -> float:
    return _number(members, name, 0.0, 1.0)


def _number(members: Mapping[str, Any], name: str, low: float, high: float) -> float:
    value = members[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not low <= value <= high:
        raise InvalidRequest(f"must be a number from {low:g} to {high:g}", field=f"condition.{name}")
    return float(value)


def _whole(members: Mapping[str, Any], name: str, low: int, high: int, default: int | None = None) -> int:
    value = members.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidRequest(f"must be a whole number from {low} to {high}", field=f"condition.{name}")
    return value


def _one_of(members: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = members.get(name, allowed[0])
    text = value.lower() if isinstance(value, str) else ""
    if text not in allowed:
        raise InvalidRequest(f"must be {' or '.join(allowed)}", field=f"condition.{name}")
    return text


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Condition]] = {
    "count_at_least": lambda members: Count(at_least=_whole(members, "count_at_least", 1, MAX_DOCUMENTS)),
    "count_at_most": lambda members: Count(at_most=_whole(members, "count_at_most", 0, MAX_DOCUMENTS)),
    "share_at_least": _share,
    "share_at_most": _share,
    "change_at_least": _change,
    "groundedness_below": lambda members: Answered(groundedness_below=_ratio(members, "groundedness_below")),
    "refused": _refused,
}
