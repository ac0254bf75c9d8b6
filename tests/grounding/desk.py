"""A whole answerer over a new embedded store, with the built-in embedder and a clock that stands still."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grounding.answering import Answerer
from grounding.answers import Outcome
from grounding.ports import Drafter
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import Tenant, tenant_named
from search.ingest.rows import rows_of
from search.ports import Engine, StateStore
from worker.opening import Service, open_service

ACME: Tenant = tenant_named("acme")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def record(doc_id: str, text: str, day: str = "2026-11-12", **fields: Any) -> dict[str, Any]:
    """A row of input."""
    return {"doc_id": doc_id, "text": text, "source": "support_ticket", "occurred_at": f"{day}T09:30:00Z", **fields}


@dataclass(frozen=True, slots=True)
class Desk:
    """A service with short ways to fill and to ask it."""

    service: Service
    clock: SettableClock

    def load(self, rows: Sequence[Mapping[str, Any]], tenant: Tenant = ACME) -> None:
        """Store documents; all of them must be taken."""
        report = self.service.ingester.ingest(tenant, rows_of(rows))
        assert report.indexed == len(rows), report

    def ask(self, question: str, tenant: Tenant = ACME, **options: Any) -> Outcome:
        """One run."""
        return self.service.answerer.ask(tenant, question, **options)

    def answerer(
        self, *, drafter: Drafter | None = None, engine: Engine | None = None, state: StateStore | None = None, **settings: Any
    ) -> Answerer:
        """An answerer over the same store, with parts or settings of its own."""
        from grounding.drafting import ExtractiveDrafter
        from grounding.vector_memory import RememberedVectors
        from grounding.verification import FeatureVerifier
        from search.retrieval import Retriever

        chosen, service = read_settings({}, **settings), self.service
        store = engine or service.engine
        return Answerer(
            store,
            state or service.state,
            Retriever(store, service.embedder, chosen, self.clock),
            drafter or ExtractiveDrafter(service.embedder, chosen),
            FeatureVerifier(service.embedder, min_support=chosen.min_support),
            RememberedVectors(service.embedder),
            self.clock,
            chosen,
        )


@contextmanager
def open_desk(folder: Path, **settings: Any) -> Iterator[Desk]:
    """A desk over a new store in ``folder``."""
    clock = SettableClock(NOW)
    chosen = read_settings({}, **{"engine_url": f"sqlite:///{folder / 'store.db'}", "embedder_threads": 1} | settings)
    with open_service(chosen, clock) as service:
        yield Desk(service, clock)


def cited(outcome: Outcome) -> set[str]:
    """Ids of all cited documents."""
    return {citation.doc_id for claim in (outcome.answer.claims if outcome.answer else ()) for citation in claim.citations}


def countered(outcome: Outcome) -> set[str]:
    """Ids of all documents shown as saying the opposite."""
    return {citation.doc_id for claim in (outcome.answer.claims if outcome.answer else ()) for citation in claim.counter_evidence}
