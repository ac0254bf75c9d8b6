"""Enough of PromQL to see which metrics and labels an expression names. Whether it is well formed, ``promtool`` decides."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from runtime.telemetry import METRICS, PROCESS_METRICS

ROOT = Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "monitoring"
BOARDS = tuple(sorted((MONITORING / "grafana").glob("*.json")))

_SELECTOR = re.compile(r"\b((?:wa|process)_[a-z0-9_]+|up|ALERTS)\b(?!\s*\()(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
_BY = re.compile(r"\bby \(([^)]*)\)")
_SUFFIX = re.compile(r"_(?:bucket|sum|count)\Z")
_WORD = re.compile(r"[\w/]+\Z")

TARGET = frozenset({"job", "instance"})
"""Labels that every series gets from what is scraped."""


@dataclass(frozen=True, slots=True)
class Selector:
    """``metric{label="value"}``; ``values`` are only those that are spelled out."""

    metric: str
    labels: frozenset[str]
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A series that exists: its labels, and what they may be where that is known."""

    labels: frozenset[str]
    values: tuple[str, ...] = ()


def known() -> dict[str, Series]:
    """Every series our processes and Prometheus make, by name."""
    found = {name: Series(TARGET) for name in (*PROCESS_METRICS, "up")}
    for spec in METRICS:
        labels = TARGET | set(spec.labels)
        if spec.kind == "histogram":
            found |= {
                f"{spec.name}_bucket": Series(labels | {"le"}),
                f"{spec.name}_sum": Series(labels),
                f"{spec.name}_count": Series(labels),
            }
        else:
            found[spec.name] = Series(labels, spec.values)
    found["ALERTS"] = Series(frozenset({"alertname", "alertstate", "severity", "component"}))
    return found


def selectors(expression: str) -> Iterator[Selector]:
    """What an expression reads; recorded series (``wa:…``) are left out."""
    for name, inside in _SELECTOR.findall(re.sub(r"\bwa:[a-z0-9_:]+", " ", expression)):
        matchers = _MATCHER.findall(inside)
        spelled = [(label, value) for label, sign, text in matchers for value in _values(sign, text)]
        yield Selector(name, frozenset(label for label, _, _ in matchers), tuple(spelled))


def grouped_by(expression: str) -> set[str]:
    """Every label an expression groups by."""
    return {label.strip() for inside in _BY.findall(expression) for label in inside.split(",")}


def family(metric: str) -> str:
    """The name in the table that a series belongs to."""
    names = {spec.name for spec in METRICS}
    return metric if metric in names else _SUFFIX.sub("", metric)


def _values(sign: str, text: str) -> list[str]:
    parts = text.split("|") if "~" in sign else [text]
    return [part for part in parts if _WORD.match(part)]


def read(path: Path) -> Any:
    """A YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def rules() -> list[dict[str, Any]]:
    """Every rule, with its group."""
    return [{**rule, "group": group["name"]} for group in read(MONITORING / "rules.yml")["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    """Every rule that alerts."""
    return [rule for rule in rules() if "alert" in rule]


def board_expressions() -> list[tuple[str, str]]:
    """Every expression of the boards with the place it stands."""
    found = []
    for path in BOARDS:
        board = json.loads(path.read_text(encoding="utf-8"))
        found += [(f"{path.name}: {panel['title']}", target["expr"]) for panel in board["panels"] for target in panel.get("targets", [])]
        found += [(f"{path.name}: {each['name']}", each["expr"]) for each in board["annotations"]["list"]]
    return found


def expressions() -> list[tuple[str, str]]:
    """Every expression of rules and boards with the place it stands."""
    return [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()] + board_expressions()
