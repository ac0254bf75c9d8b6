"""The outbox inside the records of the state index: an event is written with its entry, in one document, or not at all.

A record keeps its pending events in ``outbox`` (in order, each with its place), and their ids and places in two indexed fields to search by. A removed
entry with pending events becomes a record of the kind ``""``, which no entry has, until they are settled.
"""

import json
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from runtime.clock import Clock
from runtime.events import Event, event_from_json
from search.engines.opensearch_cluster import Operation, to_json

REMOVED = ""
"""The kind of a record whose entry is gone."""

Pending = Mapping[str, Any]
Record = Mapping[str, Any]


class Places:
    """Growing numbers, microseconds of the clock where it runs: what one process keeps later comes later, also within one tick."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0

    def next(self, pending: Sequence[Pending]) -> int:
        """A place behind every earlier one of this process and behind these."""
        with self._lock:
            now = int(self._clock.now().timestamp() * 1_000_000)
            self._last = max(now, self._last + 1, *(each["place"] + 1 for each in pending), 0)
            return self._last


def fields(pending: Sequence[Pending]) -> dict[str, Any]:
    """The fields of a record with these pending events."""
    return {
        "outbox": list(pending),
        "outbox_ids": [each["id"] for each in pending],
        "outbox_places": [each["place"] for each in pending],
    }


def queued(pending: Sequence[Pending], event: Event, text: str, places: Places) -> tuple[Pending, ...]:
    """The pending events with one more, unless it is among them."""
    if any(each["id"] == event.event_id for each in pending):
        return tuple(pending)
    return (*pending, {"id": event.event_id, "place": places.next(pending), "event": text})


def pending_of(stored: Record | None) -> tuple[Pending, ...]:
    """The pending events of a stored record; those of releases before the outbox have none."""
    return tuple(stored["_source"].get("outbox", ())) if stored else ()


def oldest(found: Iterable[Record], first: int) -> tuple[Event, ...]:
    """The oldest events of these records, each once."""
    by_place = sorted((each["place"], each["id"], each["event"]) for record in found for each in pending_of(record))
    each_once = {identity: text for _, identity, text in reversed(by_place)}
    kept = list(dict.fromkeys(identity for _, identity, _ in by_place))[:first]
    return tuple(event_from_json(json.loads(each_once[identity])) for identity in kept)


def without(record: Record, event_ids: Collection[str]) -> Operation:
    """Takes events out of a record, or the record out of the index when it is there for them alone."""
    left = [each for each in pending_of(record) if each["id"] not in event_ids]
    if not left and record["_source"]["kind"] == REMOVED:
        return Operation({"delete": address(record)})
    return Operation({"update": address(record)}, to_json({"doc": fields(left)}))


def removal(record: Record) -> Operation:
    """Takes an entry out of the index; pending events stay."""
    pending = pending_of(record)
    if not pending:
        return Operation({"delete": address(record)})
    source = record["_source"]
    emptied = {"tenant": source["tenant"], "kind": REMOVED, "entry_id": source["entry_id"], "version": 0, "created_ms": 0}
    return Operation({"index": address(record)}, to_json({**emptied, "labels": {}, "label_terms": [], "body": "{}", **fields(pending)}))


def address(record: Record) -> Mapping[str, Any]:
    """This record, unless it has changed."""
    return {
        "_index": record["_index"],
        "_id": record["_id"],
        "if_seq_no": record["_seq_no"],
        "if_primary_term": record["_primary_term"],
    }
