"""The last look at what OpenSearch sent, before anything of it is used: each record comes from an index of the alias that was asked, and is the tenant's.
In a month of the pool only the record says whose it is, so none of it is read without saying for whom.

Every search already holds the tenant in its filters, so this never finds anything – unless an alias points at the wrong index, a record was written by
someone else, or something between us and the cluster mixes answers up. That is a leak in the making and not a partial result: nothing is returned,
the event is counted and logged with names of indices only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runtime.errors import ServiceError
from runtime.telemetry import logger
from runtime.tenancy import Tenant
from search.engines.opensearch_names import is_behind, is_month, is_pool_index

Answer = Mapping[str, Any]

_log = logger(__name__)


class ForeignHit(ServiceError):
    """OpenSearch sent something of another tenant, or of an index that is not behind the alias asked. Repeating does not help."""


class OwnershipCheck:
    """Refuses answers that hold anything foreign. ``told`` is called once for each refused answer."""

    def __init__(self, told: Callable[[], None] = lambda: None) -> None:
        self._told = told

    def answer(self, alias: str, tenant: Tenant | None, answer: Answer) -> None:
        """All records of one search. ``tenant`` is None for those that are read for all tenants by design: their index is checked all the same.

        Raises:
            ForeignHit: one is foreign.
        """
        for hit in hits_of(answer):
            self.record(alias, tenant, hit)
        for index in _counted_indices(answer):
            self.index(alias, index)

    def record(self, alias: str, tenant: Tenant | None, record: Answer) -> None:
        """One record, as a hit of a search or the answer to a get.

        Raises:
            ForeignHit: it is foreign.
        """
        self.index(alias, record.get("_index"))
        if (tenant is not None or is_pool_index(record["_index"])) and tenant_of(record) != tenant:
            self._refuse("tenant", alias, record["_index"])

    def index(self, alias: str, index: object) -> None:
        """The name of an index that answered.

        Raises:
            ForeignHit: it is not one of ours behind this alias.
        """
        if not isinstance(index, str) or not is_behind(alias, index):
            self._refuse("index", alias, str(index))

    def _refuse(self, wrong: str, alias: str, index: str) -> None:
        self._told()
        _log.error("foreign_hit", wrong=wrong, asked=alias, index=index[:255])
        raise ForeignHit("a search came back with something of another tenant; nothing was returned, and the operator has been told")


def check_asked(index: str, tenant: Tenant | None, body: Answer) -> None:
    """A search says whose records it wants, whatever the aliases show: in a month of the pool there are others'. Numbers cannot be looked at for whose
    they are once they are there.

    Raises:
        ValueError: it does not. That is a defect.
    """
    if tenant is None and is_month(index):
        raise ValueError("months are searched for one tenant, never for all")
    if tenant is not None and {"term": {"tenant": tenant}} not in _clauses(body.get("query", {})):
        raise ValueError("a search for a tenant that does not say so would count others'")


def _clauses(query: Answer) -> Sequence[object]:
    """What every record that is found, or counted, fulfils."""
    within = query["knn"]["vector"].get("filter", {}) if "knn" in query else query
    found = within.get("bool", {}).get("filter", ())
    return found if isinstance(found, list) else ()


def hits_of(answer: Answer) -> Iterator[Answer]:
    """Every hit of a search, those inside aggregations included."""
    hits = answer.get("hits")
    if isinstance(hits, Mapping):
        yield from hits.get("hits", ())
    for aggregation in answer.get("aggregations", {}).values():
        yield from _inside(aggregation)


def tenant_of(record: Answer) -> object:
    """The tenant stored in a record; None when the answer does not hold it."""
    if "_source" in record:
        return record["_source"].get("tenant")
    return record.get("fields", {}).get("tenant", [None])[0]


def _inside(aggregation: object) -> Iterator[Answer]:
    if not isinstance(aggregation, Mapping):
        return
    hits = aggregation.get("hits")
    if isinstance(hits, Mapping):
        yield from hits.get("hits", ())
        return
    buckets = aggregation.get("buckets", ())
    for bucket in buckets.values() if isinstance(buckets, Mapping) else buckets:
        for inner in bucket.values():
            yield from _inside(inner)


INDICES: Mapping[str, Any] = {"indices": {"terms": {"field": "_index", "size": 10_000}}}
"""An aggregation that says which indices were counted, for answers that are numbers without hits."""


def _counted_indices(answer: Answer) -> Iterator[object]:
    for bucket in answer.get("aggregations", {}).get("indices", {}).get("buckets", ()):
        yield bucket["key"]
