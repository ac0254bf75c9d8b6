"""What has been counted of a tenant, as people read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grounding.traces import KIND as TRACE
from runtime.clock import Clock
from runtime.tenancy import Tenant
from search.engines.limits import within
from search.engines.write_intents import OPEN_FOR, WriteIntents
from search.ports import Engine, StateStore
from worker.events.counting import Projections
from worker.events.projection import UNANSWERED_KEPT, Projection
from worker.events.relay import COUNTED_AT_MOST, Relay

_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Count:
    """How many of what; the key is a day, a theme, a source, a reason, or the id of a monitor."""

    key: str
    count: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was not answered, and why. Its words are read from the trace of the run, and are None where that is gone."""

    run_id: str
    text: str | None
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Score:
    """A finished evaluation; ``passed`` is None where there was no gate."""

    report_id: str
    cases: int
    exact: int
    passed: bool | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Insights:
    """Everything that is counted of a tenant. ``waiting`` events are kept and not counted yet, ``failed`` ones could not be counted.

    Days, themes, sources and monitors are None when there are too many of them to be counted by name; means are None of nothing.
    """

    documents: int
    days: tuple[Count, ...] | None
    themes: tuple[Count, ...] | None
    sources: tuple[Count, ...] | None
    answered: int
    refused: int
    refusals: tuple[Count, ...]
    refusal_rate: float | None
    groundedness: float | None
    citation_precision: float | None
    unanswered: tuple[Question, ...]
    digests: tuple[Count, ...] | None
    scores: tuple[Score, ...]
    events: int
    waiting: int
    failed: int


@dataclass(frozen=True, slots=True)
class InsightsReader:
    """Reads insights. Where no worker need be running (``brings_up_to_date``), it first relays and counts what waits for this tenant."""

    state: StateStore
    engine: Engine
    clock: Clock
    relay: Relay
    projections: Projections
    brings_up_to_date: bool

    def read(self, tenant: Tenant, *, rebuild: bool = False, questions: int = 20) -> Insights:
        """The counts, with the newest so many unanswered questions; with ``rebuild``, counted again from the first event on."""
        within(questions, 0, UNANSWERED_KEPT, "questions")
        if self.brings_up_to_date:
            self._bring_up_to_date(tenant)
        projection = self.projections.rebuild(tenant) if rebuild else self.projections.catch_up(tenant)
        unanswered = tuple(self._question(tenant, each) for each in projection.unanswered[:questions])
        return _insights(projection, unanswered, self._waiting(tenant))

    def _question(self, tenant: Tenant, each: Mapping[str, Any]) -> Question:
        trace = self.state.get(tenant, TRACE, each["run_id"])
        text = None if trace is None else str(trace.body["question"])
        return Question(each["run_id"], text, each["reason"], datetime.fromisoformat(each["at"]))

    def _bring_up_to_date(self, tenant: Tenant) -> None:
        intents = WriteIntents(self.state, self.clock)
        for entry in intents.stale_of(tenant):
            intents.recover(tenant, entry, self.engine, self.relay.log.told_since(tenant, entry.created_at - OPEN_FOR))
        for _ in range(_ROUNDS):
            waiting = self.state.outbox(first=COUNTED_AT_MOST)
            if len(waiting) < COUNTED_AT_MOST and not any(event.tenant == tenant for event in waiting):
                return
            self.relay.relay()

    def _waiting(self, tenant: Tenant) -> int:
        return sum(event.tenant == tenant for event in self.state.outbox(first=COUNTED_AT_MOST))


def _insights(projection: Projection, unanswered: tuple[Question, ...], waiting: int) -> Insights:
    refused = sum(projection.refused.values())
    asked = projection.answered + refused
    drafted = projection.drafted
    return Insights(
        documents=projection.documents,
        days=None if projection.days is None else tuple(Count(day, count) for day, count in sorted(projection.days.items())),
        themes=_largest(projection.themes),
        sources=_largest(projection.sources),
        answered=projection.answered,
        refused=refused,
        refusals=_largest(projection.refused) or (),
        refusal_rate=refused / asked if asked else None,
        groundedness=projection.groundedness / drafted if drafted else None,
        citation_precision=projection.citation_precision / drafted if drafted else None,
        unanswered=unanswered,
        digests=_largest(projection.digests),
        scores=tuple(
            Score(each["report_id"], each["cases"], each["exact"], each["passed"], datetime.fromisoformat(each["at"]))
            for each in projection.scores
        ),
        events=projection.events,
        waiting=waiting,
        failed=projection.failed,
    )


def _largest(counts: dict[str, int] | None) -> tuple[Count, ...] | None:
    if counts is None:
        return None
    return tuple(Count(key, count) for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
