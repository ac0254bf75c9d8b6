"""Copying what is behind: each page of the source is held against the target, and only what is missing or older there is written.

So a copy that was interrupted anywhere is resumed by copying again, and a later copy catches up with what was written since.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from runtime.clock import Stopwatch
from runtime.errors import Conflict
from runtime.tenancy import HOUSE, Tenant
from search.documents import DocumentWrite, StoredVersion
from search.embedding.anew import embedded_anew
from search.engines.write_intents import KIND as INTENT
from search.engines.write_intents import OPEN_FOR
from search.ingest.report import Progress
from search.moving.archive import Archive, Receiver, StateReceiver
from search.ports import Embedder, StateEntry
from search.versions import is_behind

Told = Callable[[Progress], None]

MARK = "migration"
"""The kind of entries in the house of a target that say what was moved there."""

NOT_MOVED = frozenset({MARK, "work_claim"})
"""Kinds that mean something in their own store only: marks, and claims of workers that run there."""

MAX_REFUSED = 100


@dataclass(slots=True)
class Copied:
    """What one pass wrote. ``refused`` holds the first ids with what the target said."""

    documents: int = 0
    tombstones: int = 0
    entries: int = 0
    events: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def changes(self) -> int:
        """Everything that was written."""
        return self.documents + self.tombstones + self.entries + self.events

    def add(self, other: "Copied") -> None:
        """What a further pass wrote."""
        self.documents += other.documents
        self.tombstones += other.tombstones
        self.entries += other.entries
        self.events += other.events
        self.refused = other.refused

    def refuse(self, doc_id: str, reason: str) -> None:
        """Note a document that the target does not take."""
        if len(self.refused) < MAX_REFUSED:
            self.refused.append((doc_id, reason))


@dataclass(frozen=True, slots=True)
class Copier:
    """Copies one tenant after another. With ``merge`` what is newer in the target stays; without, it is a reason to stop.

    ``embedder`` makes the vectors; None carries them as they are.
    """

    source: Archive
    target: Receiver
    state: StateReceiver
    embedder: Embedder | None
    merge: bool = False

    def documents(self, tenant: Tenant, copied: Copied, pace: "Pace") -> None:
        """Live documents.

        Raises:
            Conflict: the target has one that is newer or other, and this is no merge.
        """
        for writes in self.source.documents(tenant):
            behind = self._behind(tenant, writes)
            outcomes = self.target.write(tenant, self._with_vectors(behind)) if behind else ()
            for outcome in outcomes:
                if outcome.kind in ("indexed", "updated"):
                    copied.documents += 1
                elif outcome.kind != "unchanged":
                    copied.refuse(outcome.doc_id, outcome.reason or outcome.kind)
            pace.tell(len(writes))
        self.target.refresh(tenant)

    def tombstones(self, tenant: Tenant, copied: Copied) -> None:
        """What is known of deleted documents."""
        for deleted in self.source.tombstones(tenant):
            here = self.target.stored(tenant, list(deleted))
            behind = {doc_id: each for doc_id, each in deleted.items() if is_behind(here.get(doc_id), each)}
            if behind:
                self.target.bury(tenant, behind)
                copied.tombstones += len(behind)

    def entries(self, tenant: Tenant, wanted: Callable[[StateEntry], bool], copied: Copied) -> None:
        """State."""
        for page in self.source.entries(tenant):
            moved = [entry for entry in page if wanted(entry)]
            copied.entries += self.state.adopt(tenant, moved) if moved else 0

    def events(self, tenant: Tenant, copied: Copied) -> None:
        """What waits to be told. An event is kept with an entry; this one's goes again at once and leaves it behind."""
        here = {event.event_id for event in self.state.outbox(first=1000)}
        for event in self.source.events(tenant):
            if event.event_id not in here:
                self.state.put(tenant, MARK, event.event_id, {}, event=event)
                self.state.remove(tenant, MARK, [event.event_id])
                copied.events += 1

    def _behind(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> list[DocumentWrite]:
        here = self.target.stored(tenant, [write.document.doc_id for write in writes])
        behind = [write for write in writes if is_behind(here.get(write.document.doc_id), version_of(write))]
        if not self.merge:
            missing = {write.document.doc_id for write in behind}
            for write in writes:
                if write.document.doc_id not in missing and here[write.document.doc_id] != version_of(write):
                    raise Conflict(
                        f"the target has {write.document.doc_id} of {tenant} with other or newer content; --merge keeps what is newer there"
                    )
        return behind

    def _with_vectors(self, writes: Sequence[DocumentWrite]) -> list[DocumentWrite]:
        return list(writes) if self.embedder is None else embedded_anew(writes, self.embedder)


def version_of(write: DocumentWrite) -> StoredVersion:
    """What the source knows of a document it has."""
    return StoredVersion(write.document.version, write.content_hash, deleted=False)


def movable(now: datetime, tenants: Iterable[Tenant] | None = None) -> Callable[[StateEntry], bool]:
    """Which entries are moved: all but those of :data:`NOT_MOVED` and of writes that are going on. Of the house, with ``tenants``, theirs alone."""
    chosen = None if tenants is None else set(tenants)

    def wanted(entry: StateEntry) -> bool:
        if entry.kind == INTENT:
            return entry.labels.get("state") == "open" and entry.created_at < now - OPEN_FOR
        return entry.kind not in NOT_MOVED and (chosen is None or entry.labels.get("tenant") in chosen)

    return wanted


def has_documents(tenant: Tenant) -> bool:
    """The house has state alone."""
    return tenant != HOUSE


@dataclass(slots=True)
class Pace:
    """How far a pass over ``total`` documents is, and how fast."""

    watch: Stopwatch
    total: int
    told: Told | None = None
    done: int = 0

    def tell(self, more: int) -> None:
        """``more`` documents have been dealt with."""
        self.done += more
        if self.told is not None:
            seconds = self.watch.elapsed_s()
            rate = self.done / seconds if seconds > 0 else 0.0
            remaining = max(0, self.total - self.done) / rate if rate > 0 else None
            self.told(Progress(self.done, self.done, rate, remaining))
