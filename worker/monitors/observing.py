"""What a monitor sees in one window: exact numbers over every document of it, or no observation at all."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from grounding.answering import Answerer
from grounding.answers import Outcome, Proof, RefusalReason
from grounding.budget import Budget
from grounding.topics import Topic, Topics
from grounding.trace_json import proof_as_json, proof_from_json
from runtime.errors import BudgetExceeded, Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from search.filters import narrowed
from search.listing import listing_of
from search.ports import Engine
from worker.monitors.condition_json import condition_as_json
from worker.monitors.conditions import Answered, Baseline, Change, Count, Judgement, Share, answer_judged, judged
from worker.monitors.monitor import Monitor
from worker.monitors.sentences import because
from worker.monitors.window import Window

FINGERPRINTED = 1000
"""Newest documents whose ids tell one digest from another."""

REMEMBERED_TOPICS = 256
SHOWN_IDS = 100
"""Ids kept in a digest; the proof's cursor lists all of them."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen: ``observed`` compared with ``threshold``; ``n`` matching documents of ``denominator`` in the window. ``doc_ids`` are the newest
    that match, only of a breach; ``proofs`` are the aggregations behind the numbers, the window's first, then the baseline's."""

    breached: bool
    observed: float
    threshold: float
    unit: str
    n: int
    denominator: int
    because: str
    baseline: float | None = None
    caveat: str = ""
    doc_ids: tuple[str, ...] = ()
    fingerprint: str = ""
    proofs: tuple[Proof, ...] = ()


@dataclass(frozen=True, slots=True)
class NoObservation:
    """Nothing could be seen, which is never the same as nothing being there."""

    problem: str


Seen = Observation | NoObservation


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks a monitor's question over the documents of a window, as anybody would ask it."""

    answerer: Answerer
    budget: Budget

    def ask(self, tenant: Tenant, monitor: Monitor, window: Window) -> Outcome:
        """An answer or a refusal, with its trace.

        Raises:
            Unavailable: a dependency is down.
        """
        filters = narrowed(monitor.filters, window.start, window.end)
        return self.answerer.ask(tenant, monitor.question, filters=filters, budget=self.budget)


class Observer(Protocol):
    """Looks at one window of a monitor."""

    def observe(self, tenant: Tenant, monitor: Monitor, window: Window) -> Seen:
        """The observation. What is unavailable, degraded or out of budget is :class:`NoObservation`.

        Raises:
            InvalidRequest: the monitor's question cannot be counted (any more).
        """
        ...

    def describe(self, tenant: Tenant, monitor: Monitor) -> str:
        """Which documents it counts, in words: *documents that contain “crash”*.

        Raises:
            InvalidRequest: its question cannot be counted.
        """
        ...


