"""Doing a chunk twice as if once: what it was going to do is decided by what the store held when it was first taken up.

Before the first write of a chunk, the stored versions of its documents are kept under the chunk's number, by whoever comes first. Everybody who
does the chunk decides from these, asks for the very versions that follow from them, and reports what was decided. Then

* a document that was written before a crash is not written again, and is still reported as indexed or updated;
* a worker that was thought dead and goes on cannot put older content over newer: the store has a higher version by then;
* a document that another writer changed meanwhile counts as changed after the job, unless that writer took the very version the job asked for: then
  the job's row is stored as the next one, as a row without a version always is. What another writer indexed with the same content within this time
  is reported as indexed by both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from runtime.errors import Conflict
from runtime.tenancy import Tenant
from search.documents import Corpus, DocumentWrite, StoredVersion, WriteOutcome
from search.ports import DocumentStore, StateStore
from search.versions import Decision, decide

KIND = "ingest_intent"
_REMOVED_AT_ONCE = 1_000

Versions = Mapping[str, StoredVersion]


@dataclass(frozen=True, slots=True)
class Intents:
    """Keeps what the store held when a chunk was first taken up."""

    state: StateStore

    def begun(self, tenant: Tenant, job_id: str, number: int) -> Versions | None:
        """What was kept; None where nobody has begun."""
        entry = self.state.get(tenant, KIND, _id(job_id, number))
        return None if entry is None else {doc_id: StoredVersion(*found) for doc_id, found in entry.body["before"].items()}

    def begin(self, tenant: Tenant, job_id: str, number: int, doc_ids: Sequence[str], store: DocumentStore) -> Versions:
        """What the store held of these documents when the chunk was first taken up, which is now unless it was kept before."""
        kept = self.begun(tenant, job_id, number)
        if kept is not None:
            return kept
        before = store.stored(tenant, doc_ids) if doc_ids else {}
        body = {"before": {doc_id: [found.version, found.content_hash, found.deleted] for doc_id, found in before.items()}}
        try:
            self.state.put(tenant, KIND, _id(job_id, number), body, expected=0)
        except Conflict:
            return self.begun(tenant, job_id, number) or {}
        return before

    def remove(self, tenant: Tenant, job_id: str, numbers: Sequence[int]) -> None:
        """Forget them."""
        ids = [_id(job_id, number) for number in numbers]
        for start in range(0, len(ids), _REMOVED_AT_ONCE):
            self.state.remove(tenant, KIND, ids[start : start + _REMOVED_AT_ONCE])


class AsIntended:
    """The engine as one chunk sees it, however often the chunk is done. Implements :class:`search.ports.DocumentStore`; for one ingest.

    ``insist`` is called before every write, and raises ``NotFound`` when the job is no more: its tenant was erased, and is not to come back.
    """

    def __init__(self, engine: DocumentStore, before: Versions, insist: Callable[[], object]) -> None:
        self._engine = engine
        self._known = dict(before)
        self._insist = insist

    def stored(self, tenant: Tenant, doc_ids: Sequence[str]) -> Versions:  # noqa: ARG002 (the port's signature)
        """What the store held at first, with what the chunk itself has written since."""
        return {doc_id: self._known[doc_id] for doc_id in doc_ids if doc_id in self._known}

    def write(self, tenant: Tenant, writes: Sequence[DocumentWrite]) -> tuple[WriteOutcome, ...]:
        """Ask for the versions that were intended; what is stored already, or was overtaken, counts as written."""
        plans = [decide(self._known.get(write.document.doc_id), write.asked_version, write.content_hash) for write in writes]
        asked = [replace(write, asked_version=plan.version) for write, plan in zip(writes, plans, strict=True)]
        self._insist()
        outcomes = list(self._engine.write(tenant, asked))
        taken = [at for at, outcome in enumerate(outcomes) if _taken_by_another(writes[at], outcome)]
        if taken:
            for at, outcome in zip(taken, self._engine.write(tenant, [writes[at] for at in taken]), strict=True):
                outcomes[at] = outcome
        return tuple(map(self._settled, writes, plans, outcomes))

    def refresh(self, tenant: Tenant) -> None:
        """See :class:`search.ports.Engine`."""
        self._engine.refresh(tenant)

    def corpus(self, tenant: Tenant) -> Corpus:
        """See :class:`search.ports.Engine`."""
        return self._engine.corpus(tenant)

    def _settled(self, write: DocumentWrite, plan: Decision, outcome: WriteOutcome) -> WriteOutcome:
        if outcome.kind == "rejected":
            return outcome
        version = outcome.version if outcome.kind in ("indexed", "updated") else plan.version
        self._known[write.document.doc_id] = StoredVersion(version, write.content_hash, deleted=False)
        return WriteOutcome(outcome.doc_id, plan.kind, version)


def _taken_by_another(write: DocumentWrite, outcome: WriteOutcome) -> bool:
    return write.asked_version is None and outcome.kind == "rejected" and outcome.field == "version"


def _id(job_id: str, number: int) -> str:
    return f"{job_id}:{number:08d}"
