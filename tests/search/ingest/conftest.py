"""A real store file and an ingester over it."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runtime.clock import SettableClock
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.engines.embedded import EmbeddedEngine, open_embedded
from search.ingest.pipeline import Ingester
from search.ingest.report import IngestReport
from search.ingest.rows import rows_of
from tests.search.ingest.hashing import HashingEmbedder

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACME = Tenant("acme")
Ingest = Callable[..., IngestReport]


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(NOW)


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def engine(tmp_path: Path, clock: SettableClock, embedder: HashingEmbedder) -> Iterator[EmbeddedEngine]:
    with open_embedded(tmp_path / "store.db", model=embedder.model, dimension=embedder.dimension, clock=clock) as opened:
        yield opened


@pytest.fixture
def ingester(engine: EmbeddedEngine, embedder: HashingEmbedder, clock: SettableClock) -> Ingester:
    return Ingester(engine, embedder, clock, Settings())


@pytest.fixture
def ingest(ingester: Ingester) -> Ingest:
    """Stores documents of acme given as mappings."""

    def stored(*documents: Mapping[str, object], **options: object) -> IngestReport:
        return ingester.ingest(ACME, rows_of(documents), **options)  # type: ignore[arg-type]

    return stored


def ticket(doc_id: str | None = "t-1", text: str = "Checkout froze", **changes: object) -> dict[str, object]:
    """A valid document as a mapping."""
    return {"doc_id": doc_id, "text": text, "source": "zendesk", "occurred_at": "2026-11-12T09:30:00Z", **changes}


def counts(report: IngestReport) -> dict[str, int]:
    """The counts that are not zero."""
    names = ("received", "indexed", "unchanged", "updated", "duplicate", "rejected")
    return {name: getattr(report, name) for name in names if getattr(report, name)}
