"""Everything under one index prefix of an OpenSearch cluster, read only: no index, template or setting is made or changed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from runtime.errors import Misconfigured, NotFound
from runtime.events import Event, event_from_json
from runtime.tenancy import Tenant
from search.documents import DocumentWrite, StoredVersion
from search.engines.intervals import instant
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_ledger import Ledger
from search.engines.opensearch_names import Names, state_index
from search.engines.opensearch_queries import DOCUMENTS, every
from search.engines.opensearch_records import candidate_of, document_of
from search.moving.archive import PAGE
from search.ports import StateEntry
from search.state_facts import facts_from_json

Source = Mapping[str, Any]

_HASHED = "sha256:"
_TENANTS = 10_000


class OpenSearchArchive:
    """Implements :class:`search.moving.archive.Archive`."""

    def __init__(self, cluster: Cluster, prefix: str) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._ledger = Ledger(cluster)
        self._state = state_index(prefix)
        self.location = f"{cluster.location}/{prefix}"
        self.model, self.dimension = self._made_for()

    def tenants(self) -> tuple[Tenant, ...]:
        """See :class:`search.moving.archive.Archive`."""
        answer = self._cluster.get("_resolve", "index", f"{self._prefix}-*-ledger*", expand_wildcards="all")
        ledgers = re.compile(rf"{self._prefix}-([a-z0-9][a-z0-9_.]*)-ledger\.[0-9]{{6}}\Z")
        named = {match[1].replace(".", "-") for index in answer["indices"] if (match := ledgers.match(index["name"]))}
        self._cluster.refresh(self._state)
        counted = {"size": 0, "aggs": {"tenants": {"terms": {"field": "tenant", "size": _TENANTS}}}}
        found = self._cluster.search(self._state, counted, tenant=None)["aggregations"]["tenants"]
        if found["sum_other_doc_count"]:
            raise Misconfigured(f"more than {_TENANTS:,} tenants have state; move them one by one, with --tenant")
        return tuple(Tenant(name) for name in sorted(named | {bucket["key"] for bucket in found["buckets"]}))

    def total(self, tenant: Tenant) -> int:
        """See :class:`search.moving.archive.Archive`."""
        names = Names(self._prefix, tenant)
        self._cluster.refresh(names.alias)
        query = every([{"term": {"tenant": tenant}}, {"term": {"deleted": False}}, DOCUMENTS])
        found = self._cluster.search(names.alias, {"size": 0, "track_total_hits": True, "query": query}, tenant=tenant)
        return int(found["hits"]["total"]["value"])

    def documents(self, tenant: Tenant) -> Iterator[tuple[DocumentWrite, ...]]:
        """See :class:`search.moving.archive.Archive`."""
        names = Names(self._prefix, tenant)
        clauses: list[dict[str, Any]] = [{"term": {"tenant": tenant}}, {"term": {"deleted": False}}]
        held: list[Source] = []
        for page in self._pages(names.alias, clauses, [{"doc_id": "asc"}, {"number": "asc"}], tenant):
            held += [hit["_source"] for hit in page]
            last = held[-1]["doc_id"]
            whole = [source for source in held if source["doc_id"] != last]
            held = [source for source in held if source["doc_id"] == last]
            if writes := _writes(whole):
                yield writes
        if writes := _writes(held):
            yield writes

    def tombstones(self, tenant: Tenant) -> Iterator[Mapping[str, StoredVersion]]:
        """See :class:`search.moving.archive.Archive`. Ids longer than 500 bytes are known by their hash alone, and left out."""
        for page in self._pages(Names(self._prefix, tenant).ledger, [], [{"_seq_no": "asc"}], None):
            entries = ((hit["_id"], hit["_source"]) for hit in page if hit["_source"]["deleted"] and not hit["_source"].get("pending"))
            yield {key: StoredVersion(entry["version"], entry["content_hash"], deleted=True) for key, entry in entries if _is_id(key)}

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.moving.archive.Archive`."""
        entries = self._ledger.read(Names(self._prefix, tenant), doc_ids)
        return {doc_id: entry.settled for doc_id, entry in entries.items() if entry.settled is not None}

    def entries(self, tenant: Tenant) -> Iterator[tuple[StateEntry, ...]]:
        """See :class:`search.moving.archive.Archive`."""
        clauses: list[dict[str, Any]] = [{"term": {"tenant": tenant}}]
        for page in self._pages(self._state, clauses, [{"kind": "asc"}, {"entry_id": "asc"}], tenant):
            yield tuple(_entry(hit["_source"]) for hit in page if hit["_source"]["kind"])

    def events(self, tenant: Tenant) -> tuple[Event, ...]:
        """See :class:`search.moving.archive.Archive`."""
        clauses: list[dict[str, Any]] = [{"term": {"tenant": tenant}}, {"exists": {"field": "outbox_places"}}]
        pages = self._pages(self._state, clauses, [{"kind": "asc"}, {"entry_id": "asc"}], tenant)
        waiting = {
            each["id"]: (each["place"], each["event"]) for page in pages for hit in page for each in hit["_source"].get("outbox", ())
        }
        return tuple(event_from_json(json.loads(text)) for _, text in sorted(waiting.values()))

    def close(self) -> None:
        """Drop the connections."""
        self._cluster.close()

    def _pages(
        self, index: str, clauses: Sequence[Mapping[str, Any]], sort: Sequence[Mapping[str, str]], tenant: Tenant | None
    ) -> Iterator[Sequence[Mapping[str, Any]]]:
        self._cluster.refresh(index)
        body: dict[str, Any] = {"size": PAGE, "query": every([dict(clause) for clause in clauses]), "sort": list(sort)}
        while found := self._cluster.search(index, body, tenant=tenant)["hits"]["hits"]:
            yield found
            body["search_after"] = found[-1]["sort"]

    def _made_for(self) -> tuple[str, int]:
        mapping = self._cluster.find(self._state, "_mapping")
        if mapping is None:
            raise NotFound(f"there is no {self._state} at {self._cluster.location}")
        meta = mapping[self._state]["mappings"].get("_meta", {})
        if "model" not in meta:
            raise Misconfigured(f"{self._state} was not made by WisdomAgent")
        return str(meta["model"]), int(meta["dimension"])


def _is_id(key: str) -> bool:
    return not key.startswith(_HASHED)


def _writes(sources: Sequence[Source]) -> tuple[DocumentWrite, ...]:
    """Whole documents, from records in the order of their ids and numbers. Those of an older version are on their way out."""
    found = []
    for _, group in groupby(sources, key=lambda source: str(source["doc_id"])):
        records = list(group)
        version = max(record["version"] for record in records)
        newest = [record for record in records if record["version"] == version]
        document = document_of(newest[0])
        passages = tuple(candidate_of(record).passage for record in newest)
        vectors = np.array([record["vector"] for record in newest], dtype=np.float32)
        found.append(DocumentWrite(document, version, newest[0]["content_hash"], newest[0]["group_key"], passages, vectors))
    return tuple(found)


def _entry(record: Source) -> StateEntry:
    return StateEntry(
        record["kind"],
        record["entry_id"],
        record["version"],
        instant(record["created_ms"]),
        json.loads(record["body"]),
        record["labels"],
        facts_from_json(record.get("facts")),
    )
