"""The OpenSearch engine: monthly indices of a tenant or of a pool behind its aliases, both legs in one round trip, every call guarded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from runtime.clock import Clock, Deadline
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.documents import Corpus, Document, DocumentPage, DocumentWrite, Filters, StoredVersion, WriteOutcome
from search.engines.limits import MAX_IDS, within
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_connection import connected
from search.engines.opensearch_counting import Counter
from search.engines.opensearch_health import health_of
from search.engines.opensearch_indices import Indices
from search.engines.opensearch_ledger import Ledger
from search.engines.opensearch_months import OpenSearchMonths
from search.engines.opensearch_names import Names, checked_prefix
from search.engines.opensearch_placement import Where
from search.engines.opensearch_reading import Reader
from search.engines.opensearch_state import OpenSearchState
from search.engines.opensearch_tenancy import Tenancy
from search.engines.opensearch_writing import Writer
from search.ranking import BucketQuery, Buckets, GroupMembers, LegQuery, Legs


@contextmanager
def open_opensearch(
    settings: Settings, *, model: str, dimension: int, clock: Clock, metrics: Metrics | None = None
) -> Iterator["OpenSearchEngine"]:
    """The engine on the cluster of ``settings.engine_url``, closed at the end.

    Raises:
        Misconfigured: the URL or its user is refused, or what is under the prefix was made for another model or by someone else.
        Unavailable: nothing answers there.
    """
    cluster = connected(settings, clock, lambda: metrics.count("wa_foreign_hits_total") if metrics else None)
    try:
        engine = OpenSearchEngine(
            cluster, checked_prefix(settings.index_prefix), model=model, dimension=dimension, clock=clock, newcomers=settings.placement
        )
        engine.prepare()
        yield engine
    finally:
        cluster.close()


class OpenSearchEngine:
    """Implements :class:`search.ports.Engine`; safe to use from many threads. Documents are under ``prefix``, state under ``state_prefix``."""

    def __init__(
        self,
        cluster: Cluster,
        prefix: str,
        *,
        model: str,
        dimension: int,
        clock: Clock,
        newcomers: Where = "own",
        state_prefix: str | None = None,
    ) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._model = model
        self._dimension = dimension
        self._clock = clock
        self._indices = Indices(cluster, prefix, model=model, dimension=dimension, newcomers=newcomers, state_prefix=state_prefix)
        self._ledger = Ledger(cluster)
        self._writer = Writer(cluster, self._indices, prefix, dimension, clock)
        self._reader = Reader(cluster, prefix, dimension)
        self._counter = Counter(cluster, prefix)
        self.state = OpenSearchState(cluster, state_prefix or prefix, clock)

    @property
    def guards(self) -> tuple[Guard, Guard]:
        """What every read and every write goes through; their state is for metrics."""
        return self._cluster.reads, self._cluster.writes

    @property
    def months(self) -> OpenSearchMonths:
        """Its months, for retention."""
        return OpenSearchMonths(self._cluster, self._indices, self._prefix)

    @property
    def tenancy(self) -> Tenancy:
        """Where its tenants are, and moving them."""
        return Tenancy(self._cluster, self._indices, self._prefix, self._clock)

    def prepare(self) -> None:
        """Make what all tenants share, and refuse indices that this release must not touch."""
        self._indices.prepare()

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.ports.Engine`. Reads the ledger, so it sees every acknowledged write, refreshed or not, of every process."""
        within(len(doc_ids), 0, MAX_IDS, "doc_ids")
        entries = self._ledger.read(self._names(tenant), doc_ids)
        return {doc_id: entry.settled for doc_id, entry in entries.items() if entry.settled is not None}

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :class:`search.ports.Engine`."""
        return self._writer.write(tenant, writes)

    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        self._cluster.refresh(self._names(tenant).alias)

    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """See :class:`search.ports.Engine`."""
        return self._writer.delete(tenant, doc_ids)

    def bury(self, tenant: Tenant, deleted: Mapping[str, StoredVersion]) -> None:
        """See :class:`search.moving.archive.Receiver`."""
        within(len(deleted), 0, MAX_IDS, "deleted")
        self._writer.bury(tenant, deleted)

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`. What is written meanwhile is there before and goes, or comes after and stays whole."""
        names = self._names(tenant)
        self.refresh(tenant)
        live = self._counter.documents(tenant)
        self.tenancy.erase(names, self.generation)
        return live

    def expunge(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        self.tenancy.expunge(self._names(tenant))

    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """See :class:`search.ports.Engine`."""
        return self._reader.document(tenant, doc_id)

    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :class:`search.ports.Engine`."""
        return self._reader.documents(tenant, filters, match=match, first=first, after=after)

    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        """See :class:`search.ports.Engine`."""
        return self._reader.legs(tenant, query, deadline)

    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, *, first: int = 100) -> Mapping[str, GroupMembers]:
        """See :class:`search.ports.Engine`."""
        return self._counter.group_members(tenant, group_keys, filters, first)

    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :class:`search.ports.Engine`."""
        buckets, total, scope, without = self._counter.buckets(tenant, query)
        return Buckets(buckets, total, scope, without, self.generation(tenant))

    def corpus(self, tenant: Tenant) -> Corpus:
        """See :class:`search.ports.Engine`."""
        return self._counter.corpus(tenant, generation=self.generation(tenant), model=self._model, dimension=self._dimension)

    def generation(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`. The number of changes the ledger has seen, from its own count of operations."""
        ledger = self._names(tenant).ledger
        answer = self._cluster.find(ledger, "_stats", "docs", level="shards")
        if answer is None:
            return 0
        for index in answer["indices"]:
            self._cluster.owned.index(ledger, index)
        return sum(self._indices.changes_before(index) + _operations(stats["shards"]) for index, stats in answer["indices"].items())

    def count_above(self, tenant: Tenant, generation: int) -> None:
        """Have every later :meth:`generation` of the tenant be above this one, of a store that this one takes the place of."""
        present, ledger = self.generation(tenant), self._indices.ledger_index(self._names(tenant))
        if ledger is not None and present <= generation:
            self._indices.say_of_ledger(ledger, changes_before=self._indices.changes_before(ledger) + generation - present + 1)

    def ledger_of(self, tenant: Tenant) -> tuple[str, str]:
        """The index of its ledger, and that which it was copied from; empty where there is none."""
        ledger = self._indices.ledger_index(self._names(tenant))
        return ("", "") if ledger is None else (ledger, str(self._indices.said_of_ledger(ledger).get("copied_from", "")))

    def begin_copy(self, tenant: Tenant, of: str) -> None:
        """An empty ledger that says what is copied into it."""
        names = self._names(tenant)
        if self._indices.ledger_index(names) is not None:
            self.erase(tenant)
        self._indices.ensure_ledger(names)
        self._indices.say_of_ledger(self._indices.ledger_index(names) or "", copied_from=of)

    def purge(self, tenant: Tenant, doc_ids: Sequence[str]) -> None:
        """Take the records of these documents out of the months, the ledger aside: where it takes no writes, nothing else can be done about them."""
        self._writer.purge(tenant, doc_ids)

    def describe(self) -> Mapping[str, str]:
        """See :class:`search.ports.Engine`."""
        version = self._cluster.get()["version"]
        return {
            "engine": "opensearch",
            "version": f"OpenSearch {version['number']}",
            "location": self._cluster.location,
            "model": self._model,
            "dimension": str(self._dimension),
            **health_of(self._cluster),
        }

    def close(self) -> None:
        """See :class:`search.ports.Engine`."""
        self._cluster.close()

    def _names(self, tenant: Tenant) -> Names:
        return Names(self._prefix, tenant)


def _operations(shards: Mapping[str, Sequence[Mapping[str, object]]]) -> int:
    """Operations that primary shards have taken."""
    copies = [copy for shard in shards.values() for copy in shard]
    return sum(_newest(copy) + 1 for copy in copies if _is_primary(copy))


def _is_primary(copy: Mapping[str, object]) -> bool:
    routing = copy["routing"]
    return isinstance(routing, Mapping) and bool(routing.get("primary"))


def _newest(copy: Mapping[str, object]) -> int:
    numbers = copy["seq_no"]
    return int(numbers["max_seq_no"]) if isinstance(numbers, Mapping) else -1
