"""Writing and deleting documents: claim in the ledger, write the passages, settle. Every step may be repeated by anyone at any time."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from runtime.clock import Clock, Deadline
from runtime.tenancy import Tenant
from search.documents import DocumentWrite, StoredVersion, WriteOutcome
from search.engines.intervals import milliseconds
from search.engines.limits import MAX_IDS, check_writes, flaw
from search.engines.opensearch_changes import Change, Step, decided, deletion, is_busy, is_live, steps
from search.engines.opensearch_cluster import Cluster, Operation
from search.engines.opensearch_errors import NoRoom, unavailable
from search.engines.opensearch_indices import Indices, Moved
from search.engines.opensearch_items import Item
from search.engines.opensearch_ledger import LEASE_S, Entry, Ledger
from search.engines.opensearch_names import Names, month_of
from search.engines.opensearch_placement import Placement
from search.engines.opensearch_queries import Body, every
from search.versions import is_behind

_POLL_S = 0.05
_PATIENCE_S = 6 * LEASE_S
HELD_S = 3 * LEASE_S
"""How long a move may hold writers back. Whoever waited that long lets all go on, and the move has to end another time."""

Applied = list[tuple[Step, Item]]


class Writer:
    """Changes documents of all tenants of one cluster."""

    def __init__(
        self, cluster: Cluster, indices: Indices, prefix: str, dimension: int, clock: Clock, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._cluster = cluster
        self._indices = indices
        self._ledger = Ledger(cluster)
        self._prefix = prefix
        self._dimension = dimension
        self._clock = clock
        self._sleep = sleep

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :meth:`search.ports.Engine.write`."""
        check_writes(writes)
        names = Names(self._prefix, tenant)
        outcomes = {write.document.doc_id: rejection for write in writes if (rejection := self._flaw(write))}
        waiting = {write.document.doc_id: write for write in writes if write.document.doc_id not in outcomes}
        wait = Wait()
        patience = Deadline.after(_PATIENCE_S, self._clock)
        while waiting:
            outcomes |= self._tried(names, waiting, wait)
            waiting = {doc_id: write for doc_id, write in waiting.items() if doc_id not in outcomes}
            self._wait_for_others(waiting, patience)
        return tuple(outcomes[write.document.doc_id] for write in writes)

    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """See :meth:`search.ports.Engine.delete`."""
        names = Names(self._prefix, tenant)
        asked = tuple(dict.fromkeys(doc_ids))
        live: set[str] = set()
        for start in range(0, len(asked), MAX_IDS):
            live |= self._deleted(names, asked[start : start + MAX_IDS])
        return tuple(doc_id for doc_id in asked if doc_id in live)

    def bury(self, tenant: Tenant, deleted: Mapping[str, StoredVersion]) -> None:
        """See :meth:`search.moving.archive.Receiver.bury`. What is live goes first, as any deletion; then the ledger learns the later version."""
        names = Names(self._prefix, tenant)
        self._indices.ensure_ledger(names)
        known = self._ledger.read(names, list(deleted))
        behind = {doc_id: each for doc_id, each in deleted.items() if doc_id not in known or is_behind(known[doc_id].newest, each)}
        self.delete(tenant, [doc_id for doc_id in behind if doc_id in known])
        entries = self._ledger.read(names, list(behind)) | {doc_id: Entry.unseen(doc_id) for doc_id in behind.keys() - known.keys()}
        buried = [
            replace(
                entry, version=behind[doc_id].version, content_hash=behind[doc_id].content_hash, deleted=True, pending=False, before=None
            )
            for doc_id, entry in entries.items()
        ]
        self._ledger.claim(names, buried)

    def purge(self, tenant: Tenant, doc_ids: Sequence[str]) -> None:
        """See :meth:`search.engines.opensearch.OpenSearchEngine.purge`."""
        alias = Names(self._prefix, tenant).alias
        for start in range(0, len(doc_ids), MAX_IDS):
            ids = list(doc_ids[start : start + MAX_IDS])
            clauses: list[Body] = [{"term": {"tenant": tenant}}, {"term": {"deleted": False}}, {"terms": {"doc_id": ids}}]
            body = {"size": MAX_IDS, "_source": ["tenant"], "query": every(clauses)}
            self._cluster.refresh(alias)
            while found := self._cluster.search(alias, body, tenant=tenant)["hits"]["hits"]:
                self._cluster.bulk([Operation({"delete": {"_index": hit["_index"], "_id": hit["_id"]}}) for hit in found], refresh=True)

    def _tried(self, names: Names, waiting: Mapping[str, DocumentWrite], wait: "Wait") -> dict[str, WriteOutcome]:
        """Outcomes of the writes that could be decided and carried out now."""
        try:
            self._indices.ensure_ledger(names)
        except NoRoom as error:
            return {doc_id: _roomless(doc_id, error) for doc_id in waiting}
        at = self._open(names, wait)
        if at is None:
            return {}
        try:
            refused = self._without_room(at, list(waiting.values()))
        except Moved:
            return {}
        taken = {doc_id: write for doc_id, write in waiting.items() if doc_id not in refused}
        entries = self._ledger.read(names, tuple(taken))
        now_ms = self._now_ms()
        decisions = [decided(entries.get(doc_id), write, now_ms) for doc_id, write in taken.items()]
        outcomes = refused | {each.doc_id: each for each in decisions if isinstance(each, WriteOutcome)}
        return outcomes | self._carried_out(at, [each for each in decisions if isinstance(each, Change)], refresh=False)

    def _open(self, names: Names, wait: "Wait") -> Placement | None:
        """Where the tenant may be written now; None while a move holds writers back."""
        at = self._indices.placed(names)
        if at is None or at.is_open:
            return at
        if wait.is_over(at.token, self._clock):
            self._indices.reopen(at)
        return None

    def _deleted(self, names: Names, doc_ids: Sequence[str]) -> set[str]:
        live: set[str] = set()
        waiting = list(doc_ids)
        wait = Wait()
        patience = Deadline.after(_PATIENCE_S, self._clock)
        while waiting:
            now_ms = self._now_ms()
            entries = [entry for entry in self._ledger.read(names, waiting).values() if entry.pending or not entry.deleted]
            free = [entry for entry in entries if not is_busy(entry, now_ms)]
            at = self._open(names, wait) if free else None
            done = self._carried_out(at, [deletion(entry, now_ms) for entry in free], refresh=True) if at is not None else {}
            live |= {entry.doc_id for entry in free if entry.doc_id in done and is_live(entry)}
            waiting = [entry.doc_id for entry in entries if entry.doc_id not in done]
            self._wait_for_others(waiting, patience)
        return live

    def _carried_out(self, at: Placement, changes: Sequence[Change], *, refresh: bool) -> dict[str, WriteOutcome]:
        """Outcomes of the changes that are done; the others, whose claim was lost or undone, are to be decided again."""
        names = at.names
        claims = self._ledger.claim(names, [change.claim for change in changes])
        won = [replace(change, claim=claim) for change, claim in zip(changes, claims, strict=True) if claim is not None]
        applied = self._applied(at, [step for change in won for step in steps(at, change)], refresh=refresh)
        astray = self._astray(at, applied)
        self._ledger.release(names, [change.claim for change in won if change.doc_id in astray])
        won = [change for change in won if change.doc_id not in astray]
        stale = {step.doc_id for step, item in applied if item.fate == "stale"}
        refused = {step.doc_id: item.reason for step, item in applied if item.fate == "poison"}
        clean = [change for change in won if change.doc_id not in stale and change.doc_id not in refused]
        settled = self._ledger.settle(names, [change.claim for change in clean], [change.places for change in clean])
        unsettled = {change.doc_id for change, is_settled in zip(clean, settled, strict=True) if not is_settled}
        again = self._undone(names, [change for change in won if change.doc_id in stale | unsettled], applied)
        return {change.doc_id: _outcome(change, refused) for change in won if change.doc_id not in again}

    def _applied(self, at: Placement, wanted: Sequence[Step], *, refresh: bool) -> Applied:
        items = list(self._cluster.bulk([step.operation for step in wanted], refresh=refresh))
        if not any(item.fate == "no_index" for item in items):
            return list(zip(wanted, items, strict=True))
        self._indices.forget(at.names)  # someone moved or erased the tenant, or dropped the month, since it was made
        lost = [n for n, (step, item) in enumerate(zip(wanted, items, strict=True)) if item.fate == "no_index" and not step.buries]
        if lost and self._is_still(at):
            with suppress(Moved):
                for month in {wanted[n].month for n in lost}:
                    self._indices.ensure_month(at, month)
            for n, item in zip(lost, self._cluster.bulk([wanted[n].operation for n in lost], refresh=refresh), strict=True):
                items[n] = item
            if any(items[n].fate == "no_index" for n in lost) and self._is_still(at):
                raise unavailable("a month was removed while it was being written; repeat the write")
        return list(zip(wanted, items, strict=True))

    def _astray(self, at: Placement, applied: Applied) -> set[str]:
        """Documents of which a step found no month because the tenant is not there any more: they are to be decided again, where it is."""
        lost = {step.doc_id for step, item in applied if item.fate == "no_index"}
        return lost if lost and not self._is_still(at) else set()

    def _is_still(self, at: Placement) -> bool:
        now = self._indices.placed(at.names, afresh=True)
        return now is not None and now.place == at.place

    def _undone(self, names: Names, changes: Sequence[Change], applied: Applied) -> set[str]:
        """Which of the changes that met something newer are to be decided again.

        Usually another writer came after us, and then ours was carried out and overtaken; as long as that one is at work, ours may also have been
        carried out where the tenant was moved from. But when the ledger knows of no such writer, it is older than the records (an erased tenant, or a
        restored backup): it is told what they say.
        """
        entries = self._ledger.read(names, [change.doc_id for change in changes])
        again = {change.doc_id for change in changes if change.doc_id not in entries or _is_in_work(entries[change.doc_id], change)}
        for change in changes:
            entry = entries.get(change.doc_id)
            if entry is not None and entry.seq_no == change.claim.seq_no:
                newer = [step for step, item in applied if step.doc_id == change.doc_id and item.fate == "stale"]
                self._ledger.adopt(names, entry, [step.operation for step in newer])
                again.add(change.doc_id)
        return again

    def _flaw(self, write: DocumentWrite) -> WriteOutcome | None:
        found = flaw(write, self._dimension)
        return None if found is None else WriteOutcome(write.document.doc_id, "rejected", 0, found[1], found[0])

    def _without_room(self, at: Placement, writes: Sequence[DocumentWrite]) -> dict[str, WriteOutcome]:
        """Makes the months that are needed; documents of a month the cluster has no room for are refused, and only they."""
        refused: dict[str, NoRoom] = {}
        for month in sorted({month_of(write.document.occurred_at) for write in writes}):
            try:
                self._indices.ensure_month(at, month)
            except NoRoom as error:
                refused[month] = error
        return {
            write.document.doc_id: _roomless(write.document.doc_id, refused[month])
            for write in writes
            if (month := month_of(write.document.occurred_at)) in refused
        }

    def _wait_for_others(self, waiting: Iterable[str], patience: Deadline) -> None:
        if not waiting:
            return
        if patience.remaining_s() <= 0:
            raise unavailable("documents of this batch are being changed by other writers all the time; repeat the write")
        self._sleep(_POLL_S)

    def _now_ms(self) -> int:
        return milliseconds(self._clock.now())


class Wait:
    """How long a writer has been held back by one move."""

    def __init__(self) -> None:
        self._token = ""
        self._deadline: Deadline | None = None

    def is_over(self, token: str, clock: Clock) -> bool:
        """Whether this move holds back too long."""
        if self._deadline is None or token != self._token:
            self._token, self._deadline = token, Deadline.after(HELD_S, clock)
        return self._deadline.remaining_s() <= 0


def _is_in_work(entry: Entry, change: Change) -> bool:
    return entry.pending and entry.seq_no != change.claim.seq_no


def _roomless(doc_id: str, error: NoRoom) -> WriteOutcome:
    return WriteOutcome(doc_id, "rejected", 0, str(error), "occurred_at")


def _outcome(change: Change, refused: Mapping[str, str]) -> WriteOutcome:
    if change.doc_id not in refused:
        return change.outcome
    return WriteOutcome(change.doc_id, "rejected", change.outcome.version, f"the index refused it ({refused[change.doc_id]})", "text")
