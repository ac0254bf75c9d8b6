"""Months of the embedded engine: there is one file, so a month is the documents that occurred in it."""

from runtime.tenancy import Tenant
from search.engines.document_rows import tenant_number
from search.engines.sqlite_schema import PASSAGE_BITS
from search.engines.sqlite_store import SqliteStore
from search.ports import MonthsHeld


class EmbeddedMonths:
    """Implements :class:`search.ports.Months`."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def held(self, tenant: Tenant) -> MonthsHeld:
        """See :class:`search.ports.Months`. Text, words and vectors; without the pages they fill only in part."""
        with self._store.reading() as connection:
            tenant_no = tenant_number(connection, tenant)
            rows = [] if tenant_no is None else connection.execute(_SIZES, {"tenant": tenant_no, "bits": PASSAGE_BITS}).fetchall()
        return MonthsHeld({month: int(size) for month, size in rows})

    def drop(self, tenant: Tenant, month: str) -> bool:
        """See :class:`search.ports.Months`. Deleted rows have left the file already, and their pages are used again."""
        return not self.held(tenant).sizes.get(month)


_SIZES = """
SELECT strftime('%Y-%m', d.occurred_ms / 1000, 'unixepoch') AS month,
    sum(length(CAST(d.text || coalesce(d.title, '') || d.attributes AS BLOB)) + length(d.terms) + (
        SELECT coalesce(sum(length(p.terms) + length(p.vector)), 0) FROM passages p
        WHERE p.passage_no BETWEEN d.doc_no << :bits AND ((d.doc_no + 1) << :bits) - 1
    ))
FROM documents d WHERE d.tenant_no = :tenant GROUP BY month ORDER BY month
"""
