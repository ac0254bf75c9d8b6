"""Taking the records of one tenant out of months of the pool, whose index stays for the others.

Records are removed one by one as they were found, each after a look at whose it is: no query deletes anything. What is written meanwhile stays, also under
the same id and version, as by a move back into the pool.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster, Operation
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_queries import Body, every
from search.engines.opensearch_reading import Hits

LIVE: list[Body] = [{"term": {"deleted": False}}]
_PAGE = 1_000
_ROUNDS = 5


class Sweep:
    """Removes records of a tenant from months that it shares."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def clear(self, index: str, tenant: Tenant, clauses: Sequence[Body] = (), kept: Placement | None = None) -> int:
        """Remove every record of the tenant from this month that fulfils the clauses, but those that have the id they have in ``kept``; how many there
        were.

        Raises:
            Unavailable: others go on writing there.
        """
        removed = 0
        for _ in range(_ROUNDS):
            found = self._removed(index, tenant, clauses, kept)
            removed += found
            if not found:
                return removed
        raise unavailable(f"records are being written to {index} while they are removed; repeat it")

    def bury(self, index: str, tenant: Tenant) -> int:
        """Remove what is left of deleted documents of the tenant."""
        return self._removed(index, tenant, [{"term": {"deleted": True}}])

    def expunge(self, index: str) -> None:
        """Have removed text taken off the disk now. OpenSearch keeps what was removed in the last half minute for copies that were away; that goes
        with the next expunging or merge."""
        self._cluster.post(index, "_forcemerge", body=None, only_expunge_deletes="true")

    def count(self, index: str, tenant: Tenant, clauses: Sequence[Body] = ()) -> int:
        """Records of the tenant in a month."""
        body = {"size": 0, "track_total_hits": True, "query": every([{"term": {"tenant": tenant}}, *clauses])}
        return int(self._cluster.search(index, body, tenant=tenant)["hits"]["total"]["value"])

    def _removed(self, index: str, tenant: Tenant, clauses: Sequence[Body], kept: Placement | None = None) -> int:
        self._cluster.refresh(index)
        removed = 0
        for found in self._pages(index, tenant, clauses):
            page = [hit for hit in found if kept is None or hit["_id"] != kept.key(hit["_source"]["passage_id"])]
            items = self._cluster.bulk([_removal(index, hit) for hit in page])
            if refused := [item.reason for item in items if item.fate not in ("written", "absent", "stale")]:
                raise unavailable(f"a record of {index} could not be removed ({refused[0]})")
            removed += len(page)
        if removed:
            self._cluster.refresh(index)
        return removed

    def _pages(self, index: str, tenant: Tenant, clauses: Sequence[Body]) -> Iterator[Hits]:
        body: dict[str, Any] = {
            "size": _PAGE,
            "seq_no_primary_term": True,
            "_source": ["tenant", "passage_id"],
            "query": every([{"term": {"tenant": tenant}}, *clauses]),
            "sort": [{"_seq_no": "asc"}],
        }
        while page := self._cluster.search(index, body, tenant=tenant)["hits"]["hits"]:
            yield page
            body["search_after"] = page[-1]["sort"]


def _removal(index: str, hit: Mapping[str, Any]) -> Operation:
    return Operation({"delete": {"_index": index, "_id": hit["_id"], "if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"]}})
