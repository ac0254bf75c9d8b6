"""One tenant in memory: columns, words and vectors, kept in step with the store file.

Rows are immutable: a changed document is a removed row and a new one. A :class:`ShelfView` is therefore a consistent picture for as long as someone
holds it, whatever is written meanwhile.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from runtime.tenancy import Tenant
from search.engines.columns import Columns, ColumnsView, Mask
from search.engines.dense import DenseIndex, DenseView
from search.engines.document_rows import PassagePlace
from search.engines.growing import GrowingArray
from search.engines.lexical import LexicalIndex, LexicalView
from search.engines.sqlite_schema import PASSAGE_BITS

_CHUNK = 2_000
_SMALLEST_COMPACTION = 1_000
_UNKNOWN = -1
PassageRow = tuple[int, int, int, bytes, bytes]


@dataclass(frozen=True, slots=True)
class ShelfView:
    """A tenant at one moment. The ``passage_`` arrays have one element per passage row: its document's row, number and offsets."""

    tenant_no: int
    generation: int
    columns: ColumnsView
    lexical: LexicalView
    dense: DenseView
    passage_docs: NDArray[np.int32]
    passage_numbers: NDArray[np.int32]
    passage_firsts: NDArray[np.int32]
    passage_lasts: NDArray[np.int32]
    attributes: dict[str, Mask] = field(default_factory=dict)

    def passages_of(self, documents: Mask) -> Mask:
        """The passage rows of the documents in a mask over document rows."""
        if np.array_equal(documents, self.columns.live):
            return self.lexical.live
        wanted: Mask = documents[self.passage_docs]
        return wanted

    def passage_name(self, row: int) -> str:
        """The passage id of a passage row."""
        return f"{self.columns.doc_ids[self.passage_docs[row]]}#{self.passage_numbers[row]:06d}"

    def passage_nos(self, rows: Sequence[int]) -> list[int]:
        """The numbers of passage rows in the store, which are given once and for all."""
        wanted = np.array(rows, np.int64)
        numbers: list[int] = ((self.columns.doc_nos[self.passage_docs[wanted]] << PASSAGE_BITS) | self.passage_numbers[wanted]).tolist()
        return numbers

    def passage_places(self, rows: Iterable[int]) -> dict[int, PassagePlace]:
        """Where the texts of passage rows are, by row."""
        wanted = np.fromiter(rows, np.int64)
        doc_nos = self.columns.doc_nos[self.passage_docs[wanted]].tolist()
        places = (self.passage_numbers[wanted].tolist(), self.passage_firsts[wanted].tolist(), self.passage_lasts[wanted].tolist())
        vectors = map(self.dense.row, wanted.tolist())
        return dict(zip(wanted.tolist(), map(PassagePlace, doc_nos, *places, vectors), strict=True))


