"""Holding a copy against its source: by count and hash, for each tenant and month, from what both stores give back when asked."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from runtime.tenancy import Tenant
from search.documents import DocumentWrite, StoredVersion
from search.engines.intervals import milliseconds
from search.engines.opensearch_names import record_key
from search.identity import content_hash
from search.moving.archive import Archive
from search.moving.copying import has_documents, version_of
from search.ports import StateEntry
from search.state_facts import facts_as_json
from search.versions import is_behind

_WRAP = 1 << 256

TOMBSTONES = "deleted"
STATE = "state"


@dataclass(frozen=True, slots=True)
class Compared:
    """One line of the comparison. ``part`` is a month (``2026-01``), ``deleted``, or ``state`` and a kind. ``kept`` counts what the target has newer or
    of its own, which only a merge leaves there."""

    tenant: Tenant
    part: str
    source: int
    target: int
    same: bool
    kept: int = 0


@dataclass(slots=True)
class _Tally:
    """Things counted and added up as hashes, so that their order does not matter."""

    count: int = 0
    total: int = 0

    def add(self, *parts: object, more: bytes = b"") -> None:
        text = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
        self.count += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(text + b"\0" + more).digest())) % _WRAP


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares tenants. Vectors are compared unless they were made anew."""

    source: Archive
    target: Archive
    vectors: bool
    merge: bool

    def of(self, tenant: Tenant, wanted: Callable[[StateEntry], bool]) -> Iterator[Compared]:
        """Every line of a tenant; one side may have nothing."""
        if has_documents(tenant):
            yield from self._documents(tenant)
            yield from self._tombstones(tenant)
        yield from self._entries(tenant, wanted)

    def _documents(self, tenant: Tenant) -> Iterator[Compared]:
        ours, own = self._months(tenant, self.source, self.target)
        theirs, kept = self._months(tenant, self.target, self.source)
        for month in sorted(ours.keys() | theirs.keys() | own.keys() | kept.keys()):
            source, target = ours.get(month, _Tally()), theirs.get(month, _Tally())
            yield Compared(tenant, month, source.count, target.count, source == target, kept.get(month, 0))

    def _months(self, tenant: Tenant, archive: Archive, other: Archive) -> tuple[dict[str, _Tally], dict[str, int]]:
        """What both are to have, by month; and how many of a month are not."""
        tallies: dict[str, _Tally] = {}
        left: dict[str, int] = {}
        for writes in archive.documents(tenant):
            common = self._common(tenant, [(write.document.doc_id, version_of(write)) for write in writes], archive, other)
            for write in writes:
                month = f"{write.document.occurred_at:%Y-%m}"
                if write.document.doc_id in common:
                    self._add(tallies.setdefault(month, _Tally()), write)
                else:
                    left[month] = left.get(month, 0) + 1
        return tallies, left

    def _add(self, tally: _Tally, write: DocumentWrite) -> None:
        document = write.document
        spans = [[passage.start, passage.end] for passage in write.passages]
        vectors = write.vectors.astype("<f4").tobytes() if self.vectors else b""
        tally.add(document.doc_id, document.version, content_hash(document), write.content_hash, write.group_key, spans, more=vectors)

    def _tombstones(self, tenant: Tenant) -> Iterator[Compared]:
        source, target = self._buried(tenant, self.source, self.target), self._buried(tenant, self.target, self.source)
        if source.count or target.count:
            yield Compared(tenant, TOMBSTONES, source.count, target.count, source == target)

    def _buried(self, tenant: Tenant, archive: Archive, other: Archive) -> _Tally:
        """Ids of more than 500 bytes are left out: OpenSearch knows them by hash alone."""
        tally = _Tally()
        for deleted in archive.tombstones(tenant):
            common = self._common(tenant, list(deleted.items()), archive, other)
            for doc_id, each in deleted.items():
                if doc_id in common and record_key(doc_id) == doc_id:
                    tally.add(doc_id, each.version, each.content_hash)
        return tally

    def _common(self, tenant: Tenant, known: Sequence[tuple[str, StoredVersion]], archive: Archive, other: Archive) -> set[str]:
        """Of these ids, those that must be equal in both: all, unless in a merge the target is ahead or has its own."""
        if not self.merge:
            return {doc_id for doc_id, _ in known}
        there = other.stored(tenant, [doc_id for doc_id, _ in known])
        if archive is self.source:
            return {doc_id for doc_id, each in known if doc_id not in there or there[doc_id] == each or is_behind(there[doc_id], each)}
        return {doc_id for doc_id, each in known if doc_id in there and (there[doc_id] == each or is_behind(each, there[doc_id]))}

    def _entries(self, tenant: Tenant, wanted: Callable[[StateEntry], bool]) -> Iterator[Compared]:
        """Entries that came up in the target alone, as its own writes make them, are not counted."""
        source = {
            (entry.kind, entry.entry_id): (entry.version, _digest(entry))
            for page in self.source.entries(tenant)
            for entry in page
            if wanted(entry)
        }
        found: dict[str, int] = {}
        newer: dict[str, int] = {}
        for page in self.target.entries(tenant):
            for entry in page:
                known = source.get((entry.kind, entry.entry_id))
                if known == (entry.version, _digest(entry)):
                    found[entry.kind] = found.get(entry.kind, 0) + 1
                elif known is not None and self.merge and entry.version >= known[0]:
                    newer[entry.kind] = newer.get(entry.kind, 0) + 1
        for kind in sorted({kind for kind, _ in source}):
            count = sum(each == kind for each, _ in source)
            same, kept = found.get(kind, 0), newer.get(kind, 0)
            yield Compared(tenant, f"{STATE} {kind}", count, same + kept, same + kept == count, kept)


def _digest(entry: StateEntry) -> str:
    values = [milliseconds(entry.created_at), dict(entry.labels), dict(entry.body), facts_as_json(entry.facts)]
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
