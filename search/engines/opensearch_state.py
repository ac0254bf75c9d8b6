"""The state store in OpenSearch: small versioned JSON documents in one index, read by id and changed by compare-and-set."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from runtime.clock import Clock
from runtime.errors import Conflict, InvalidRequest
from runtime.tenancy import Tenant
from search.engines.attribute_terms import attribute_term
from search.engines.intervals import instant, milliseconds
from search.engines.limits import MAX_PAGE, within
from search.engines.opensearch_cluster import Cluster, Operation
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_names import state_index
from search.engines.opensearch_queries import Body, every
from search.engines.ordering import decoded, encoded
from search.ports import StateEntry

MAX_BODY_BYTES = 1_000_000

_ATTEMPTS = 20


class OpenSearchState:
    """Implements :class:`search.ports.StateStore`; safe to use from many threads."""

    def __init__(self, cluster: Cluster, prefix: str, clock: Clock) -> None:
        self._cluster = cluster
        self._index = state_index(prefix)
        self._clock = clock

    def put(
        self,
        tenant: Tenant,
        kind: str,
        entry_id: str,
        body: Mapping[str, Any],
        *,
        labels: Mapping[str, str] | None = None,
        expected: int | None = None,
    ) -> StateEntry:
        """See :class:`search.ports.StateStore`."""
        _as_json(dict(labels or {}), "labels")
        fields = {"labels": dict(labels or {}), "body": _as_json(dict(body), "body")}
        for _ in range(_ATTEMPTS):
            stored = self._stored(tenant, kind, entry_id)
            version = stored["_source"]["version"] if stored else 0
            if expected is not None and expected != version:
                raise Conflict(f"{kind} {entry_id} is at version {version}, not {expected}; read it again, then repeat")
            created_ms = stored["_source"]["created_ms"] if stored else milliseconds(self._clock.now())
            record = {"tenant": tenant, "kind": kind, "entry_id": entry_id, "version": version + 1, "created_ms": created_ms, **fields}
            if self._replaced(stored, record):
                return _entry(record)
        raise Conflict(f"{kind} {entry_id} is being changed by others all the time; read it again, then repeat")

    def get(self, tenant: Tenant, kind: str, entry_id: str) -> StateEntry | None:
        """See :class:`search.ports.StateStore`."""
        stored = self._stored(tenant, kind, entry_id)
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
        found = self._cluster.search(self._index, body)["hits"]["hits"]
        page = found[:first]
        cursor = encoded((page[-1]["sort"][0], page[-1]["sort"][1])) if len(found) > first else None
        return tuple(_entry(hit["_source"]) for hit in page), cursor

    def remove(self, tenant: Tenant, kind: str, entry_ids: Iterable[str]) -> int:
        """See :class:`search.ports.StateStore`."""
        return self._removed([_key(tenant, kind, entry_id) for entry_id in dict.fromkeys(entry_ids)])

    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.StateStore`."""
        removed = 0
        body: Body = {"size": 1000, "_source": False, "query": every([{"term": {"tenant": tenant}}])}
        while True:
            self._cluster.refresh(self._index)
            found = self._cluster.search(self._index, body)["hits"]["hits"]
            if not found:
                return removed
            removed += self._removed([hit["_id"] for hit in found])

    def _stored(self, tenant: Tenant, kind: str, entry_id: str) -> Mapping[str, Any] | None:
        return self._cluster.find(self._index, "_doc", _key(tenant, kind, entry_id))

    def _replaced(self, stored: Mapping[str, Any] | None, record: Mapping[str, Any]) -> bool:
        """Put ``record`` in the place of what was read; False when that has changed meanwhile."""
        key = _key(record["tenant"], record["kind"], record["entry_id"])
        terms = sorted(attribute_term(name, value) for name, value in record["labels"].items())
        address = (
            {"op_type": "create"}
            if stored is None
            else {"if_seq_no": str(stored["_seq_no"]), "if_primary_term": str(stored["_primary_term"])}
        )
        try:
            self._cluster.put(self._index, "_doc", key, body={**record, "label_terms": terms}, repeatable=False, **address)
        except Conflict:
            return False
        return True

    def _removed(self, keys: Iterable[str]) -> int:
        items = self._cluster.bulk([Operation({"delete": {"_index": self._index, "_id": key}}) for key in keys], refresh=True)
        for item in items:
            if item.fate not in ("written", "absent"):
                raise unavailable(f"an entry of the state store could not be removed ({item.reason})")
        return sum(item.fate == "written" for item in items)


def _key(tenant: Tenant, kind: str, entry_id: str) -> str:
    """The tenant is inside the hash: no id of one tenant is an id of another."""
    return hashlib.sha256(json.dumps([tenant, kind, entry_id]).encode()).hexdigest()


def _as_json(value: Mapping[str, Any], field: str) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"cannot be kept as JSON: {error}", field=field) from error
    if len(text) > MAX_BODY_BYTES:
        raise InvalidRequest(f"is longer than {MAX_BODY_BYTES} bytes as JSON", field=field)
    return text


def _entry(record: Mapping[str, Any]) -> StateEntry:
    return StateEntry(
        record["kind"], record["entry_id"], record["version"], instant(record["created_ms"]), json.loads(record["body"]), record["labels"]
    )