class Shelf:
    """The memory of one tenant. :meth:`at` brings it up to the moment of a read transaction."""

    def __init__(self, tenant: Tenant, dimension: int) -> None:
        self._tenant = tenant
        self._dimension = dimension
        self._lock = Lock()
        self._empty(_UNKNOWN)

    def at(self, connection: sqlite3.Connection) -> ShelfView:
        """The tenant as of ``connection``'s transaction, which begins here: the caller has read nothing in it yet."""
        with self._lock:
            known = connection.execute("SELECT tenant_no, generation FROM tenants WHERE name = ?", (self._tenant,)).fetchone()
            tenant_no, generation = known or (_UNKNOWN, 0)
            if tenant_no != self._tenant_no:
                self._empty(tenant_no)
            if generation != self._generation:
                self._catch_up_or_forget(connection, generation)
            return self._view

    def _empty(self, tenant_no: int) -> None:
        self._tenant_no = tenant_no
        self._generation = 0
        self._columns, self._lexical, self._dense = Columns(), LexicalIndex(), DenseIndex(self._dimension)
        self._passage_docs: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._passage_numbers: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._passage_firsts: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._passage_lasts: GrowingArray[np.int32] = GrowingArray(np.int32)
        self._live: Mask = np.empty(0, np.bool_)
        self._view = self._pictured(np.empty(0, np.bool_))

    def _catch_up_or_forget(self, connection: sqlite3.Connection, generation: int) -> None:
        try:
            self._catch_up(connection, generation)
        except BaseException:
            self._empty(_UNKNOWN)
            raise

    def _catch_up(self, connection: sqlite3.Connection, generation: int) -> None:
        pruned = connection.execute("SELECT value FROM meta WHERE name = 'pruned'").fetchone()[0]
        if self._generation >= pruned:
            self._add(connection)
            self._remove(doc_no for (doc_no,) in connection.execute(_REMOVALS, (self._generation, self._tenant_no)))
        if self._generation < pruned or self._mostly_dead():
            self._empty(self._tenant_no)
            self._add(connection)
        self._lexical.settle()
        self._generation = generation
        self._view = self._pictured(self._live[self._passage_docs.view()])

    def _add(self, connection: sqlite3.Connection) -> None:
        """Append the documents beyond the last one seen; numbers of documents only ever grow."""
        first = len(self._columns)
        newest = (self._tenant_no, self._columns.newest())
        documents = connection.execute(_DOCUMENTS, newest)
        while chunk := documents.fetchmany(_CHUNK):
            self._columns.add(chunk)
        self._live = np.append(self._live, np.ones(len(self._columns) - first, np.bool_))
        doc_nos = self._columns.view(self._live).doc_nos
        passages = connection.execute(_PASSAGES, newest)
        while batch := passages.fetchmany(_CHUNK):
            self._add_passages(doc_nos, batch)

    def _add_passages(self, doc_nos: NDArray[np.int64], batch: Sequence[PassageRow]) -> None:
        passage_nos, firsts, lasts, terms, vectors = zip(*batch, strict=True)
        keys = np.array(passage_nos, dtype=np.int64)
        self._passage_docs.extend(np.searchsorted(doc_nos, keys >> PASSAGE_BITS).astype(np.int32))
        self._passage_numbers.extend((keys & ((1 << PASSAGE_BITS) - 1)).astype(np.int32))
        self._passage_firsts.extend(list(firsts))
        self._passage_lasts.extend(list(lasts))
        self._lexical.add([np.frombuffer(stream, dtype=np.int32) for stream in terms])
        self._dense.add(np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(len(batch), self._dimension))

    def _remove(self, doc_nos: Iterable[int]) -> None:
        rows = self._columns.view(self._live).rows_of(doc_nos)
        removed = np.zeros_like(self._live)
        removed[rows] = self._live[rows]
        self._live = self._live & ~removed
        self._lexical.remove(np.flatnonzero(removed[self._passage_docs.view()]))

    def _mostly_dead(self) -> bool:
        dead = len(self._live) - int(np.count_nonzero(self._live))
        return len(self._live) >= _SMALLEST_COMPACTION and dead * 4 >= len(self._live)

    def _pictured(self, live_passages: Mask) -> ShelfView:
        return ShelfView(
            self._tenant_no,
            self._generation,
            self._columns.view(self._live),
            self._lexical.view(live_passages),
            self._dense.view(),
            self._passage_docs.view(),
            self._passage_numbers.view(),
            self._passage_firsts.view(),
            self._passage_lasts.view(),
        )


_DOCUMENTS = """
SELECT doc_no, doc_id, occurred_ms, source_kind, source_name, theme_id, account_id, rating, group_key
FROM documents WHERE tenant_no = ? AND doc_no > ? ORDER BY doc_no
"""
_PASSAGES = """
SELECT p.passage_no, p.first, p.last, p.terms, p.vector
FROM documents d CROSS JOIN passages p ON p.passage_no BETWEEN d.doc_no << 20 AND (d.doc_no << 20) + 1048575
WHERE d.tenant_no = ? AND d.doc_no > ? ORDER BY d.doc_no, p.passage_no
"""
_REMOVALS = "SELECT doc_no FROM removals WHERE generation > ? AND tenant_no = ?"
