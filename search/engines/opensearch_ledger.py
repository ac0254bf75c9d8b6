"""The ledger: one small record per document id, where all writers agree on the newest version before any passage is touched.

A document's passages live in the index of its month, and its month may change; so nothing about a passage's address can tell two writers of one
document apart. The ledger can: its records are read by id, which sees every acknowledged write at once, and changed by compare-and-set.

A change is *claimed* (the entry names the new version and is ``pending``), carried out, and *settled*. Whoever finds a pending entry waits for its
writer, and after :data:`LEASE_S` takes the claim over and carries it out again, which is harmless because every passage is written with its version.
``places`` are all months where live passages may be, those of a claim included, so that nothing is left behind wherever a writer was killed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.documents import StoredVersion
from search.engines.opensearch_cluster import Cluster, Operation, to_json
from search.engines.opensearch_errors import unavailable
from search.engines.opensearch_items import Item
from search.engines.opensearch_names import Names, record_key

LEASE_S = 5.0
"""How long a claim is its writer's alone. Taking over a live writer's claim would be harmless; it only blurs who wrote what."""


@dataclass(frozen=True, slots=True)
class Place:
    """Passages 0 to ``passages`` - 1 of a document, in one month."""

    month: str
    passages: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger holds of a document. ``before`` is what counts while the change is pending; ``seq_no`` and ``primary_term`` are its address."""

    doc_id: str
    version: int
    content_hash: str
    deleted: bool
    places: tuple[Place, ...]
    pending: bool = True
    before: StoredVersion | None = None
    claimed_ms: int = 0
    seq_no: int = -1
    primary_term: int = -1

    @classmethod
    def unseen(cls, doc_id: str) -> "Entry":
        """What there is before the first claim."""
        return cls(doc_id, version=0, content_hash="", deleted=False, places=())

    @property
    def newest(self) -> StoredVersion:
        """The newest version, claimed or settled."""
        return StoredVersion(self.version, self.content_hash, self.deleted)

    @property
    def settled(self) -> StoredVersion | None:
        """The version that counts."""
        return self.before if self.pending else self.newest


def merged(*places: Place) -> tuple[Place, ...]:
    """Each month once, with the most passages."""
    most: dict[str, int] = {}
    for place in places:
        most[place.month] = max(place.passages, most.get(place.month, 0))
    return tuple(Place(month, most[month]) for month in sorted(most))


class Ledger:
    """The ledgers of all tenants."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def read(self, names: Names, doc_ids: Sequence[str]) -> dict[str, Entry]:
        """The entries of those ids that have one, as of now."""
        if not doc_ids:
            return {}
        by_key = {record_key(doc_id): doc_id for doc_id in doc_ids}
        found = self._cluster.records([{"_index": names.ledger, "_id": key} for key in by_key], tenant=None)
        return {by_key[each["_id"]]: _entry(by_key[each["_id"]], each) for each in found}

    def claim(self, names: Names, entries: Sequence[Entry]) -> list[Entry | None]:
        """Put each entry in the place of the one it was made from; None where another writer was first."""
        items = self._put(names, entries)
        return [
            replace(entry, seq_no=item.seq_no, primary_term=item.primary_term) if item.fate == "written" else None
            for entry, item in zip(entries, items, strict=True)
        ]

    def settle(self, names: Names, claims: Sequence[Entry], places: Sequence[tuple[Place, ...]]) -> list[bool]:
        """The changes are carried out. False for a claim that another writer has taken over meanwhile: that one settles it."""
        settled = [replace(claim, pending=False, before=None, places=where) for claim, where in zip(claims, places, strict=True)]
        return [item.fate == "written" for item in self._put(names, settled)]

    def release(self, names: Names, claims: Sequence[Entry]) -> None:
        """Give claims up that cannot be carried out where they were decided. They stay pending, and are anybody's at once."""
        self._put(names, [replace(claim, claimed_ms=0) for claim in claims])

    def give_up(self, names: Names, claims: Sequence[Mapping[str, Any]]) -> None:
        """As :meth:`release`, in the place of writers that are gone; ``claims`` are hits of a search. One that is settled meanwhile stays so."""
        self._written(
            [
                Operation(
                    {"index": _address(names, claim["_id"], claim["_seq_no"], claim["_primary_term"])},
                    to_json(claim["_source"] | {"claimed_ms": 0}),
                )
                for claim in claims
            ]
        )

    def adopt(self, names: Names, entry: Entry, newer: Sequence[Operation]) -> None:
        """Tell the ledger of records that are newer than it knows; ``newer`` are operations that met them."""
        addresses = [{"_index": address["_index"], "_id": address["_id"]} for each in newer for address in each.action.values()]
        found = self._cluster.records(addresses, tenant=names.tenant, fields="tenant,content_hash,deleted")
        newest = max(found, key=lambda each: int(each["_version"]), default=None)
        if newest is not None:
            version, source = int(newest["_version"]) // 2, newest["_source"]
            content_hash = source.get("content_hash", "")
            self._put(
                names, [replace(entry, version=version, content_hash=content_hash, deleted=source["deleted"], pending=False, before=None)]
            )

    def _put(self, names: Names, entries: Sequence[Entry]) -> tuple[Item, ...]:
        return self._written([_operation(names, entry) for entry in entries])

    def _written(self, operations: Sequence[Operation]) -> tuple[Item, ...]:
        items = self._cluster.bulk(operations)
        for item in items:
            if item.fate not in ("written", "stale"):
                raise unavailable(f"the ledger of a tenant could not be written ({item.reason})")
        return items


def _operation(names: Names, entry: Entry) -> Operation:
    key = record_key(entry.doc_id)
    if entry.seq_no < 0:
        return Operation({"create": {"_index": names.ledger, "_id": key, "require_alias": True}}, to_json(_body(entry)))
    return Operation({"index": _address(names, key, entry.seq_no, entry.primary_term)}, to_json(_body(entry)))


def _address(names: Names, key: str, seq_no: int, primary_term: int) -> dict[str, Any]:
    return {"_index": names.ledger, "_id": key, "require_alias": True, "if_seq_no": seq_no, "if_primary_term": primary_term}


def _body(entry: Entry) -> dict[str, Any]:
    body: dict[str, Any] = {
        "version": entry.version,
        "content_hash": entry.content_hash,
        "deleted": entry.deleted,
        "places": {place.month: place.passages for place in entry.places},
    }
    if entry.pending:
        body |= {"pending": True, "claimed_ms": entry.claimed_ms}
    if entry.before is not None:
        before = entry.before
        body["before"] = {"version": before.version, "content_hash": before.content_hash, "deleted": before.deleted}
    return body


def _entry(doc_id: str, answer: Mapping[str, Any]) -> Entry:
    body: Mapping[str, Any] = answer["_source"]
    before = body.get("before")
    return Entry(
        doc_id=doc_id,
        version=body["version"],
        content_hash=body["content_hash"],
        deleted=body["deleted"],
        places=tuple(Place(month, passages) for month, passages in sorted(body["places"].items())),
        pending=body.get("pending", False),
        before=StoredVersion(**before) if before else None,
        claimed_ms=body.get("claimed_ms", 0),
        seq_no=answer["_seq_no"],
        primary_term=answer["_primary_term"],
    )
