"""The state store in OpenSearch: small versioned JSON documents in one index, read by id and changed by compare-and-set."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runtime.clock import Clock
from runtime.errors import Conflict
from runtime.events import Event
from runtime.tenancy import Tenant
from search.engines.attribute_terms import attribute_term
from search.engines.intervals import instant, milliseconds
from search.engines.limits import MAX_PAGE, within
from search.engines.opensearch_cluster import Cluster, Operation, to_json
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_items import Item
from search.engines.opensearch_names import state_index
from search.engines.opensearch_outbox import REMOVED, Places, address, fields, oldest, pending_of, queued, removal, without
from search.engines.opensearch_queries import Body, every
from search.engines.ordering import decoded, encoded
from search.engines.state_json import as_json, event_json
from search.ports import StateEntry
from search.state_facts import Fact, facts_as_json, facts_from_json

_ATTEMPTS = 20


class OpenSearchState:
    """Implements :class:`search.ports.StateStore`; safe to use from many threads."""

    def __init__(self, cluster: Cluster, prefix: str, clock: Clock) -> None:
        self._cluster = cluster
        self._index = state_index(prefix)
        self._clock = clock
        self._places = Places(clock)

    def put(
        self,
        tenant: Tenant,
        kind: str,
        entry_id: str,
        body: Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
        expected: int | None = None,
        event: Event | None = None,
    ) -> StateEntry:
        """See :class:`search.ports.StateStore`."""
        as_json(dict(labels or {}), "labels")
        written = {"labels": dict(labels or {}), "facts": facts_as_json(facts), "body": as_json(dict(body), "body")}
        told = "" if event is None else event_json(tenant, event)
        for _ in range(_ATTEMPTS):
            stored = self._record(tenant, kind, entry_id)
            known = _present(stored)
            version = known["_source"]["version"] if known else 0
            if expected is not None and expected != version:
                raise Conflict(f"{kind} {entry_id} is at version {version}, not {expected}; read it again, then repeat")
            created_ms = known["_source"]["created_ms"] if known else milliseconds(self._clock.now())
            record = {"tenant": tenant, "kind": kind, "entry_id": entry_id, "version": version + 1, "created_ms": created_ms, **written}
            pending = pending_of(stored) if event is None else queued(pending_of(stored), event, told, self._places)
            if self._replaced(stored, {**record, **fields(pending)}):
                return _entry(record)
        raise Conflict(f"{kind} {entry_id} is being changed by others all the time; read it again, then repeat")

    def adopt(self, tenant: Tenant, entries: Sequence[StateEntry]) -> int:
        """See :class:`search.moving.archive.StateReceiver`. Events that wait with an entry stay with it."""
        keyed = {_key(tenant, entry.kind, entry.entry_id): entry for entry in entries}
        addresses = [{"_index": self._index, "_id": key} for key in keyed]
        found = self._cluster.records(addresses, tenant=tenant, fields="tenant,kind,version,outbox") if addresses else ()
        here = {record["_id"]: record for record in found}
        behind = {
            key: entry for key, entry in keyed.items() if (known := _present(here.get(key))) is None or _version(known) < entry.version
        }
        items = self._cluster.bulk([self._adoption(tenant, key, entry, here.get(key)) for key, entry in behind.items()])
        _refuse_failures(items)
        return sum(item.fate == "written" for item in items)

    def _adoption(self, tenant: Tenant, key: str, entry: StateEntry, stored: Mapping[str, Any] | None) -> Operation:
        record = {
            "tenant": tenant,
            "kind": entry.kind,
            "entry_id": entry.entry_id,
            "version": entry.version,
            "created_ms": milliseconds(entry.created_at),
            "labels": dict(entry.labels),
            "label_terms": _terms(entry.labels),
            "facts": facts_as_json(entry.facts),
            "body": as_json(dict(entry.body), "body"),
            **fields(pending_of(stored)),
        }
        action = {"create": {"_index": self._index, "_id": key}} if stored is None else {"index": address(stored)}
        return Operation(action, to_json(record))

    def get(self, tenant: Tenant, kind: str, entry_id: str) -> StateEntry | None:
        """See :class:`search.ports.StateStore`."""
        stored = _present(self._record(tenant, kind, entry_id))
        return _entry(stored["_source"]) if stored else None

    def entries(
        self,
        tenant: Tenant,
        kind: str,
        *,
        labels: Mapping[str, str] | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> tuple[tuple[StateEntry, ...], str | None]:
        """See :class:`search.ports.StateStore`. The index is refreshed first, so that every put is listed."""
        within(first, 1, MAX_PAGE, "first")
        clauses: list[Body] = [{"term": {"tenant": tenant}}, {"term": {"kind": kind}}]
        clauses += [{"term": {"label_terms": attribute_term(name, value)}} for name, value in (labels or {}).items()]
        body: Body = {"size": first + 1, "query": every(clauses), "sort": [{"created_ms": "desc"}, {"entry_id": "asc"}]}
        if after is not None:
            body["search_after"] = list(decoded(after))
        self._cluster.refresh(self._index)
        found = self._cluster.search(self._index, body, tenant=tenant)["hits"]["hits"]
        page = found[:first]
        cursor = encoded((page[-1]["sort"][0], page[-1]["sort"][1])) if len(found) > first else None
        return tuple(_entry(hit["_source"]) for hit in page), cursor

    def remove(self, tenant: Tenant, kind: str, entry_ids: Iterable[str]) -> int:
        """See :class:`search.ports.StateStore`."""
        keys, removed = [_key(tenant, kind, entry_id) for entry_id in dict.fromkeys(entry_ids)], 0
        for start in range(0, len(keys), MAX_PAGE):
            removed += self._removed(tenant, keys[start : start + MAX_PAGE])
        return removed

    def _removed(self, tenant: Tenant, keys: Sequence[str]) -> int:
        removed = 0
        for _ in range(_ATTEMPTS):
            found = [record for record in self._records(tenant, keys) if _present(record)]
            if not found:
                return removed
            written, keys = self._changed(found, [removal(record) for record in found])
            removed += written
            if not keys:
                self._cluster.refresh(self._index)
                return removed
        raise Conflict("entries are being changed by others all the time; remove them again")

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.StateStore`."""
        removed = 0
        body: Body = {"size": MAX_PAGE, "_source": ["tenant", "kind"], "query": every([{"term": {"tenant": tenant}}])}
        while True:
            self._cluster.refresh(self._index)
            found = self._cluster.search(self._index, body, tenant=tenant)["hits"]["hits"]
            if not found:
                return removed
            items = self._cluster.bulk([Operation({"delete": {"_index": self._index, "_id": hit["_id"]}}) for hit in found])
            _refuse_failures(items)
            pairs = zip(found, items, strict=True)
            removed += sum(item.fate == "written" and hit["_source"]["kind"] != REMOVED for hit, item in pairs)

    def scan(self, kind: str, *, labels: Mapping[str, str] | None = None) -> Iterator[tuple[Tenant, StateEntry]]:
        """See :class:`search.ports.StateStore`. The index is refreshed first, so that every put is found."""
        clauses: list[Body] = [{"term": {"kind": kind}}]
        clauses += [{"term": {"label_terms": attribute_term(name, value)}} for name, value in (labels or {}).items()]
        body: Body = {"size": MAX_PAGE, "query": every(clauses), "sort": [{"tenant": "asc"}, {"entry_id": "asc"}]}
        self._cluster.refresh(self._index)
        while True:
            found = self._cluster.search(self._index, body, tenant=None)["hits"]["hits"]
            for hit in found:
                yield Tenant(hit["_source"]["tenant"]), _entry(hit["_source"])
            if len(found) < MAX_PAGE:
                return
            body["search_after"] = found[-1]["sort"]

    def outbox(self, *, first: int = 100) -> tuple[Event, ...]:
        """See :class:`search.ports.StateStore`."""
        within(first, 1, MAX_PAGE, "first")
        sort = [{"outbox_places": "asc"}, {"entry_id": "asc"}]
        body: Body = {"size": first, "_source": ["outbox"], "query": every([{"exists": {"field": "outbox_places"}}]), "sort": sort}
        self._cluster.refresh(self._index)
        return oldest(self._cluster.search(self._index, body, tenant=None)["hits"]["hits"], first)

    def settle(self, events: Iterable[Event]) -> None:
        """See :class:`search.ports.StateStore`."""
        ids = list(dict.fromkeys(event.event_id for event in events))
        for start in range(0, len(ids), MAX_PAGE):
            self._settle(ids[start : start + MAX_PAGE])

    def _settle(self, ids: Sequence[str]) -> None:
        query = every([{"terms": {"outbox_ids": list(ids)}}])
        body: Body = {"size": MAX_PAGE, "_source": ["outbox", "kind"], "seq_no_primary_term": True, "query": query}
        for _ in range(_ATTEMPTS):
            self._cluster.refresh(self._index)
            found = self._cluster.search(self._index, body, tenant=None)["hits"]["hits"]
            if not found:
                return
            self._changed(found, [without(record, ids) for record in found])
        raise Conflict("entries are being changed by others all the time; settle their events again")

    def _changed(self, records: Sequence[Mapping[str, Any]], operations: Sequence[Operation]) -> tuple[int, list[str]]:
        """How many operations took effect, and the keys of the records that had changed meanwhile."""
        items = self._cluster.bulk(operations)
        _refuse_failures(items)
        late = [record["_id"] for record, item in zip(records, items, strict=True) if item.fate == "stale"]
        return sum(item.fate == "written" for item in items), late

    def _record(self, tenant: Tenant, kind: str, entry_id: str) -> Mapping[str, Any] | None:
        return self._cluster.record(self._index, _key(tenant, kind, entry_id), tenant=tenant)

    def _records(self, tenant: Tenant, keys: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        addresses = [{"_index": self._index, "_id": key} for key in keys]
        return self._cluster.records(addresses, tenant=tenant, fields="tenant,kind,entry_id,outbox") if addresses else ()

    def _replaced(self, stored: Mapping[str, Any] | None, record: Mapping[str, Any]) -> bool:
        """Put ``record`` in the place of what was read; False when that has changed meanwhile."""
        key = _key(record["tenant"], record["kind"], record["entry_id"])
        unless_changed = (
            {"op_type": "create"}
            if stored is None
            else {"if_seq_no": str(stored["_seq_no"]), "if_primary_term": str(stored["_primary_term"])}
        )
        try:
            self._cluster.put(
                self._index, "_doc", key, body={**record, "label_terms": _terms(record["labels"])}, repeatable=False, **unless_changed
            )
        except Conflict:
            return False
        return True


def _terms(labels: Mapping[str, str]) -> list[str]:
    return sorted(attribute_term(name, value) for name, value in labels.items())


def _version(record: Mapping[str, Any]) -> int:
    return int(record["_source"]["version"])


def _present(record: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The record, unless its entry was removed and it is there for its pending events alone."""
    return None if record is None or record["_source"]["kind"] == REMOVED else record


def _refuse_failures(items: Iterable[Item]) -> None:
    for item in items:
        if item.fate not in ("written", "absent", "stale") and "document_missing" not in item.reason:
            raise unavailable(f"an entry of the state store could not be changed ({item.reason})")


def _key(tenant: Tenant, kind: str, entry_id: str) -> str:
    """The tenant is inside the hash: no id of one tenant is an id of another."""
    return hashlib.sha256(json.dumps([tenant, kind, entry_id]).encode()).hexdigest()


def _entry(record: Mapping[str, Any]) -> StateEntry:
    return StateEntry(
        kind=record["kind"],
        entry_id=record["entry_id"],
        version=record["version"],
        created_at=instant(record["created_ms"]),
        body=json.loads(record["body"]),
        labels=record["labels"],
        facts=facts_from_json(record.get("facts")),
    )
