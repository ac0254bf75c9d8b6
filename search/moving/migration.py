"""Moving a whole store, or some tenants of it, into another one: copy what is behind, then compare both."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.clock import Clock, Stopwatch
from runtime.errors import Conflict, NotFound
from runtime.tenancy import HOUSE, Tenant
from search.moving.archive import Archive
from search.moving.copying import MARK, Copied, Copier, Pace, Told, has_documents, movable
from search.moving.opening import End
from search.moving.verifying import Compared, Comparison
from search.ports import Embedder


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What was written by this run, and how both stores compare after it. ``vectors`` is ``carried``, or ``embedded anew``."""

    source: str
    target: str
    vectors: str
    tenants: tuple[Tenant, ...]
    copied: Copied
    compared: tuple[Compared, ...]
    seconds: float

    @property
    def verified(self) -> bool:
        """Whether everything of the source is in the target as it was."""
        return all(line.same for line in self.compared)


@dataclass(frozen=True, slots=True)
class Migration:
    """From ``source`` to ``target``. The source is only read. ``embedder`` is that of the target; ``tenants`` None for all."""

    source: Archive
    target: End
    embedder: Embedder
    clock: Clock
    tenants: Sequence[Tenant] | None = None
    merge: bool = False

    def run(self, told: Told | None = None, *, passes: int = 1) -> MigrationReport:
        """Copy and compare. After an interruption, or to catch up with the source, run it again. With more ``passes`` it catches up by itself, until
        one finds nothing to write.

        Raises:
            NotFound: the source has no such tenant.
            Conflict: the target has documents or state that were not moved there from this source, or newer ones, and this is no merge.
        """
        watch = Stopwatch.start(self.clock)
        chosen = self._chosen()
        self._claim(chosen)
        copied = self.copy(chosen, told)
        for _ in range(passes - 1):
            further = self.copy(chosen, told)
            copied.add(further)
            if not further.changes:
                break
        return MigrationReport(
            source=self.source.location,
            target=self.target.archive.location,
            vectors="carried" if self.carries_vectors else f"embedded anew with {self.embedder.model}",
            tenants=chosen,
            copied=copied,
            compared=self.compare(chosen),
            seconds=watch.elapsed_s(),
        )

    @property
    def carries_vectors(self) -> bool:
        """True when both are of one model."""
        return (self.source.model, self.source.dimension) == (self.embedder.model, self.embedder.dimension)

    def copy(self, chosen: Sequence[Tenant], told: Told | None = None) -> Copied:
        """One pass over everything."""
        embedder = None if self.carries_vectors else self.embedder
        copier = Copier(self.source, self.target.engine, self.target.state, embedder, merge=self.merge)
        pace = Pace(Stopwatch.start(self.clock), sum(self.source.total(tenant) for tenant in chosen if has_documents(tenant)), told)
        copied = Copied()
        for tenant in chosen:
            if has_documents(tenant):
                copier.documents(tenant, copied, pace)
                copier.tombstones(tenant, copied)
            copier.entries(tenant, movable(self.clock.now(), self._whose(tenant)), copied)
            copier.events(tenant, copied)
        return copied

    def compare(self, chosen: Sequence[Tenant]) -> tuple[Compared, ...]:
        """Both stores, line by line."""
        comparison = Comparison(self.source, self.target.archive, vectors=self.carries_vectors, merge=self.merge)
        return tuple(line for tenant in chosen for line in comparison.of(tenant, movable(self.clock.now(), self._whose(tenant))))

    def _chosen(self) -> tuple[Tenant, ...]:
        """The tenants to move. The house comes with each: API keys are kept there."""
        found = self.source.tenants()
        if self.tenants is None:
            return found
        for tenant in self.tenants:
            if tenant not in found:
                raise NotFound(f"{self.source.location} has no tenant {tenant}")
        return (*self.tenants, *(tenant for tenant in found if tenant == HOUSE))

    def _whose(self, tenant: Tenant) -> Sequence[Tenant] | None:
        return self.tenants if tenant == HOUSE else None

    def _claim(self, chosen: Sequence[Tenant]) -> None:
        """Mark each tenant as moved from here; who finds others there refuses."""
        state, archive = self.target.state, self.target.archive
        present = set(archive.tenants()) if not self.merge else set()
        unmarked = [tenant for tenant in chosen if state.get(HOUSE, MARK, self._mark(tenant)) is None]
        for tenant in unmarked:
            if tenant in present and has_documents(tenant):
                raise Conflict(
                    f"{archive.location} has something of {tenant} already, not moved there from this source; --merge keeps what is newer there"
                )
        for tenant in unmarked:
            state.put(HOUSE, MARK, self._mark(tenant), {"from": self.source.location, "tenant": tenant}, labels={"tenant": tenant})

    def _mark(self, tenant: Tenant) -> str:
        return hashlib.sha256(f"{self.source.location}\n{tenant}".encode()).hexdigest()[:32]
