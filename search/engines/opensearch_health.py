"""How a cluster is, in a few words for /ready and ``wisdom doctor``; nothing depends on it, so what may not be read is left out."""

from collections.abc import Mapping

from runtime.errors import ServiceError
from search.engines.opensearch_cluster import Cluster


def health_of(cluster: Cluster) -> Mapping[str, str]:
    """``cluster_status`` (green, yellow, red), ``nodes``, ``shards_missing`` (copies that no node holds) and ``shard_balance``: shards of the emptiest
    data node per shard of the fullest, 1 when they are spread evenly. Asked of the node that answers, so it is told without a cluster manager too."""
    try:
        health = cluster.get("_cluster", "health", local="true")
        allocation = cluster.rows("_cat", "allocation", format="json", h="shards,node", local="true")
    except ServiceError:
        return {}
    return {
        "cluster_status": str(health["status"]),
        "nodes": str(health["number_of_nodes"]),
        "shards_missing": str(health["unassigned_shards"] + health["initializing_shards"]),
        "shard_balance": f"{balance([int(row['shards']) for row in allocation if row['node'] != 'UNASSIGNED']):.2f}",
    }


def balance(shards: list[int]) -> float:
    """Fewest per most shards of a node; 1 for one node, or for none with shards."""
    return min(shards) / max(shards) if any(shards) else 1.0
