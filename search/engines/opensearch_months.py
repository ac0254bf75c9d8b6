"""Months of the OpenSearch engine: an index each, dropped by the month in its name, and only when we made it. Of a month of the pool only what is the
tenant's is dropped, and the index when nothing of anybody is left in it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from runtime.tenancy import Tenant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_indices import Indices
from search.engines.opensearch_names import Names, index_month, is_pool_index
from search.engines.opensearch_sweeping import LIVE, Sweep
from search.ports import MonthsHeld


class OpenSearchMonths:
    """Implements :class:`search.ports.Months`."""

    def __init__(self, cluster: Cluster, indices: Indices, prefix: str) -> None:
        self._cluster = cluster
        self._indices = indices
        self._prefix = prefix
        self._sweep = Sweep(cluster)

    def held(self, tenant: Tenant) -> MonthsHeld:
        """See :class:`search.ports.Months`. Bytes of primary shards; replicas come on top."""
        names = Names(self._prefix, tenant)
        found = self._present(names)
        own = sorted(index for index in found if self._is_ours(names, index, found[index]))
        ledgers = {index for index in found if names.ledger in found[index]}
        foreign = sorted(index for index in found.keys() - set(own) - ledgers if not self._is_of_a_move(names, index, found[index]))
        sizes = Counter(dict(self._sizes(names, own)))
        for index in self._pooled(names):
            sizes[_month(index)] += self._share(names, index)
        return MonthsHeld({month: size for month, size in sorted(sizes.items()) if size}, tuple(foreign))

    def drop(self, tenant: Tenant, month: str) -> bool:
        """See :class:`search.ports.Months`. The index takes no writes while it is looked at, so that nothing acknowledged is dropped: a write that
        comes just then fails, and when it is repeated the month is made anew."""
        names = Names(self._prefix, tenant)
        found = self._present(names)
        own = [index for index in found if names.month_of(index) == month and self._is_ours(names, index, found[index])]
        pooled = [index for index in self._pooled(names) if _month(index) == month]
        return all(self._leave(names, index) for index in pooled) and all(self._drop(names, index) for index in own)

    def _drop(self, names: Names, index: str) -> bool:
        self._cluster.put(index, "_settings", body={"index.blocks.write": True})
        self._cluster.refresh(index)
        if self._sweep.count(index, names.tenant, LIVE):
            self._cluster.put(index, "_settings", body={"index.blocks.write": None})
            return False
        self._cluster.drop(index, ignore_unavailable="true")
        self._indices.forget(names)
        return True

    def _leave(self, names: Names, index: str) -> bool:
        """Only what is deleted is removed, each record by its version, so that nothing written meanwhile goes."""
        self._cluster.refresh(index)
        if self._sweep.count(index, names.tenant, LIVE):
            return False
        if self._sweep.bury(index, names.tenant):
            self._sweep.expunge(index)
        if not self._records(index):
            self._drop_empty(names, index)
        return True

    def _drop_empty(self, names: Names, index: str) -> None:
        """Drop a month of the pool that has no record, unless one comes just then."""
        self._cluster.put(index, "_settings", body={"index.blocks.write": True})
        self._cluster.refresh(index)
        if self._records(index):
            self._cluster.put(index, "_settings", body={"index.blocks.write": None})
            return
        self._cluster.drop(index, ignore_unavailable="true")
        self._indices.forget(names)

    def _pooled(self, names: Names) -> list[str]:
        return [index for index in self._indices.months(names) if is_pool_index(index)]

    def _share(self, names: Names, index: str) -> int:
        """Of the bytes of a month of the pool, those of the tenant if all records were of one size."""
        records = self._sweep.count(index, names.tenant)
        stats = self._cluster.get(index, "_stats", "store,docs")["indices"][index]["primaries"]
        return records and max(1, stats["store"]["size_in_bytes"] * records // max(records, stats["docs"]["count"]))

    def _records(self, index: str) -> int:
        return int(self._cluster.get(index, "_stats", "docs")["indices"][index]["primaries"]["docs"]["count"])

    def _present(self, names: Names) -> Mapping[str, tuple[str, ...]]:
        """Every index under the tenant's names, with its aliases."""
        answer = self._cluster.get("_resolve", "index", f"{names.alias}-*", expand_wildcards="all")
        return {index["name"]: tuple(index.get("aliases", ())) for index in answer["indices"]}

    def _is_ours(self, names: Names, index: str, aliases: tuple[str, ...]) -> bool:
        if not names.holds(index) or not {names.alias, names.month_alias(index_month(index))} <= set(aliases):
            return False
        mapping: Mapping[str, Any] = self._cluster.get(index, "_mapping")[index]["mappings"]
        return "model" in mapping.get("_meta", {})

    def _is_of_a_move(self, names: Names, index: str, aliases: tuple[str, ...]) -> bool:
        """Filled or left by one, and read by nobody: it goes when the move ends."""
        return names.alias not in aliases and names.owns(index, aliases)

    def _sizes(self, names: Names, own: list[str]) -> Iterator[tuple[str, int]]:
        sizes: dict[str, int] = {}
        for start in range(0, len(own), 50):
            answer = self._cluster.get(",".join(own[start : start + 50]), "_stats", "store")
            for index, stats in answer["indices"].items():
                month = names.month_of(index)
                sizes[month] = sizes.get(month, 0) + int(stats["primaries"]["store"]["size_in_bytes"])
        yield from sorted(sizes.items())


def _month(index: str) -> str:
    month = index_month(index)
    return f"{month[:4]}-{month[4:]}"
