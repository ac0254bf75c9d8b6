"""What was written to one index since it was last looked at, by its sequence numbers."""

from collections.abc import Iterator
from typing import Any

from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_queries import Body, every
from search.engines.opensearch_reading import Hits

_PAGE = 500


class Following:
    """Follows an index. ``tenant`` None is for a ledger, which is one tenant's as a whole."""

    def __init__(self, cluster: Cluster, index: str, tenant: Tenant | None) -> None:
        self._cluster = cluster
        self._index = index
        self._tenant = tenant
        self._since = -1

    def news(self) -> Iterator[Hits]:
        """Everything written since the last time, some of it once more: operations are not finished in the order of their numbers, so that the next
        time begins where all were finished before this time began."""
        finished = numbers(self._cluster, self._index)["global_checkpoint"]
        self._cluster.refresh(self._index)
        whose: list[Body] = [] if self._tenant is None else [{"term": {"tenant": self._tenant}}]
        body: dict[str, Any] = {
            "size": _PAGE,
            "version": True,
            "seq_no_primary_term": True,
            "query": every([*whose, {"range": {"_seq_no": {"gt": self._since}}}]),
            "sort": [{"_seq_no": "asc"}],
        }
        while page := self._cluster.search(self._index, body, tenant=self._tenant)["hits"]["hits"]:
            yield page
            body["search_after"] = page[-1]["sort"]
        self._since = max(self._since, finished)


def numbers(cluster: Cluster, index: str) -> dict[str, int]:
    """``max_seq_no`` and ``global_checkpoint`` of the primary shard."""
    shards = cluster.get(index, "_stats", "docs", level="shards")["indices"][index]["shards"]
    copies = [copy for shard in shards.values() for copy in shard if copy["routing"]["primary"]]
    found: dict[str, int] = copies[0]["seq_no"]
    return found
