"""Digests kept in the state store: written once under an id everybody arrives at, changed in place, listed in the order they were published."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from runtime.clock import Clock
from runtime.errors import Conflict, NotFound
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.ports import Engine, StateEntry, StateStore
from worker.monitors.digest import Digest, digest_as_json, digest_from_json, spoken_of, without
from worker.monitors.retrying import repeated

KIND = "digest"
FEED_KIND = "digest_feed"
FEED_ID = "feed"
FEED_LENGTH = 2000
"""Newest digests of a tenant whose order of publishing is kept."""

WAITING, PLANNED = "waiting", "planned"
_CHUNK = 1000
Ids = list[str]


@dataclass(frozen=True, slots=True)
class DigestPage:
    """Some digests, newest first, and where to go on."""

    digests: tuple[Digest, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Digests:
    """Keeps digests. The order of publishing is a list of its own, so that whoever knows the last id it saw misses none and sees none twice."""

    state: StateStore
    clock: Clock
    engine: Engine

    def publish(self, tenant: Tenant, digest: Digest) -> bool:
        """Keep a new digest, with its event; False when its id is there already, which leaves it as it is. Repeating what was interrupted finishes it."""
        created = True
        try:
            event = _published(tenant, digest, self.clock.now())
            self.state.put(tenant, KIND, digest.digest_id, digest_as_json(digest), labels=_labels(digest), expected=0, event=event)
        except Conflict:
            created = False
        self.enlist(tenant, digest.digest_id)
        return created

    def enlist(self, tenant: Tenant, digest_id: str) -> None:
        """See that a digest has its place in the order, whatever interrupted its publishing."""
        repeated(lambda: self._appended(tenant, digest_id))

    def exists(self, tenant: Tenant, digest_id: str) -> bool:
        """Whether it was published."""
        return self.state.get(tenant, KIND, digest_id) is not None

    def get(self, tenant: Tenant, digest_id: str) -> Digest:
        """One digest; what was deleted since is marked and its words are withheld.

        Raises:
            NotFound: the tenant has none of that id.
        """
        return self._as_of_now(tenant, _digest(self._entry(tenant, digest_id)))

    def list(self, tenant: Tenant, *, monitor_id: str | None = None, first: int = 50, after: str | None = None) -> DigestPage:
        """Digests, newest first; of one monitor when it is named."""
        labels = None if monitor_id is None else {"monitor": monitor_id}
        entries, cursor = self.state.entries(tenant, KIND, labels=labels, first=first, after=after)
        return DigestPage(tuple(self._as_of_now(tenant, _digest(entry)) for entry in entries), cursor)

    def since(self, tenant: Tenant, after_id: str | None, first: int = 50) -> tuple[Digest, ...]:
        """What was published after that digest, oldest first, each exactly once; from the oldest that is remembered without an id, or with one that
        is not remembered any more."""
        ids = self._feed(tenant)[0]
        following = ids[ids.index(after_id) + 1 :] if after_id in ids else ids
        found = (self.state.get(tenant, KIND, digest_id) for digest_id in following[:first])
        return tuple(self._as_of_now(tenant, _digest(entry)) for entry in found if entry is not None)

    def latest_id(self, tenant: Tenant) -> str | None:
        """Where a subscriber who wants only what comes from now on begins."""
        ids = self._feed(tenant)[0]
        return ids[-1] if ids else None

    def update(self, tenant: Tenant, digest_id: str, change: Callable[[Digest], Digest]) -> Digest:
        """Change a digest in place, its version one up; one that ``change`` returns as it was stays as it is.

        Raises:
            NotFound: the tenant has none of that id.
        """
        return repeated(lambda: self._changed(tenant, digest_id, change))

    def still_seen(self, tenant: Tenant, digest_id: str, at: datetime) -> None:
        """What it tells of was still so at that time. No new version: nothing it says has changed. One that is gone is let go."""
        repeated(lambda: self._seen(tenant, digest_id, at))

    def unplanned(self) -> Iterator[tuple[Tenant, str]]:
        """Digests of all tenants whose current version nobody has yet prepared deliveries for."""
        for tenant, entry in self.state.scan(KIND, labels={"delivery": WAITING}):
            yield tenant, entry.entry_id

    def planned(self, tenant: Tenant, digest: Digest) -> None:
        """Deliveries of this version are prepared; a version that came since still waits."""
        repeated(lambda: self._planned(tenant, digest))

    def _planned(self, tenant: Tenant, digest: Digest) -> None:
        entry = self.state.get(tenant, KIND, digest.digest_id)
        if entry is not None and entry.body["version"] == digest.version:
            self._put(tenant, entry, entry.body, {**entry.labels, "delivery": PLANNED})

    def _seen(self, tenant: Tenant, digest_id: str, at: datetime) -> None:
        entry = self.state.get(tenant, KIND, digest_id)
        if entry is not None and datetime.fromisoformat(entry.body["last_seen"]) < at:
            self._put(tenant, entry, {**entry.body, "last_seen": at.isoformat()}, entry.labels)

    def _changed(self, tenant: Tenant, digest_id: str, change: Callable[[Digest], Digest]) -> Digest:
        entry = self._entry(tenant, digest_id)
        known = _digest(entry)
        changed = change(known)
        if changed == known:
            return known
        changed = replace(changed, version=known.version + 1, updated_at=self.clock.now())
        self._put(tenant, entry, digest_as_json(changed), _labels(changed))
        return changed

    def _put(self, tenant: Tenant, entry: StateEntry, body: Any, labels: Any) -> None:
        self.state.put(tenant, KIND, entry.entry_id, body, labels=labels, expected=entry.version)

    def _entry(self, tenant: Tenant, digest_id: str) -> StateEntry:
        entry = self.state.get(tenant, KIND, digest_id)
        if entry is None:
            raise NotFound("no digest with this id; list the digests to see which there are")
        return entry

    def _feed(self, tenant: Tenant) -> tuple[Ids, int]:
        entry = self.state.get(tenant, FEED_KIND, FEED_ID)
        return ([*entry.body["ids"]], entry.version) if entry else ([], 0)

    def _appended(self, tenant: Tenant, digest_id: str) -> None:
        ids, version = self._feed(tenant)
        if digest_id not in ids:
            self.state.put(tenant, FEED_KIND, FEED_ID, {"ids": [*ids, digest_id][-FEED_LENGTH:]}, expected=version)

    def _as_of_now(self, tenant: Tenant, digest: Digest) -> Digest:
        ids = spoken_of(digest)
        gone: Ids = []
        for start in range(0, len(ids), _CHUNK):
            known = self.engine.stored(tenant, ids[start : start + _CHUNK])
            gone += [doc_id for doc_id in ids[start : start + _CHUNK] if doc_id not in known or known[doc_id].deleted]
        return without(digest, gone) if gone else digest


def _digest(entry: StateEntry) -> Digest:
    return digest_from_json(entry.entry_id, entry.body)


def _labels(digest: Digest) -> dict[str, str]:
    return {"monitor": digest.monitor_id, "severity": digest.severity, "delivery": WAITING}


def _published(tenant: Tenant, digest: Digest, now: datetime) -> Event:
    body = {"monitor_id": digest.monitor_id, "severity": digest.severity, "n": digest.n, "denominator": digest.denominator}
    return Event(event_id("digest.published", tenant, digest.digest_id), "digest.published", tenant, now, digest.digest_id, body)


__all__ = ["Digest", "DigestPage", "Digests"]
