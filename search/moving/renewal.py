"""A generation made from the one that is served, kept up with it, and served in its place; and the way back, which is the same with both exchanged.

It follows the ledgers: they say which documents were changed since the last look, and a document is taken over in the version that counts there. At
the end the ledgers of the old generation are closed, so that nothing more is acknowledged there; what was changed last is taken over, both are
counted, and the alias is moved. Who wanted to write meanwhile waits, and writes to the new one. Killed anywhere, it is run again.
"""

from collections.abc import Mapping, Sequence

from runtime.clock import Stopwatch
from runtime.errors import Conflict, NotFound
from runtime.tenancy import Tenant
from search.documents import StoredVersion
from search.embedding.anew import embedded_anew
from search.engines.opensearch_generations import Generation
from search.engines.opensearch_serving import Place
from search.moving.copying import Copied, Pace, Told
from search.moving.opensearch_archive import LedgerChange, OpenSearchArchive
from search.ports import Embedder
from search.versions import is_behind

PASSES = 5
"""How often it catches up with what is written meanwhile before the ledgers are closed, at most: what is left then is little."""

_READ_AT_ONCE = 100


class Renewal:
    """From ``source`` to ``target``, whose embedder is ``embedder``."""

    def __init__(self, place: Place, source: Generation, target: Generation, embedder: Embedder) -> None:
        self._place = place
        self._generations = place.generations
        self._source = source
        self._target = target
        self._embedder = embedder
        self._from, self._to = (OpenSearchArchive(place.cluster, each.prefix, place.settings.index_prefix) for each in (source, target))
        self._old, self._new = place.engine(source), place.engine(target)
        self._marks: dict[Tenant, int] = {}
        self._pending: dict[Tenant, set[str]] = {}

    def build(self, told: Told | None = None) -> Copied:
        """Take over everything, and what is written meanwhile until hardly anything is. What is there already stays, so it may be repeated."""
        self._generations.open(self._source)
        self._generations.open(self._target)
        self._new.prepare()
        for tenant in set(self._to.with_documents()) - set(self._from.with_documents()):
            self._new.erase(tenant)
        copied = self._catch_up(told)
        for _ in range(PASSES - 1):
            further = self._catch_up()
            copied.add(further)
            if not further.changes:
                break
        return copied

    def serve(self) -> Copied:
        """Have every process serve the target. When anything goes wrong before that, the source takes writes again.

        Raises:
            Conflict: both do not hold the same, or somebody else let writes in again meanwhile; nothing was changed.
        """
        try:
            token = self._generations.close(self._source)
            copied = self._catch_up(last=True)
            self._refuse_difference(copied)
            self._generations.serve(self._target, self._source, token)
        except BaseException as error:
            if self._generations.give_up().live.prefix != self._target.prefix:
                self._generations.open(self._source)
                if isinstance(error, NotFound):
                    raise Conflict("another wisdom reembed is at work; nothing was changed") from error
                raise
        return copied

    def differences(self) -> list[str]:
        """Months of tenants of which both do not hold as many documents and passages; changes that are under way aside."""
        tenants = sorted({*self._from.with_documents(), *self._to.with_documents()})
        return [each for tenant in tenants for each in self._differences(tenant)]

    def _catch_up(self, told: Told | None = None, *, last: bool = False) -> Copied:
        """One look at everything that was changed since the one before. ``last``: what is under way now never ends."""
        copied, tenants = Copied(), self._from.with_documents()
        pace = Pace(Stopwatch.start(self._place.clock), sum(self._from.total(tenant) for tenant in tenants) if told else 0, told)
        for tenant in tenants:
            self._begin_anew_if_erased(tenant)
            place, pending = self._from.place(tenant), set()
            for page in self._looked_at_before(tenant, last=last), *self._from.changes(tenant, self._marks.get(tenant, -1)):
                pending |= self._taken_over(tenant, page, copied, last=last)
                pace.tell(len(page))
            self._marks[tenant] = place
            self._pending[tenant] = pending if last else pending | self._pending.get(tenant, set())
            self._new.refresh(tenant)
        return copied

    def _begin_anew_if_erased(self, tenant: Tenant) -> None:
        """A copy is one of a certain ledger; an erased tenant has another."""
        (ledger, copied_from), (there, of) = self._old.ledger_of(tenant), self._new.ledger_of(tenant)
        if ledger and of != ledger and not (there and copied_from == there):
            self._new.begin_copy(tenant, ledger)
            self._marks.pop(tenant, None)

    def _looked_at_before(self, tenant: Tenant, *, last: bool) -> tuple[LedgerChange, ...]:
        """What was under way at an earlier look and may never have ended."""
        return self._from.changes_of(tenant, self._pending.get(tenant, ())) if last else ()

    def _taken_over(self, tenant: Tenant, page: Sequence[LedgerChange], copied: Copied, *, last: bool) -> set[str]:
        """Ids of those of the page that are being changed: they are looked at again when they are settled, or at last."""
        keys = [each.key for each in page]
        ids = {**self._to.ids_of(tenant, keys), **self._from.ids_of(tenant, keys)}
        known = {ids[each.key]: each for each in page if each.key in ids}
        wanted = {doc_id: each.settled for doc_id, each in known.items() if each.settled is not None and (last or not each.pending)}
        here = self._new.stored(tenant, list(wanted))
        behind = {doc_id: each for doc_id, each in wanted.items() if is_behind(here.get(doc_id), each)}
        gone = {doc_id: each for doc_id, each in behind.items() if each.deleted}
        if gone:
            self._new.bury(tenant, gone)
            copied.tombstones += len(gone)
        self._copy(tenant, {doc_id: each for doc_id, each in behind.items() if not each.deleted}, copied, any_version=last)
        return {doc_id for doc_id, each in known.items() if each.pending}

    def _copy(self, tenant: Tenant, wanted: Mapping[str, StoredVersion], copied: Copied, *, any_version: bool) -> None:
        """In the version that counts: a later one may be there by half, and comes at a later look, unless there is none."""
        ids = list(wanted)
        for start in range(0, len(ids), _READ_AT_ONCE):
            for writes in self._from.documents(tenant, ids[start : start + _READ_AT_ONCE]):
                whole = [each for each in writes if any_version or each.document.version == wanted[each.document.doc_id].version]
                for outcome in self._new.write(tenant, embedded_anew(whole, self._embedder)) if whole else ():
                    if outcome.kind in ("indexed", "updated"):
                        copied.documents += 1
                    elif outcome.kind != "unchanged":
                        copied.refuse(outcome.doc_id, outcome.reason or outcome.kind)

    def _refuse_difference(self, copied: Copied) -> None:
        if copied.refused:
            doc_id, reason = copied.refused[0]
            raise Conflict(f"{len(copied.refused)} documents cannot be taken over, {doc_id} first: {reason}")
        if found := self.differences():
            raise Conflict(f"both generations do not hold the same ({'; '.join(found[:3])}); run it again")
        for tenant in self._from.with_documents():
            self._new.count_above(tenant, self._old.generation(tenant))

    def _differences(self, tenant: Tenant) -> list[str]:
        without = self._pending.get(tenant, set())
        old, new = self._from.held(tenant, without), self._to.held(tenant, without)
        return [
            f"{tenant} {month}: {old.get(month, (0, 0))[0]:,} documents in {self._source.prefix}, {new.get(month, (0, 0))[0]:,} in "
            f"{self._target.prefix}"
            for month in sorted(old.keys() | new.keys())
            if old.get(month) != new.get(month)
        ]
