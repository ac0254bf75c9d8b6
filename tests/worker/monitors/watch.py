"""An evaluator over a store, which sees what a test lays out, window by window."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from grounding.answers import Grounding, Outcome, Refusal, RefusalReason, Trace
from runtime.clock import SettableClock
from runtime.errors import Unavailable
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.ports import Engine, StateStore
from worker.monitors.conditions import Count
from worker.monitors.digest import Digest
from worker.monitors.digests import Digests
from worker.monitors.duty import MonitorDuty
from worker.monitors.evaluating import Evaluation, Evaluator
from worker.monitors.monitor import Monitor
from worker.monitors.observing import NoObservation, Observation, Seen, fingerprint
from worker.monitors.reading import monitor_from
from worker.monitors.store import Monitors
from worker.monitors.window import Window

START = datetime(2026, 11, 20, 8, tzinfo=UTC)
QUESTION = "What do reviewers say about crashes?"


def at(hours: float) -> datetime:
    """That many hours after the start."""
    return START + timedelta(hours=hours)


def given(**members: Any) -> dict[str, Any]:
    """A monitor as a caller writes it: an hour long, every hour."""
    return {
        "name": "Crash volume",
        "question": QUESTION,
        "condition": {"count_at_least": 10},
        "window_hours": 1,
        "cadence_hours": 1,
        **members,
    }


@dataclass
class LaidOut:
    """An observer that sees, at the end of each window, the number of documents laid out for it; None is nothing that can be seen."""

    counts: dict[datetime, int | None] = field(default_factory=dict)

    def observe(self, _tenant: Tenant, monitor: Monitor, window: Window) -> Seen:
        """See :class:`worker.monitors.observing.Observer`."""
        count = self.counts.get(window.end, 0)
        if count is None:
            return NoObservation("the search was degraded")
        assert isinstance(monitor.condition, Count)
        assert monitor.condition.at_least is not None
        breached = count >= monitor.condition.at_least
        ids = tuple(f"{window.end:%d%H%M}-{number}" for number in range(count)) if breached else ()
        return Observation(
            breached=breached,
            observed=float(count),
            threshold=float(monitor.condition.at_least),
            unit="documents",
            n=count,
            denominator=100,
            because=f"{count} of 100 documents.",
            doc_ids=ids,
            fingerprint=fingerprint(monitor, ids, count, window.end) if breached else "",
        )

    def describe(self, _tenant: Tenant, _monitor: Monitor) -> str:
        """See :class:`worker.monitors.observing.Observer`."""
        return "documents"


@dataclass
class Refusing:
    """In place of the answerer: refuses, and counts how often it was asked. ``down`` makes it unavailable."""

    asked: int = 0
    down: bool = False

    def ask(self, _tenant: Tenant, monitor: Monitor, window: Window) -> Outcome:
        """See :class:`worker.monitors.observing.Asking`."""
        self.asked += 1
        if self.down:
            raise Unavailable("the embedder does not answer", dependency="embedder")
        refusal = Refusal(RefusalReason.NOT_ANSWERED, "nobody says so", "answerability")
        grounding = Grounding(0.0, 0.0, 0.0, accepted=False, failure_reason=None)
        trace = Trace(f"run-{self.asked}", monitor.question, {}, (), {}, window.end, "NOT_ANSWERED")
        return Outcome(trace.run_id, monitor.question, None, refusal, grounding, (), trace, {}, 0.0)


@dataclass
class Watch:
    """Everything around one store."""

    engine: Engine
    state: StateStore
    tenant: Tenant
    clock: SettableClock = field(default_factory=lambda: SettableClock(START))
    observer: LaidOut = field(default_factory=LaidOut)
    asking: Refusing = field(default_factory=Refusing)
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def monitors(self) -> Monitors:
        return Monitors(self.state, self.clock)

    @property
    def digests(self) -> Digests:
        return Digests(self.state, self.clock, self.engine)

    @property
    def evaluator(self) -> Evaluator:
        return Evaluator(self.engine, self.monitors, self.digests, self.observer, self.asking, self.clock, self.metrics)

    @property
    def duty(self) -> MonitorDuty:
        return MonitorDuty(self.state, self.engine, self.monitors, self.evaluator, self.metrics)

    def save(self, **members: Any) -> Monitor:
        """A new monitor."""
        return self.monitors.save(self.tenant, monitor_from(given(**members), self.clock.now()))

    def lay_out(self, counts: Mapping[datetime, int | None]) -> None:
        """What there is to be seen."""
        self.observer.counts.update(counts)

    def tick(self, monitor: Monitor, moment: datetime) -> Evaluation:
        """The clock moves there, and the newest window is evaluated."""
        self.clock.instant = moment
        return self.evaluator.evaluate_latest(self.tenant, monitor.monitor_id)

    def published(self) -> tuple[Digest, ...]:
        """All digests of the tenant, oldest first."""
        return self.digests.since(self.tenant, None, 1000)

    def told(self, kind: str) -> list[Mapping[str, Any]]:
        """Bodies of the events of a kind that are in the outbox."""
        return [event.body for event in self.state.outbox(first=1000) if event.tenant == self.tenant and event.type == kind]
