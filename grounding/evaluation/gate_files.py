"""Gates from files, TOML or JSON: tables ``thresholds``, ``regression`` and ``cases``."""

import json
import tomllib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.metrics import BY_NAME
from runtime.errors import InvalidRequest

_TABLES = frozenset({"thresholds", "regression", "cases"})
_CASES = frozenset({"must_hold", "known", "regressed"})


def read_gate(path: Path) -> ScoreGate:
    """The gate in a file.

    Raises:
        InvalidRequest: on ``gate``: names the file and the first member that is wrong.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} cannot be read as text", field="gate") from error
    return gate_from_text(text, path.suffix.removeprefix("."), str(path))


def gate_from_text(text: str, form: str, called: str = "the gate") -> ScoreGate:
    """The gate that ``text`` holds, as ``json`` or ``toml``.

    Raises:
        InvalidRequest: on ``gate``.
    """
    try:
        body = json.loads(text) if form == "json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{called} is not {'JSON' if form == 'json' else 'TOML'}: {error}", field="gate") from None
    return gate_of(body)


def gate_of(body: Any) -> ScoreGate:
    """The gate of these tables.

    Raises:
        InvalidRequest: on ``gate``.
    """
    tables = _table(body, "the gate", _TABLES)
    cases = _table(tables.get("cases", {}), "cases", _CASES)
    return ScoreGate(
        thresholds=_bounds(tables, "thresholds"),
        regression=_bounds(tables, "regression"),
        must_hold=_names(cases, "must_hold"),
        known=_names(cases, "known"),
        regressed_cases=_count(cases.get("regressed")),
    )


def gate_as_json(gate: ScoreGate) -> dict[str, Any]:
    """The inverse of :func:`gate_of`."""
    cases: dict[str, Any] = {"must_hold": list(gate.must_hold), "known": list(gate.known), "regressed": gate.regressed_cases}
    return {
        "thresholds": dict(gate.thresholds),
        "regression": dict(gate.regression),
        "cases": {name: value for name, value in cases.items() if value not in (None, [])},
    }


def _table(body: Any, where: str, known: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise InvalidRequest(f"{where} must be a table", field="gate")
    unknown = sorted(str(name) for name in body if name not in known)
    if unknown:
        raise InvalidRequest(f"{unknown[0]} is not known in {where}; known are {', '.join(sorted(known))}", field="gate")
    return body


def _bounds(tables: Mapping[str, Any], name: str) -> dict[str, float]:
    bounds = tables.get(name, {})
    if not isinstance(bounds, Mapping):
        raise InvalidRequest(f"{name} must be a table", field="gate")
    for metric, value in bounds.items():
        if metric not in BY_NAME:
            raise InvalidRequest(f"{name}.{metric} is no metric; metrics are {', '.join(BY_NAME)}", field="gate")
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise InvalidRequest(f"{name}.{metric} must be a number of at least 0", field="gate")
    return {str(metric): float(value) for metric, value in bounds.items()}


def _names(cases: Mapping[str, Any], name: str) -> tuple[str, ...]:
    names = cases.get(name, [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise InvalidRequest(f"cases.{name} must be a list of case ids", field="gate")
    return tuple(dict.fromkeys(names))


def _count(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidRequest("cases.regressed must be a whole number of at least 0", field="gate")
    return value
