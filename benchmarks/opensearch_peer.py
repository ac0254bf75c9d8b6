"""What a bare client reaches on the same cluster with the same records and the same searches: the peer of our OpenSearch engine."""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import opensearchpy
from opensearchpy import helpers

from benchmarks.synthetic import messages
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, DocumentWrite
from search.engines import opensearch_queries as queries
from search.engines.opensearch_names import Names
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_records import live_operations
from search.ranking import LegQuery
from worker.opening import Service

CHUNK = 500
BARE = "waspeed-bare-000001"


def bulk_ratio(service: Service, tenant: Tenant, writes: Sequence[DocumentWrite]) -> float:
    """Documents a second of our write over those of ``opensearchpy.helpers.bulk``, each half of the load in turns, into equal mappings."""
    client = _client(service)
    _make_bare(client, service, tenant, writes[:1])
    ours = theirs = 0.0
    service.engine.write(tenant, writes[:1])
    parts = [writes[start : start + len(writes) // 4] for start in range(0, len(writes), len(writes) // 4)]
    for part in parts:
        ours += _seconds(lambda part=part: _our_load(service, tenant, part))  # type: ignore[misc]
        actions = list(_actions(tenant, part))
        theirs += _seconds(lambda actions=actions: _bare_load(client, actions))  # type: ignore[misc]
    client.indices.delete(index=BARE)
    return theirs / ours


def search_ratio(service: Service, tenant: Tenant) -> float:
    """Median time of our search over that of the bare ``_msearch`` of the same bodies, question by question in turns."""
    client = _client(service)
    alias = Names("waspeed", tenant).alias
    ours, bare = [], []
    for message in messages(3000)[::60]:
        question = str(message["text"])
        vector = service.embedder.embed([question])[0]
        body = queries.legs(alias, tenant, LegQuery(question, vector, EVERYTHING, 100))
        client.msearch(body=body)
        bare.append(_seconds(lambda body=body: client.msearch(body=body)))  # type: ignore[misc]
        ours.append(_seconds(lambda question=question: service.retriever.retrieve(tenant, question)))  # type: ignore[misc]
    return statistics.median(ours) / statistics.median(bare)


def _our_load(service: Service, tenant: Tenant, writes: Sequence[DocumentWrite]) -> None:
    for start in range(0, len(writes), CHUNK):
        service.engine.write(tenant, writes[start : start + CHUNK])
    service.engine.refresh(tenant)


def _bare_load(client: Any, actions: Sequence[dict[str, Any]]) -> None:
    helpers.bulk(client, actions, chunk_size=CHUNK)
    client.indices.refresh(index=BARE)


def _actions(tenant: Tenant, writes: Sequence[DocumentWrite]) -> Iterator[dict[str, Any]]:
    """What a user of the helper would write: dictionaries, vectors as lists of floats."""
    at = Placement(Names("waspeed", tenant), "own", 1)
    for write in writes:
        for operation, vector in zip(live_operations(write, at, 1, "202601"), write.vectors, strict=True):
            assert operation.source is not None
            record = json.loads(operation.source)
            yield {"_op_type": "index", "_index": BARE, "_id": record["passage_id"], "_source": record | {"vector": vector.tolist()}}


def _make_bare(client: Any, service: Service, tenant: Tenant, writes: Sequence[DocumentWrite]) -> None:
    """An index with the settings and mapping of one of ours."""
    service.engine.write(tenant, writes)
    model = next(iter(client.indices.get(index=Names("waspeed", tenant).alias).values()))
    kept = {name: model["settings"]["index"][name] for name in ("knn", "number_of_shards", "number_of_replicas")}
    client.indices.create(index=BARE, body={"settings": {"index": kept}, "mappings": model["mappings"]})


def _client(service: Service) -> Any:
    return opensearchpy.OpenSearch(hosts=[service.settings.engine_url], timeout=120)


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
