"""What a change of one document means for the ledger and for its passages. Pure: no clock, no wire."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from search.documents import DocumentWrite, WriteOutcome
from search.engines.opensearch_cluster import Operation
from search.engines.opensearch_ledger import LEASE_S, Entry, Place, merged
from search.engines.opensearch_names import month_of
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_records import live_operations, tombstone
from search.versions import Decision, decide


@dataclass(frozen=True, slots=True)
class Change:
    """A decided change of one document: ``write`` is None for a deletion. ``claim`` is the ledger's entry for it."""

    claim: Entry
    outcome: WriteOutcome
    write: DocumentWrite | None

    @property
    def doc_id(self) -> str:
        """The document's id."""
        return self.claim.doc_id

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the document's passages are once the change is carried out."""
        return () if self.write is None else (place_of(self.write),)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on a month index, and whose it is. Burying what is not there needs no index."""

    doc_id: str
    month: str
    operation: Operation
    buries: bool


Busy = Literal["busy"]


def decided(entry: Entry | None, write: DocumentWrite, now_ms: int) -> Change | WriteOutcome | Busy:
    """The change to carry out, or the outcome without one, or ``busy`` while another writer is at work on the document."""
    doc_id = write.document.doc_id
    if entry is None:
        return _change(Entry.unseen(doc_id), write, decide(None, write.asked_version, write.content_hash), now_ms)
    if is_busy(entry, now_ms):
        return "busy"
    decision = decide(entry.newest, write.asked_version, write.content_hash)
    if entry.pending and decision.kind == "unchanged":  # claimed once by a writer that never finished
        decision = replace(decision, kind="updated" if is_live(entry) else "indexed")
    if not decision.writes:
        return WriteOutcome(doc_id, decision.kind, decision.version, decision.reason, decision.field)
    return _change(entry, write, decision, now_ms)


def deletion(entry: Entry, now_ms: int) -> Change:
    """The change that deletes a document."""
    claim = replace(entry, deleted=True, pending=True, before=entry.settled, claimed_ms=now_ms)
    return Change(claim, WriteOutcome(entry.doc_id, "updated", entry.version), None)


def is_busy(entry: Entry, now_ms: int) -> bool:
    """True while a claim is its writer's alone."""
    return entry.pending and 0 <= now_ms - entry.claimed_ms < LEASE_S * 1000


def is_live(entry: Entry) -> bool:
    """True when the version that counts is not deleted."""
    return entry.settled is not None and not entry.settled.deleted


def place_of(write: DocumentWrite) -> Place:
    """Where a write puts its passages."""
    return Place(month_of(write.document.occurred_at), len(write.passages))


def steps(at: Placement, change: Change) -> Iterator[Step]:
    """The new passages, then tombstones wherever older ones may be."""
    kept = {place.month: place.passages for place in change.places}
    if change.write is not None:
        month = place_of(change.write).month
        for operation in live_operations(change.write, at, change.claim.version, month):
            yield Step(change.doc_id, month, operation, buries=False)
    for place in change.claim.places:
        for number in range(kept.get(place.month, 0), place.passages):
            yield Step(change.doc_id, place.month, _burial(at, change.claim, place.month, number), buries=True)


def _burial(at: Placement, claim: Entry, month: str, number: int) -> Operation:
    return tombstone(at, claim.doc_id, number, claim.version, month, deleted=claim.deleted)


def _change(entry: Entry, write: DocumentWrite, decision: Decision, now_ms: int) -> Change:
    claim = replace(
        entry,
        version=decision.version,
        content_hash=write.content_hash,
        deleted=False,
        places=merged(*entry.places, place_of(write)),
        pending=True,
        before=entry.settled,
        claimed_ms=now_ms,
    )
    return Change(claim, WriteOutcome(entry.doc_id, decision.kind, decision.version), write)
