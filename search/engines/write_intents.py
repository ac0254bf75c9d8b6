"""Write intents: what is about to be written or deleted, kept before it happens, so that the event of it is told whenever the process dies.

Documents and state are in different stores, so that no transaction holds both. An intent is put before the engine is asked, and becomes, together with
its event, a told one afterwards. One that stays open longer than any write takes is compared with what the engine holds: what did happen is told then.
A writer that comes late finds its intent told and tells only what is missing.

| label ``state`` | means |
|---|---|
| ``open`` | the engine may or may not have done it |
| ``told`` | the event is in the outbox or relayed; the relay removes the entry |
| ``recovered`` | told by :meth:`WriteIntents.recover`; kept a day for a writer that is late |
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from runtime.clock import Clock
from runtime.errors import Conflict, Unavailable
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.documents import StoredVersion
from search.ports import Engine, StateEntry, StateStore

KIND = "write_intent"
OPEN_FOR = timedelta(minutes=2)
"""Longer than any write of the engine with all its attempts takes."""
KEPT_FOR = timedelta(days=1)

Told = Literal["documents.indexed", "documents.deleted"]
DocumentRecord = Mapping[str, Any]


class Change(NamedTuple):
    """One change of a document, told or intended: the type of its event, and whether the document was there until then."""

    type: str
    doc_id: str
    version: int
    replaces: bool = False


def _random_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class WriteIntents:
    """Intents in a state store."""

    state: StateStore
    clock: Clock
    new_id: Callable[[], str] = _random_id

    def open(self, tenant: Tenant, kind: Told, documents: Sequence[DocumentRecord]) -> str:
        """Keep what is about to be done; its id."""
        intent_id = self.new_id()
        self.state.put(tenant, KIND, intent_id, {"type": kind, "documents": list(documents)}, labels={"state": "open"}, expected=0)
        return intent_id

    def close(self, tenant: Tenant, intent_id: str, kind: Told, done: Sequence[DocumentRecord]) -> None:
        """Tell what was done. A state store that is gone now is no failure of what was done: the intent stays open, and is recovered."""
        with suppress(Unavailable):
            if not done:
                self.state.remove(tenant, KIND, [intent_id])
                return
            try:
                self._tell(tenant, intent_id, intent_id, kind, done, state="told", expected=1)
            except Conflict:
                self._tell_rest(tenant, intent_id, kind, done)

    def recover(self, tenant: Tenant, entry: StateEntry, engine: Engine, told: Collection[Change] = ()) -> bool:
        """Tell what the engine really did of an intent that stayed open; False when its writer came first.

        ``told`` is what others told since: a change among it was theirs. Who runs an interrupted ingest again asks for the very same versions.
        """
        kind, documents = entry.body["type"], entry.body["documents"]
        stored: dict[str, StoredVersion] = {}
        for start in range(0, len(documents), 1000):
            stored |= engine.stored(tenant, [document["id"] for document in documents[start : start + 1000]])
        by_others = {change[:3] for change in told}
        mine = [document for document in documents if (kind, document["id"], document["version"]) not in by_others]
        came_after = _successors([*told, *self._intended(tenant)])
        done = [document for document in mine if happened(kind, document, stored.get(document["id"]), came_after.get(document["id"], ()))]
        try:
            self._tell(tenant, entry.entry_id, f"{entry.entry_id}-recovered", kind, done, state="recovered", expected=entry.version)
        except Conflict:
            return False
        return True

    def _intended(self, tenant: Tenant) -> Iterator[Change]:
        """What is about to be written, or was by writers that are to be recovered too."""
        found, _ = self.state.entries(tenant, KIND, labels={"state": "open"}, first=1000)
        for entry in found:
            yield from changes_in(entry.body["type"], entry.body["documents"])

    def stale_of(self, tenant: Tenant) -> tuple[StateEntry, ...]:
        """Those of one tenant."""
        before = self.clock.now() - OPEN_FOR
        found, _ = self.state.entries(tenant, KIND, labels={"state": "open"}, first=1000)
        return tuple(entry for entry in found if entry.created_at < before)

    def stale(self) -> tuple[tuple[Tenant, StateEntry], ...]:
        """Open intents of all tenants that no writer can be working on any more."""
        before = self.clock.now() - OPEN_FOR
        return tuple(found for found in self.state.scan(KIND, labels={"state": "open"}) if found[1].created_at < before)

    def forget_recovered(self) -> None:
        """Remove intents whose late writers are not waited for any longer."""
        before = self.clock.now() - KEPT_FOR
        for tenant, entry in list(self.state.scan(KIND, labels={"state": "recovered"})):
            if entry.created_at < before:
                self.state.remove(tenant, KIND, [entry.entry_id])

    def _tell_rest(self, tenant: Tenant, intent_id: str, kind: Told, done: Sequence[DocumentRecord]) -> None:
        entry = self.state.get(tenant, KIND, intent_id)
        if entry is None or entry.labels.get("state") != "recovered":
            return  # erased with its tenant, or told by an attempt of ours whose answer was lost
        known = set(entry.body["told"])
        rest = [document for document in done if document["id"] not in known]
        if rest:
            with suppress(Conflict):
                self._tell(tenant, f"{intent_id}-late", f"{intent_id}-late", kind, rest, state="told", expected=0)

    def _tell(
        self, tenant: Tenant, intent_id: str, subject: str, kind: Told, done: Sequence[DocumentRecord], *, state: str, expected: int
    ) -> None:
        identity = event_id(kind, tenant, subject)
        body = {"documents": [_told(document) for document in done]}
        event = Event(identity, kind, tenant, self.clock.now(), subject, body) if done else None
        told = {"told": [document["id"] for document in done]}
        self.state.put(tenant, KIND, intent_id, told, labels={"state": state}, expected=expected, event=event)


def happened(kind: Told, document: DocumentRecord, stored: StoredVersion | None, later: Collection[Change] = ()) -> bool:
    """The store has this write, or has had it before a later version; or it has no such document any more, or had none when the next version came.

    ``later`` are writes of the document: of those above the deleted version the next one found it there, and replaced it, or found nothing.
    """
    if kind == "documents.deleted":
        following = min((change for change in later if change.version > document["version"]), key=_version, default=None)
        return stored is None or stored.deleted or (following is not None and not following.replaces)
    version = document["version"]
    if stored is None or stored.version < version:
        return False
    return bool(stored.version > version or stored.content_hash == document["hash"])


def changes_in(kind: str, documents: Iterable[DocumentRecord]) -> Iterator[Change]:
    """The changes of an event or an intent."""
    return (Change(kind, document["id"], document["version"], "before" in document) for document in documents)


def _successors(changes: Iterable[Change]) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    for change in changes:
        if change.type == "documents.indexed":
            found.setdefault(change.doc_id, []).append(change)
    return found


def _version(change: Change) -> tuple[int, bool]:
    """Of two writers of one version, the one that saw a document before it knows more."""
    return change.version, not change.replaces


def told_ids(events: Collection[Event]) -> list[str]:
    """Intents that are done with once these events are relayed."""
    return [event.subject for event in events if event.type in ("documents.indexed", "documents.deleted")]


def _told(document: DocumentRecord) -> DocumentRecord:
    return {name: value for name, value in document.items() if name != "hash"}