class CorpusObserver:
    """Observes the documents of the engine."""

    def __init__(self, engine: Engine, topics: Topics, asking: Asking) -> None:
        self._engine = engine
        self._topics = topics
        self._asking = asking
        self._remembered = lru_cache(REMEMBERED_TOPICS)(self._found)

    def observe(self, tenant: Tenant, monitor: Monitor, window: Window) -> Seen:
        """See :class:`Observer`."""
        try:
            topic = self._topic(tenant, monitor)
            counted = self._topics.count(tenant, topic, window.start, window.end)
            if isinstance(monitor.condition, Answered):
                return self._answered(tenant, monitor, monitor.condition, window, topic, counted)
            return self._counted(tenant, monitor, monitor.condition, window, topic, counted)
        except (Unavailable, BudgetExceeded) as error:
            return NoObservation(str(error))

    def describe(self, tenant: Tenant, monitor: Monitor) -> str:
        """See :class:`Observer`."""
        return self._topic(tenant, monitor).described()

    def _topic(self, tenant: Tenant, monitor: Monitor) -> Topic:
        """The topic of the question, found again only when documents have changed."""
        return self._remembered(tenant, monitor.question, monitor.filters, monitor.match, self._engine.generation(tenant))

    def _found(self, tenant: Tenant, question: str, filters: Filters, match: str | None, _generation: int) -> Topic:
        return self._topics.of(tenant, question, filters, match)

    def _counted(
        self, tenant: Tenant, monitor: Monitor, condition: Count | Share | Change, window: Window, topic: Topic, counted: Proof
    ) -> Observation:
        baseline = self._baseline(tenant, condition, window, topic) if isinstance(condition, Change) else None
        proofs = (counted,) if baseline is None else (counted, baseline.proof)
        return self._told(tenant, monitor, window, topic, judged(condition, counted, baseline), proofs)

    def _baseline(self, tenant: Tenant, condition: Change, window: Window, topic: Topic) -> Baseline | None:
        """The windows before, as many as there are documents for: time from before the first document would make everything look like a rise."""
        first = self._engine.corpus(tenant).first_occurred_at
        whole = int((window.start - first) / window.length) if first is not None and first < window.start else 0
        windows = min(condition.baseline_windows, whole)
        if not windows:
            return None
        before = window.before(windows)
        return Baseline(self._topics.count(tenant, topic, before.start, before.end), windows)

    def _answered(self, tenant: Tenant, monitor: Monitor, condition: Answered, window: Window, topic: Topic, counted: Proof) -> Seen:
        outcome = self._asking.ask(tenant, monitor, window)
        lost = {part: effect for part, effect in outcome.degraded.items() if part != "trace"}
        if lost or (outcome.refusal is not None and outcome.refusal.reason is RefusalReason.BUDGET_EXCEEDED):
            return NoObservation("; ".join(lost.values()) or str(outcome.refusal and outcome.refusal.message))
        return self._told(tenant, monitor, window, topic, answer_judged(condition, outcome), (counted,))

    def _told(
        self, tenant: Tenant, monitor: Monitor, window: Window, topic: Topic, judgement: Judgement, proofs: tuple[Proof, ...]
    ) -> Observation:
        counted = proofs[0]
        ids = self._matching(tenant, counted) if judgement.breached else ()
        return Observation(
            breached=judgement.breached,
            observed=judgement.observed,
            threshold=judgement.threshold,
            unit=judgement.unit,
            n=counted.value,
            denominator=counted.denominator,
            because=because(monitor.condition, judgement, topic, proofs, window),
            baseline=judgement.baseline,
            caveat=judgement.caveat,
            doc_ids=ids[:SHOWN_IDS],
            fingerprint=fingerprint(monitor, ids, counted.value, window.end) if judgement.breached else "",
            proofs=proofs,
        )

    def _matching(self, tenant: Tenant, counted: Proof) -> tuple[str, ...]:
        assert counted.cursor is not None
        listing = listing_of(counted.cursor)
        page = self._engine.documents(tenant, listing.filters, match=listing.match, first=FINGERPRINTED)
        return tuple(document.doc_id for document in page.documents)


def fingerprint(monitor: Monitor, doc_ids: tuple[str, ...], total: int, window_end: datetime) -> str:
    """Names monitor, condition and documents. Where there are no documents the window stands for them, so that silence is told of again."""
    told: list[object] = [sorted(doc_ids), total] if doc_ids else [window_end.isoformat()]
    parts = [monitor.monitor_id, condition_as_json(monitor.condition), *told]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def observation_as_json(seen: Observation) -> dict[str, Any]:
    """For the state store."""
    body = {name: getattr(seen, name) for name in _PLAIN}
    return {**body, "doc_ids": list(seen.doc_ids), "proofs": [proof_as_json(proof) for proof in seen.proofs]}


def observation_from_json(body: Mapping[str, Any]) -> Observation:
    """The inverse of :func:`observation_as_json`."""
    plain = {name: body[name] for name in _PLAIN}
    return Observation(**plain, doc_ids=tuple(body["doc_ids"]), proofs=tuple(proof_from_json(proof) for proof in body["proofs"]))


_PLAIN = ("breached", "observed", "threshold", "unit", "n", "denominator", "because", "baseline", "caveat", "fingerprint")
