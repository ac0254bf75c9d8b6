"""Terms and their numbers: each tenant numbers its own, densely, and forgets a term with the last document that holds it."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

GAP = -1
"""Stands in a stream for a stop word."""

Stream = NDArray[np.int32]
Terms = Sequence[str | None]


def term_numbers(connection: sqlite3.Connection, tenant_no: int, terms: Iterable[str]) -> dict[str, int]:
    """The numbers of those terms that the tenant's live documents hold."""
    return dict(connection.execute(_NUMBERS, (json.dumps(list(terms)), tenant_no)))


def numbered(connection: sqlite3.Connection, tenant_no: int, documents: Sequence[Terms]) -> dict[str, int]:
    """Enter the terms of new documents, and return their numbers."""
    holding = _holding(documents)
    numbers = term_numbers(connection, tenant_no, holding)
    fresh = [term for term in holding if term not in numbers]
    next_no = connection.execute("SELECT terms FROM tenants WHERE tenant_no = ?", (tenant_no,)).fetchone()[0]
    numbers.update(zip(fresh, range(next_no, next_no + len(fresh)), strict=True))
    connection.execute("UPDATE tenants SET terms = ? WHERE tenant_no = ?", (next_no + len(fresh), tenant_no))
    connection.executemany(_ENTER, [(tenant_no, term, numbers[term], count) for term, count in holding.items()])
    return numbers


def forget(connection: sqlite3.Connection, tenant_no: int, documents: Sequence[Terms]) -> None:
    """Take the terms of removed documents out again."""
    holding = _holding(documents)
    connection.executemany(_LEAVE, [(count, tenant_no, term) for term, count in holding.items()])
    connection.executemany(_DROP, [(tenant_no, term) for term in holding])


def stream(terms: Terms, numbers: dict[str, int]) -> Stream:
    """Terms as numbers, gaps kept."""
    return np.array([GAP if term is None else numbers[term] for term in terms], dtype=np.int32)


def _holding(documents: Sequence[Terms]) -> Counter[str]:
    """In how many of the documents each term occurs."""
    return Counter(term for terms in documents for term in dict.fromkeys(terms) if term is not None)


_NUMBERS = "SELECT v.term, v.term_no FROM json_each(?) j CROSS JOIN vocabulary v ON v.tenant_no = ? AND v.term = j.value"
_ENTER = """
INSERT INTO vocabulary VALUES (?, ?, ?, ?)
ON CONFLICT (tenant_no, term) DO UPDATE SET documents = documents + excluded.documents
"""
_LEAVE = "UPDATE vocabulary SET documents = documents - ? WHERE tenant_no = ? AND term = ?"
_DROP = "DELETE FROM vocabulary WHERE tenant_no = ? AND term = ? AND documents <= 0"
