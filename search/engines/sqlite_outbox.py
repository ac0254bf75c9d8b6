"""The outbox table: events kept in the transaction of the state change they tell of."""

import json
import sqlite3
from collections.abc import Iterable

from runtime.events import Event, event_from_json


def keep(connection: sqlite3.Connection, event: Event, text: str) -> None:
    """Add an event behind all others; one that waits already keeps its place."""
    connection.execute("INSERT OR IGNORE INTO outbox (event_id, tenant, event) VALUES (?, ?, ?)", (event.event_id, event.tenant, text))


def pending(connection: sqlite3.Connection, first: int) -> tuple[Event, ...]:
    """The oldest events, in the order they were kept."""
    rows = connection.execute("SELECT event FROM outbox ORDER BY place LIMIT ?", (first,))
    return tuple(event_from_json(json.loads(text)) for (text,) in rows)


def settle(connection: sqlite3.Connection, events: Iterable[Event]) -> None:
    """Remove events by id."""
    connection.executemany("DELETE FROM outbox WHERE event_id = ?", [(event.event_id,) for event in events])
