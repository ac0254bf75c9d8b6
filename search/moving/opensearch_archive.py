"""Everything under one index prefix of an OpenSearch cluster, read only: no index, template or setting is made or changed."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from search.engines.opensearch_names import Names, every_ledger, record_key, state_index
from search.engines.opensearch_queries import DOCUMENTS, every
from search.engines.opensearch_records import candidate_of, document_of
from search.moving.archive import PAGE
from search.ports import StateEntry
from search.state_facts import facts_from_json

Source = Mapping[str, Any]

_HASHED = "sha256:"
_TENANTS = 10_000


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """What the ledger says of a document. ``settled`` is what counts: of a change that is under way, what was before."""

    key: str
    settled: StoredVersion | None
    pending: bool

    @classmethod
    def of(cls, key: str, entry: Source) -> "LedgerChange":
        """Read from a record."""
        pending = bool(entry.get("pending"))
        said = entry.get("before") if pending else entry
        return cls(key, StoredVersion(said["version"], said["content_hash"], said["deleted"]) if said else None, pending)


class OpenSearchArchive:
    """Implements :class:`search.moving.archive.Archive`: documents under ``prefix``, state under ``state_prefix``."""

    def __init__(self, cluster: Cluster, prefix: str, state_prefix: str | None = None) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._ledger = Ledger(cluster)
        self._state = state_index(state_prefix or prefix)
        self.location = f"{cluster.location}/{state_prefix or prefix}"
        self.model, self.dimension = self._made_for()

    def tenants(self) -> tuple[Tenant, ...]:
        """See :class:`search.moving.archive.Archive`."""
        named = {str(tenant) for tenant in self.with_documents()}
        self._cluster.refresh(self._state)
        counted = {"size": 0, "aggs": {"tenants": {"terms": {"field": "tenant", "size": _TENANTS}}}}
        found = self._cluster.search(self._state, counted, tenant=None)["aggregations"]["tenants"]
        if found["sum_other_doc_count"]:
            raise Misconfigured(f"more than {_TENANTS:,} tenants have state; move them one by one, with --tenant")
        return tuple(Tenant(name) for name in sorted(named | {bucket["key"] for bucket in found["buckets"]}))

    def with_documents(self) -> tuple[Tenant, ...]:
        """Everyone with documents or tombstones, in order."""
        answer = self._cluster.get("_resolve", "index", every_ledger(self._prefix), expand_wildcards="all")
        ledgers = re.compile(rf"{self._prefix}-([a-z0-9][a-z0-9_.]*)-ledger\.[0-9]{{6}}\Z")
        found = {match[1].replace(".", "-") for index in answer["indices"] if (match := ledgers.match(index["name"]))}
        return tuple(Tenant(name) for name in sorted(found))

    def total(self, tenant: Tenant) -> int:
        """See :class:`search.moving.archive.Archive`."""
        names = Names(self._prefix, tenant)
        self._cluster.refresh(names.alias)
        query = every([{"term": {"tenant": tenant}}, {"term": {"deleted": False}}, DOCUMENTS])
        found = self._cluster.search(names.alias, {"size": 0, "track_total_hits": True, "query": query}, tenant=tenant)
        return int(found["hits"]["total"]["value"])

    def documents(self, tenant: Tenant, doc_ids: Sequence[str] | None = None) -> Iterator[tuple[DocumentWrite, ...]]:
        """See :class:`search.moving.archive.Archive`; of these ids alone when some are given."""
        names = Names(self._prefix, tenant)
        clauses: list[dict[str, Any]] = [{"term": {"tenant": tenant}}, {"term": {"deleted": False}}]
        clauses += [] if doc_ids is None else [{"terms": {"doc_id": list(doc_ids)}}]
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

    def place(self, tenant: Tenant) -> int:
        """Where its ledger is now: of every operation up to there, :meth:`changes` shows the outcome, when it is asked after this."""
        names = Names(self._prefix, tenant)
        answer = self._cluster.find(names.ledger, "_stats", "docs", level="shards") or {"indices": {}}
        copies = [copy for stats in answer["indices"].values() for shard in stats["shards"].values() for copy in shard]
        return max((int(copy["seq_no"]["local_checkpoint"]) for copy in copies if copy["routing"]["primary"]), default=-1)

    def changes(self, tenant: Tenant, after: int) -> Iterator[tuple["LedgerChange", ...]]:
        """What the ledger says of every document that was changed after a place, or before it was looked at whole, in the order of the last change."""
        clauses: list[dict[str, Any]] = [{"range": {"_seq_no": {"gt": after}}}]
        for page in self._pages(Names(self._prefix, tenant).ledger, clauses, [{"_seq_no": "asc"}], None):
            yield tuple(LedgerChange.of(hit["_id"], hit["_source"]) for hit in page)

    def changes_of(self, tenant: Tenant, doc_ids: Collection[str]) -> tuple["LedgerChange", ...]:
        """What it says of these documents now."""
        entries = self._ledger.read(Names(self._prefix, tenant), sorted(doc_ids))
        return tuple(LedgerChange(record_key(doc_id), entry.settled, entry.pending) for doc_id, entry in entries.items())

    def ids_of(self, tenant: Tenant, keys: Collection[str]) -> Mapping[str, str]:
        """Ids of live documents and of tombstones by their keys in the ledger. Long ids, known there by a hash, are looked for among live documents."""
        found = {key: key for key in keys if _is_id(key)}
        if hashed := {key for key in keys if not _is_id(key)}:
            ids = (write.document.doc_id for writes in self.documents(tenant) for write in writes)
            found |= {key: doc_id for doc_id in ids if (key := record_key(doc_id)) in hashed}
        return found

    def held(self, tenant: Tenant, without: Collection[str]) -> Mapping[str, tuple[int, int]]:
        """How many live documents and passages there are by month, but for these ids."""
        clauses: list[dict[str, Any]] = [
            {"term": {"tenant": tenant}},
            {"term": {"deleted": False}},
            {"bool": {"must_not": [{"terms": {"doc_id": sorted(without)}}]}},
        ]
        by_month = {"date_histogram": {"field": "occurred_at", "calendar_interval": "month", "format": "yyyy-MM", "min_doc_count": 1}}
        aggregations = {"months": {**by_month, "aggs": {"documents": {"filter": DOCUMENTS}}}}
        alias = Names(self._prefix, tenant).alias
        self._cluster.refresh(alias)
        answer = self._cluster.search(alias, {"size": 0, "query": every(clauses), "aggs": aggregations}, tenant=tenant)
        buckets = answer.get("aggregations", {}).get("months", {}).get("buckets", [])
        return {each["key_as_string"]: (each["documents"]["doc_count"], each["doc_count"]) for each in buckets}

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
        marker = state_index(self._prefix)
        mapping = self._cluster.find(marker, "_mapping")
        if mapping is None:
            raise NotFound(f"there is no {marker} at {self._cluster.location}")
        meta = mapping[marker]["mappings"].get("_meta", {})
        if "model" not in meta:
            raise Misconfigured(f"{marker} was not made by WisdomAgent")
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
