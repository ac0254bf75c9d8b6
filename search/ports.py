"""The ports of search. A docstring here is the specification; ``tests/contracts`` holds every implementation to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from runtime.clock import Deadline
from runtime.events import Event
from runtime.tenancy import Tenant
from search.documents import (
    Corpus,
    Document,
    DocumentPage,
    DocumentWrite,
    Filters,
    StoredVersion,
    Vectors,
    WriteOutcome,
)
from search.ranking import BucketQuery, Buckets, GroupMembers, LegQuery, Legs
from search.state_facts import Fact


class Embedder(Protocol):
    """Text to unit vectors."""

    @property
    def model(self) -> str:
        """A name that changes whenever vectors stop being comparable; the index remembers it."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> Vectors:
        """Shape (len(texts), dimension), float32, each row of unit length, in order. Deterministic: a text's vector does not depend on its batch
        beyond 1e-3 in cosine. Long text is cut at the model's limit.

        Raises:
            Unavailable: the model is behind an endpoint that did not answer; nothing was returned.
        """
        ...


class DocumentStore(Protocol):
    """What storing documents needs of an engine; each method is specified in :class:`Engine`."""

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :meth:`Engine.stored`."""
        ...

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :meth:`Engine.write`."""
        ...

    def refresh(self, tenant: Tenant) -> None:
        """See :meth:`Engine.refresh`."""
        ...

    def corpus(self, tenant: Tenant) -> Corpus:
        """See :meth:`Engine.corpus`."""
        ...


class Counts(Protocol):
    """What aggregates need of an engine; each method is specified in :class:`Engine`."""

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :meth:`Engine.aggregate`."""
        ...

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :meth:`Engine.documents`."""
        ...


class Engine(Protocol):
    """Documents in and out, both retrieval legs in one call, exact aggregations. Every method's first argument is the tenant.

    Reads see everything that was written before the last :meth:`refresh` of that tenant by any process. Unless said otherwise a method raises
    ``Unavailable`` when the store cannot be reached and ``InvalidRequest`` when an argument is out of range; it never returns a partial count.
    """

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """What is known of these ids (at most 1,000), deleted ones included; ids never seen are absent."""
        ...

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """Store documents (at most 1,000, ids distinct), one outcome per write, in order. Acknowledged means durable.

        The outcome is decided by ``search.versions.decide`` against the stored version at the moment of writing, so that an older version never
        overwrites a newer one whoever else writes. One refused document never sinks the others. A changed ``occurred_at`` moves the document.
        """
        ...

    def refresh(self, tenant: Tenant) -> None:
        """After this returns, every acknowledged write is visible to every later call of every process."""
        ...

    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """Delete documents; returns the ids that were live. Their versions are kept as tombstones without text or vector, so that a late replay does
        not bring them back. Visible at once to every later call."""
        ...

    def erase(self, tenant: Tenant) -> int:
        """Remove everything of the tenant, tombstones included; returns how many live documents there were."""
        ...

    def expunge(self, tenant: Tenant) -> None:
        """Have text of the erased tenant taken off the disk that is left there. Of what was erased in the last half minute, some may stay."""
        ...

    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """The live document, or None."""
        ...

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """A page of the documents that pass the filters (and ``match``, as in ``BucketQuery``), newest first then by id; ``first`` in 1..1000.
        ``after`` is a cursor of an earlier page; an unreadable one is ``InvalidRequest``."""
        ...

    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        """Both rankings, each at most ``depth`` passages, by score descending then passage id ascending. A failed leg is named in ``lost``;
        both failed is ``Unavailable``. The lexical leg scores any shared word (BM25, k1 1.2, b 0.75, English analysis, at most 64 terms)."""
        ...

    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, *, first: int = 100) -> Mapping[str, GroupMembers]:
        """For each key that has documents under the filters: how many, and the first ids."""
        ...

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """Exact counts with ids. An unknown time zone is ``InvalidRequest`` on ``time_zone``; over 10,000 buckets too, on ``interval``."""
        ...

    def corpus(self, tenant: Tenant) -> Corpus:
        """The tenant's documents at a glance; all zeros for a tenant never seen."""
        ...

    def generation(self, tenant: Tenant) -> int:
        """A number that changes with every write or delete of the tenant."""
        ...

    def describe(self) -> Mapping[str, str]:
        """What this is: ``engine``, ``version``, ``location`` (no secrets), ``model``, ``dimension``. Raises ``Unavailable`` when it cannot be reached."""
        ...

    def close(self) -> None:
        """Release everything; further calls are errors."""
        ...


