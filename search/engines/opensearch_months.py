"""Months of the OpenSearch engine: an index each, dropped by the month in its name, and only when we made it."""

from collections.abc import Iterator, Mapping
from typing import Any

from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_indices import Indices
from search.engines.opensearch_names import Names
from search.engines.opensearch_queries import every
from search.ports import MonthsHeld


class OpenSearchMonths:
    """Implements :class:`search.ports.Months`."""

    def __init__(self, cluster: Cluster, indices: Indices, prefix: str) -> None:
        self._cluster = cluster
        self._indices = indices
        self._prefix = prefix

    def held(self, tenant: Tenant) -> MonthsHeld:
        """See :class:`search.ports.Months`. Bytes of primary shards; replicas come on top."""
        names = Names(self._prefix, tenant)
        found = self._present(names)
        own = sorted(index for index in found if names.holds(index) and self._is_ours(names, index, found[index]))
        ledgers = {index for index in found if names.ledger in found[index]}
        foreign = sorted(found.keys() - set(own) - ledgers)
        return MonthsHeld(dict(self._sizes(names, own)), tuple(foreign))

    def drop(self, tenant: Tenant, month: str) -> bool:
        """See :class:`search.ports.Months`. The index takes no writes while it is looked at, so that nothing acknowledged is dropped: a write that
        comes just then fails, and when it is repeated the month is made anew."""
        names = Names(self._prefix, tenant)
        found = self._present(names)
        own = [index for index in found if names.month_of(index) == month and self._is_ours(names, index, found[index])]
        return all(self._drop(names, index) for index in own)

    def _drop(self, names: Names, index: str) -> bool:
        self._cluster.put(index, "_settings", body={"index.blocks.write": True})
        self._cluster.refresh(index)
        count = {"size": 0, "track_total_hits": True, "query": every([{"term": {"deleted": False}}])}
        live = self._cluster.search(index, count, tenant=names.tenant)
        if live["hits"]["total"]["value"]:
            self._cluster.put(index, "_settings", body={"index.blocks.write": None})
            return False
        self._cluster.drop(index, ignore_unavailable="true")
        self._indices.forget(names)
        return True

    def _present(self, names: Names) -> Mapping[str, tuple[str, ...]]:
        """Every index under the tenant's names, with its aliases."""
        answer = self._cluster.get("_resolve", "index", f"{names.alias}-*", expand_wildcards="all")
        return {index["name"]: tuple(index.get("aliases", ())) for index in answer["indices"]}

    def _is_ours(self, names: Names, index: str, aliases: tuple[str, ...]) -> bool:
        if names.month_alias(names.month_of(index).replace("-", "")) not in aliases:
            return False
        mapping: Mapping[str, Any] = self._cluster.get(index, "_mapping")[index]["mappings"]
        return "model" in mapping.get("_meta", {})

    def _sizes(self, names: Names, own: list[str]) -> Iterator[tuple[str, int]]:
        sizes: dict[str, int] = {}
        for start in range(0, len(own), 50):
            answer = self._cluster.get(",".join(own[start : start + 50]), "_stats", "store")
            for index, stats in answer["indices"].items():
                month = names.month_of(index)
                sizes[month] = sizes.get(month, 0) + int(stats["primaries"]["store"]["size_in_bytes"])
        yield from sorted(sizes.items())
