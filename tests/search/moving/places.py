"""Stores with settings of their own, and what a store holds, in plain values."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from runtime.clock import SystemClock
from runtime.events import Event, event_id
from runtime.settings import Settings, read_settings
from runtime.tenancy import HOUSE, tenant_named
from search.documents import Vectors
from search.moving.migration import Migration
from search.moving.opening import open_archive, open_end
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, write_of, written
from tests.servers import remove_prefix

ACME, OTHER = tenant_named("acme"), tenant_named("acme-2")
CLOCK = SystemClock()


class Known:
    """An embedder without a model: a vector depends on the text alone."""

    def __init__(self, model: str = MODEL) -> None:
        self.model = model
        self.dimension = DIMENSION
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], **_: object) -> Vectors:
        self.texts += texts
        return np.array([unit_vector(self.model + text if self.model != MODEL else text) for text in texts], dtype=np.float32)


@contextmanager
def place(kind: str, folder: Path, url: str = "") -> Iterator[Settings]:
    """A new place, removed at the end."""
    if kind == "embedded":
        yield read_settings({}, engine_url=f"sqlite:///{folder / uuid.uuid4().hex}.db")
        return
    placement = "pool" if kind == "opensearch-pool" else "own"
    settings = read_settings({}, engine_url=url, index_prefix="t" + uuid.uuid4().hex[:12], placement=placement)
    try:
        yield settings
    finally:
        remove_prefix(settings.engine_url, settings.index_prefix)


def fill(settings: Settings) -> None:
    """Two tenants over two months, one long document, one with a title, a new version, a deletion, state, keys, and an event that waits."""
    with open_end(settings, Known(), CLOCK) as end:
        for tenant in (ACME, OTHER):
            for month in (1, 2):
                when = datetime(2026, month, 9, 12, tzinfo=UTC)
                end.engine.write(
                    tenant, [written(f"{tenant}-{month}-{n}", f"Late card {n} of {tenant}", occurred_at=when) for n in range(4)]
                )
            long = written("long", "First half of it. Second half of it.", title="Two halves", attributes={"plan": "pro"}, rating=2.5)
            end.engine.write(tenant, [write_of(long.document, passages=[(0, 17), (18, 36)])])
            end.engine.write(tenant, [written("new", "Said anew", version=7), written("gone", "Deleted since", version=3)])
            end.engine.delete(tenant, ["gone"])  # type: ignore[attr-defined]
            end.state.put(tenant, "trace", "run-1", {"answer": "late"}, labels={"refused": "no"}, facts={"claims": 2})
            end.state.put(tenant, "monitor", "m", {"at": 1}, expected=0)
            end.state.put(tenant, "monitor", "m", {"at": 2}, expected=1)
            event = Event(
                event_id("documents.indexed", tenant, "b"), "documents.indexed", tenant, datetime(2026, 3, 1, tzinfo=UTC), "b", {}
            )
            end.state.put(tenant, "write_intent", "b", {"told": []}, labels={"state": "told"}, event=event)
            end.state.put(HOUSE, "api_key", f"key-{tenant}", {"digest": "…"}, labels={"tenant": tenant})
        end.engine.refresh(ACME)
        end.engine.refresh(OTHER)


def holdings(settings: Settings) -> dict[str, object]:
    """Everything a store holds, but the marks of moves."""
    with open_archive(settings, CLOCK) as archive:
        found: dict[str, object] = {}
        for tenant in archive.tenants():
            documents = [] if tenant == HOUSE else [write for page in archive.documents(tenant) for write in page]
            found[tenant] = {
                "documents": [
                    (write.document, write.content_hash, write.group_key, write.passages, write.vectors.tolist()) for write in documents
                ],
                "deleted": {} if tenant == HOUSE else dict(item for page in archive.tombstones(tenant) for item in page.items()),
                "entries": [entry for page in archive.entries(tenant) for entry in page if entry.kind not in ("migration", "write_intent")],
                "events": archive.events(tenant),
            }
        return found


@contextmanager
def moving(source: Settings, target: Settings, embedder: Known | None = None, **options: object) -> Iterator[Migration]:
    """A migration that can be run."""
    embedder = embedder or Known()
    with open_archive(source, CLOCK) as archive, open_end(target, embedder, CLOCK) as end:
        yield Migration(archive, end, embedder, CLOCK, **options)  # type: ignore[arg-type]
