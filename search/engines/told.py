"""An engine whose writes and deletes are told: an event follows every change of a document, and none follows what did not happen."""

import json
from collections.abc import Mapping, Sequence

from runtime.clock import Clock, Deadline
from runtime.errors import Conflict
from runtime.tenancy import Tenant
from runtime.tracing import traced
from search.documents import Corpus, Document, DocumentPage, DocumentWrite, Filters, StoredVersion, WriteOutcome
from search.engines.facts import Facts, counted, facts_of, portions, stored_facts
from search.engines.limits import MAX_IDS, check_writes
from search.engines.write_intents import DocumentRecord, Told, WriteIntents
from search.ports import Engine, StateStore
from search.ranking import BucketQuery, Buckets, GroupMembers, LegQuery, Legs
from search.versions import decide

BASELINE = "counts_baseline"
"""The kind of the one entry of a tenant that says what was stored before the first change that was told."""

_MOST_CHARS = 300_000


class ToldEngine:
    """Implements :class:`search.ports.Engine` over another one: changes cost two small writes of the state store per call, and one read."""

    def __init__(self, engine: Engine, state: StateStore, clock: Clock) -> None:
        self._engine = engine
        self._state = state
        self._intents = WriteIntents(state, clock)

    @traced("engine write")
    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """See :class:`search.ports.Engine`."""
        check_writes(writes)
        self._count_first(tenant)
        stored = self._engine.stored(tenant, [write.document.doc_id for write in writes])
        before = self._facts(tenant, stored)
        records = [_record(write, stored.get(write.document.doc_id), before.get(write.document.doc_id)) for write in writes]
        outcomes: list[WriteOutcome] = []
        for part in portions(_sizes(records), _MOST_CHARS):
            outcomes += self._write(tenant, writes[part], records[part])
        return tuple(outcomes)

    def _write(self, tenant: Tenant, writes: Sequence[DocumentWrite], records: Sequence[DocumentRecord | None]) -> tuple[WriteOutcome, ...]:
        kind: Told = "documents.indexed"
        intended = [record for record in records if record is not None]
        intent_id = self._intents.open(tenant, kind, intended) if intended else None
        outcomes = self._engine.write(tenant, writes)
        done = [record for record in map(_done, writes, records, outcomes) if record is not None]
        if intent_id is None and done:  # it was to change nothing, and somebody deleted or changed it just then
            intent_id = self._intents.open(tenant, kind, done)
        if intent_id is not None:
            self._intents.close(tenant, intent_id, kind, done)
        return outcomes

    @traced("engine delete")
    def delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        """See :class:`search.ports.Engine`."""
        self._count_first(tenant)
        deleted: list[str] = []
        for start in range(0, len(doc_ids), MAX_IDS):
            deleted += self._delete(tenant, doc_ids[start : start + MAX_IDS])
        return tuple(deleted)

    def _delete(self, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[str, ...]:
        before = self._facts(tenant, self._engine.stored(tenant, doc_ids))
        records = [{"id": doc_id, **facts.as_json()} for doc_id, facts in before.items()]
        kind: Told = "documents.deleted"
        deleted: set[str] = set()
        for part in portions(_sizes(records), _MOST_CHARS):
            intent_id = self._intents.open(tenant, kind, records[part])
            gone = set(self._engine.delete(tenant, [record["id"] for record in records[part]]))
            self._intents.close(tenant, intent_id, kind, [record for record in records[part] if record["id"] in gone])
            deleted |= gone
        return tuple(doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id in deleted)

    def _facts(self, tenant: Tenant, stored: Mapping[str, StoredVersion]) -> Mapping[str, Facts]:
        live = {doc_id: found.version for doc_id, found in stored.items() if not found.deleted}
        return stored_facts(self._engine, tenant, live) if live else {}

    def _count_first(self, tenant: Tenant) -> None:
        """Before the first change that is told: keep what is there already. Whoever comes second finds it kept."""
        if self._state.get(tenant, BASELINE, BASELINE) is None:
            try:
                self._state.put(tenant, BASELINE, BASELINE, counted(self._engine, tenant), expected=0)
            except Conflict:
                return

    @traced("engine stored")
    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Mapping[str, StoredVersion]:
        """See :class:`search.ports.Engine`."""
        return self._engine.stored(tenant, doc_ids)

    @traced("engine refresh")
    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        self._engine.refresh(tenant)

    @traced("engine erase")
    def erase(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`. Nothing is told of it: whoever erases a tenant erases its events."""
        return self._engine.erase(tenant)

    @traced("engine expunge")
    def expunge(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        self._engine.expunge(tenant)

    @traced("engine document")
    def document(self, tenant: Tenant, doc_id: str) -> Document | None:
        """See :class:`search.ports.Engine`."""
        return self._engine.document(tenant, doc_id)

    @traced("engine documents")
    def documents(
        self, tenant: Tenant, filters: Filters, *, match: str | None = None, first: int = 50, after: str | None = None
    ) -> DocumentPage:
        """See :class:`search.ports.Engine`."""
        return self._engine.documents(tenant, filters, match=match, first=first, after=after)

    @traced("engine legs")
    def legs(self, tenant: Tenant, query: LegQuery, *, deadline: Deadline | None = None) -> Legs:
        """See :class:`search.ports.Engine`."""
        return self._engine.legs(tenant, query, deadline=deadline)

    @traced("engine group_members")
    def group_members(self, tenant: Tenant, group_keys: Sequence[str], filters: Filters, *, first: int = 100) -> Mapping[str, GroupMembers]:
        """See :class:`search.ports.Engine`."""
        return self._engine.group_members(tenant, group_keys, filters, first=first)

    @traced("engine aggregate")
    def aggregate(self, tenant: Tenant, query: BucketQuery) -> Buckets:
        """See :class:`search.ports.Engine`."""
        return self._engine.aggregate(tenant, query)

    @traced("engine corpus")
    def corpus(self, tenant: Tenant) -> Corpus:
        """See :class:`search.ports.Engine`."""
        return self._engine.corpus(tenant)

    @traced("engine generation")
    def generation(self, tenant: Tenant) -> int:
        """See :class:`search.ports.Engine`."""
        return self._engine.generation(tenant)

    def describe(self) -> Mapping[str, str]:
        """See :class:`search.ports.Engine`."""
        return self._engine.describe()

    def close(self) -> None:
        """See :class:`search.ports.Engine`."""
        self._engine.close()


def _record(write: DocumentWrite, stored: StoredVersion | None, before: Facts | None) -> DocumentRecord | None:
    """What an intent says of one write: the version it will get if nobody comes between, its facts, and those it replaces.

    None for a write that will change nothing.
    """
    decision = decide(stored, write.asked_version, write.content_hash)
    if not decision.writes:
        return None
    record = {"id": write.document.doc_id, "hash": write.content_hash, **facts_of(write.document, decision.version).as_json()}
    return record if before is None else {**record, "before": before.as_json()}


def _done(write: DocumentWrite, record: DocumentRecord | None, outcome: WriteOutcome) -> DocumentRecord | None:
    """What is told of a write, by what the engine says of it: another writer may have come between the look at the store and the write.

    What that one wrote is not known here. A document it put or took away meanwhile is counted as new or replaced all the same, so that numbers of
    documents stay right; it is taken to have had the day, theme and source of its successor.
    """
    if outcome.kind not in ("indexed", "updated"):
        return None
    facts = facts_of(write.document, outcome.version).as_json()
    made = {"id": write.document.doc_id, "hash": write.content_hash, **facts}
    if outcome.kind == "indexed":
        return made
    return {**made, "before": facts if record is None else record.get("before", facts)}


def _sizes(records: Sequence[DocumentRecord | None]) -> list[int]:
    return [len(json.dumps(record)) for record in records]
