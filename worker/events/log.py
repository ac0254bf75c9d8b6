"""The log of a tenant's events: pages in the state store, each made once and never changed, so that everything can be counted again from the beginning.

A page's number is the one after the last page's, and making it insists on creation: of two relays at work at once, one makes the page and the other
sees that it was second. The head is a note of where the end was and how far it has been counted; it may lag behind, and is caught up with.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from runtime.errors import Conflict
from runtime.events import Event, event_as_json, event_from_json
from runtime.tenancy import Tenant
from search.engines.write_intents import Change, changes_in
from search.ports import StateEntry, StateStore
from worker.events.bus import Sequenced

PAGE = "event_page"
HEAD = "event_head"
_HEAD_ID = "head"
_PAGE_CHARS = 800_000
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Page:
    """Some events; ``first`` is the sequence of the first of them. Page 0 is before the first page."""

    number: int = 0
    first: int = 1
    events: tuple[Event, ...] = ()

    @property
    def following(self) -> int:
        """The sequence of the first event of the next page."""
        return self.first + len(self.events)

    def sequenced(self) -> tuple[Sequenced, ...]:
        """The events with their sequences."""
        return tuple(Sequenced(self.first + at, event) for at, event in enumerate(self.events))


@dataclass(frozen=True, slots=True)
class Head:
    """The last page known, and the last page that was counted; both may be behind, never ahead."""

    page: int = 0
    counted: int = 0


@dataclass(frozen=True, slots=True)
class EventLog:
    """The logs of all tenants."""

    state: StateStore

    def last(self, tenant: Tenant) -> Page:
        """The last page."""
        number = self.head(tenant).page
        page = self.page(tenant, number) or Page()
        while following := self.page(tenant, page.number + 1):
            page = following
        return page

    def page(self, tenant: Tenant, number: int) -> Page | None:
        """One page; None where the log ends."""
        entry = self.state.get(tenant, PAGE, _page_id(number)) if number else None
        return None if entry is None else _page(number, entry)

    def since(self, tenant: Tenant, number: int) -> Iterator[Page]:
        """The pages behind this one, in order."""
        while page := self.page(tenant, number + 1):
            yield page
            number = page.number

    def told_since(self, tenant: Tenant, at: datetime) -> frozenset[Change]:
        """Every change of a document that was told since, relayed or still in the outbox; read from the end."""
        waiting = [event for event in self.state.outbox(first=1000) if event.tenant == tenant]
        page: Page | None = self.last(tenant)
        events = [*waiting]
        while page is not None and page.events and max(event.at for event in page.events) >= at:
            events += page.events
            page = self.page(tenant, page.number - 1)
        return frozenset(
            change
            for event in events
            if event.type in ("documents.indexed", "documents.deleted")
            for change in changes_in(event.type, event.body["documents"])
        )

    def append(self, tenant: Tenant, last: Page, events: Sequence[Event]) -> tuple[Page, int]:
        """Make the page after ``last`` of as many of these events as fit; returns it and how many they were.

        Raises:
            Conflict: another relay made that page.
        """
        texts = [json.dumps(event_as_json(event), separators=(",", ":")) for event in events]
        fitting, size = 0, 0
        while fitting < len(events) and (fitting == 0 or size + len(texts[fitting]) <= _PAGE_CHARS):
            size += len(texts[fitting])
            fitting += 1
        page = Page(last.number + 1, last.following, tuple(events[:fitting]))
        body = {"first": page.first, "events": [json.loads(text) for text in texts[:fitting]]}
        self.state.put(tenant, PAGE, _page_id(page.number), body, expected=0)
        return page, fitting

    def head(self, tenant: Tenant) -> Head:
        """Where the log ends and how far it is counted, as last noted."""
        return _head(self.state.get(tenant, HEAD, _HEAD_ID))

    def heads(self) -> Iterator[tuple[Tenant, Head]]:
        """The heads of all tenants."""
        for tenant, entry in self.state.scan(HEAD):
            yield tenant, _head(entry)

    def note(self, tenant: Tenant, *, page: int = 0, counted: int = 0) -> None:
        """Move the head on, never back."""
        for _ in range(_ATTEMPTS):
            entry = self.state.get(tenant, HEAD, _HEAD_ID)
            known = _head(entry)
            moved = replace(known, page=max(known.page, page, counted), counted=max(known.counted, counted))
            if moved == known:
                return
            try:
                body = {"page": moved.page, "counted": moved.counted}
                self.state.put(tenant, HEAD, _HEAD_ID, body, expected=0 if entry is None else entry.version)
            except Conflict:
                continue
            return


def _page_id(number: int) -> str:
    return f"{number:010}"


def _page(number: int, entry: StateEntry) -> Page:
    return Page(number, entry.body["first"], tuple(event_from_json(value) for value in entry.body["events"]))


def _head(entry: StateEntry | None) -> Head:
    return Head() if entry is None else Head(entry.body["page"], entry.body["counted"])
