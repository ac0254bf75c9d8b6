"""What moving needs of a store: to read all of it without changing it, and to put things back as they were."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from runtime.events import Event
from runtime.tenancy import Tenant
from search.documents import DocumentWrite, StoredVersion, WriteOutcome
from search.ports import StateEntry, StateStore

PAGE = 500
"""Documents, entries or tombstones read at once."""


class Archive(Protocol):
    """A store, read only. Pages follow one another in an order that new writes do not disturb; each page is of one moment, all together are not."""

    @property
    def location(self) -> str:
        """Where it is, without secrets; equal for equal places."""
        ...

    @property
    def model(self) -> str:
        """The embedding model of its vectors."""
        ...

    @property
    def dimension(self) -> int:
        """The length of its vectors."""
        ...

    def tenants(self) -> tuple[Tenant, ...]:
        """Everyone with documents, tombstones or state, the house included, in order."""
        ...

    def total(self, tenant: Tenant) -> int:
        """How many live documents the tenant has."""
        ...

    def documents(self, tenant: Tenant) -> Iterator[tuple[DocumentWrite, ...]]:
        """Every live document with its passages and vectors, by id. ``asked_version`` is the stored version."""
        ...

    def tombstones(self, tenant: Tenant) -> Iterator[Mapping[str, StoredVersion]]:
        """What is known of deleted documents."""
        ...

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """As :meth:`search.ports.Engine.stored`."""
        ...

    def entries(self, tenant: Tenant) -> Iterator[tuple[StateEntry, ...]]:
        """Every entry of the state store, by kind and id."""
        ...

    def events(self, tenant: Tenant) -> tuple[Event, ...]:
        """Events that wait in the outbox, oldest first."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class Receiver(Protocol):
    """An engine that takes documents of another store as they were there; see :class:`search.ports.Engine`."""

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.ports.Engine`."""
        ...

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :class:`search.ports.Engine`."""
        ...

    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        ...

    def bury(self, tenant: Tenant, deleted: Mapping[str, StoredVersion]) -> None:
        """Know of these as deleted (at most 1,000), at their versions; what is known at a later version stays as it is."""
        ...


class StateReceiver(StateStore, Protocol):
    """A state store that takes entries of another one as they were there."""

    def adopt(self, tenant: Tenant, entries: Sequence[StateEntry]) -> int:
        """Keep entries (at most 1,000) with their versions and moments; how many were put. One that is here at the same or a later version stays."""
        ...