@dataclass(frozen=True, slots=True)
class StateEntry:
    """One small JSON document of the state store. ``version`` starts at 1; ``facts`` are declared in :mod:`search.state_facts`."""

    kind: str
    entry_id: str
    version: int
    created_at: datetime
    body: Mapping[str, Any]
    labels: Mapping[str, str]
    facts: Mapping[str, Fact] = field(default_factory=dict)


class StateStore(Protocol):
    """Small versioned JSON documents: traces now; monitors, digests, reports, sessions later. Body at most 1 MB as JSON."""

    def put(
        self,
        tenant: Tenant,
        kind: str,
        entry_id: str,
        body: Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
        expected: int | None = None,
        event: Event | None = None,
    ) -> StateEntry:
        """Create (``expected=0`` insists on creation), replace (``expected=None``), or compare-and-set (``expected=n``).

        ``labels`` and ``facts`` are replaced with the body: none given, none kept. Entries are found by labels; facts are what boards count.
        ``event`` is put into the outbox with the entry: both are kept or neither, whenever the process dies. One with an id that is still in
        the outbox is kept once; it stays there when its entry is removed.

        Raises:
            Conflict: the stored version is not ``expected``; neither entry nor event was kept.
            InvalidRequest: on ``body``, ``labels``, ``facts`` or ``event`` (longer than the limit, not declared, or of another tenant).
        """
        ...

    def get(self, tenant: Tenant, kind: str, entry_id: str) -> StateEntry | None:
        """The entry as last put, at once."""
        ...

    def entries(
        self,
        tenant: Tenant,
        kind: str,
        *,
        labels: Mapping[str, str] | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> tuple[tuple[StateEntry, ...], str | None]:
        """Newest first, then by id, with a cursor for the next page (None at the end). ``labels`` must all be equal."""
        ...

    def remove(self, tenant: Tenant, kind: str, entry_ids: Iterable[str]) -> int:
        """Delete entries; returns how many there were."""
        ...

    def erase(self, tenant: Tenant) -> int:
        """Delete everything of the tenant, its events in the outbox too; returns how many entries there were."""
        ...

    def scan(self, kind: str, *, labels: Mapping[str, str] | None = None) -> Iterator[tuple[Tenant, StateEntry]]:
        """Every entry of a kind, of all tenants, by tenant then id; read in pages. For the worker's own scheduling; no door may call it."""
        ...

    def outbox(self, *, first: int = 100) -> tuple[Event, ...]:
        """Events of all tenants that are not settled yet, oldest first; ``first`` in 1..1000. For the worker's relay; no door may call it."""
        ...

    def settle(self, events: Iterable[Event]) -> None:
        """Take events out of the outbox, those that are not in it without complaint."""
        ...


@dataclass(frozen=True, slots=True)
class MonthsHeld:
    """What a tenant's months take up: bytes by month (``2026-01``), those without a live document included; and things under the tenant's
    names that this program did not make."""

    sizes: Mapping[str, int]
    foreign: tuple[str, ...] = ()


class Months(Protocol):
    """The months of a store as files or indices, beside :class:`Engine`; for retention."""

    def held(self, tenant: Tenant) -> MonthsHeld:
        """What there is now. Bytes are about what dropping a month gives back to the store."""
        ...

    def drop(self, tenant: Tenant, month: str) -> bool:
        """Remove what is left of a month (``2026-01``) in which nothing is live any more; False, and nothing is done, when something is.

        What is known of deleted documents stays. Only what this program made is removed.
        """
        ...
