"""What is counted of a tenant from its events: a pure fold, so that counting again from the beginning gives the same."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.events import Event

UNANSWERED_KEPT = 100
SCORES_KEPT = 20
MOST_CHARS = 200_000
"""Days, themes, sources or monitors that take more room than this are not counted by name any more: one entry of the state store holds them all."""
_FEW = 300


@dataclass(slots=True)
class Projection:
    """Counts after the events of all pages up to ``page``. What became too many to be counted by name is None from then on."""

    page: int = 0
    events: int = 0
    failed: int = 0
    documents: int = 0
    days: Counter[str] | None = field(default_factory=Counter)
    themes: Counter[str] | None = field(default_factory=Counter)
    sources: Counter[str] | None = field(default_factory=Counter)
    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    drafted: int = 0
    groundedness: float = 0.0
    citation_precision: float = 0.0
    claims: int = 0
    unanswered: list[dict[str, Any]] = field(default_factory=list)
    digests: Counter[str] | None = field(default_factory=Counter)
    transitions: Counter[str] = field(default_factory=Counter)
    scores: list[dict[str, Any]] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        """Count one event, wholly or not at all.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the event is not what its type promises; nothing was counted.
        """
        _EFFECTS[event.type](event)(self)
        self.events += 1

    def end_page(self, number: int) -> None:
        """All events of this page were applied."""
        self.page = number
        for name in _BY_NAME:
            counts = getattr(self, name)
            if counts is not None and len(counts) > _FEW and len(json.dumps(counts)) > MOST_CHARS:
                setattr(self, name, None)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: _plain(getattr(self, name)) for name in _FIELDS}


def projection_from_json(value: Mapping[str, Any]) -> Projection:
    """What :meth:`Projection.as_json` made."""
    projection = Projection()
    for name in _FIELDS:
        kept = value[name]
        setattr(projection, name, Counter(kept) if name in _COUNTERS and kept is not None else kept)
    return projection


def starting_from(baseline: Mapping[str, Any] | None) -> Projection:
    """A projection of no event yet, over the documents that were there before the first one."""
    projection = Projection()
    if baseline is not None:
        projection.documents = baseline["documents"]
        projection.days = Counter(baseline["days"])
        projection.themes = Counter(baseline["themes"])
        projection.sources = Counter(baseline["sources"])
        projection.end_page(0)
    return projection


Effect = Callable[[Projection], None]
"""Made from a whole event before anything is counted; having it raises nothing."""


def _documents(event: Event, sign: int) -> Effect:
    changes = [(_facts(each), _facts(each["before"]) if "before" in each else None) for each in event.body["documents"]]

    def have(projection: Projection) -> None:
        for facts, before in changes:
            _add(projection, facts, sign)
            if before is not None:
                _add(projection, before, -sign)

    return have


def _facts(each: Mapping[str, Any]) -> tuple[str, str | None, str]:
    facts = (each["day"], each.get("theme"), each["source"])
    if not isinstance(facts[0], str) or not isinstance(facts[2], str) or not isinstance(facts[1], str | None):
        raise TypeError("day, theme and source are texts")
    return facts


def _add(projection: Projection, facts: tuple[str, str | None, str], amount: int) -> None:
    day, theme, source = facts
    projection.documents += amount
    _bump(projection.days, day, amount)
    _bump(projection.sources, source, amount)
    if theme is not None:
        _bump(projection.themes, theme, amount)


def _bump(counts: Counter[str] | None, key: str, amount: int) -> None:
    if counts is None:
        return
    counts[key] += amount
    if not counts[key]:
        del counts[key]


def _run(event: Event) -> Effect:
    body, given = event.body, event.type == "answer.given"
    reason, run_id, at = str(body["reason"]), str(body["run_id"]), event.at.isoformat()
    drafted = bool(body["drafted"])
    numbers = (float(body["groundedness"]), float(body["citation_precision"]), int(body["claims"]))

    def have(projection: Projection) -> None:
        if given:
            projection.answered += 1
        else:
            projection.refused[reason] += 1
            projection.unanswered.append({"run_id": run_id, "reason": reason, "at": at})
            projection.unanswered = _newest(projection.unanswered, UNANSWERED_KEPT)
        if drafted:
            projection.drafted += 1
            projection.groundedness += numbers[0]
            projection.citation_precision += numbers[1]
        projection.claims += numbers[2]

    return have


def _digest(event: Event) -> Effect:
    monitor = str(event.body["monitor_id"])

    def have(projection: Projection) -> None:
        _bump(projection.digests, monitor, 1)

    return have


def _transition(event: Event) -> Effect:
    after = str(event.body["after"])

    def have(projection: Projection) -> None:
        projection.transitions[after] += 1

    return have


def _finished(event: Event) -> Effect:
    body = event.body
    cases, exact, passed = int(body["cases"]), int(body["exact"]), body["passed"]
    score = {"report_id": event.subject, "cases": cases, "exact": exact, "passed": passed, "at": event.at.isoformat()}

    def have(projection: Projection) -> None:
        projection.scores.append(score)
        projection.scores = _newest(projection.scores, SCORES_KEPT)

    return have


def _newest(items: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (item["at"], *map(str, item.values())), reverse=True)[:most]


_EFFECTS: Mapping[str, Callable[[Event], Effect]] = {
    "documents.indexed": lambda event: _documents(event, 1),
    "documents.deleted": lambda event: _documents(event, -1),
    "answer.given": _run,
    "answer.refused": _run,
    "monitor.transitioned": _transition,
    "digest.published": _digest,
    "eval.finished": _finished,
}
_FIELDS = tuple(Projection.__dataclass_fields__)
_BY_NAME = ("days", "themes", "sources", "digests")
_COUNTERS = ("days", "themes", "sources", "refused", "digests", "transitions")


def _plain(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, Counter) else value
