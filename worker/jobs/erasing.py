"""Rows that wait for the worker while their account is erased."""

from collections.abc import Callable

from search.ingest.report import Rejection
from worker.jobs.chunks import WaitingChunk, WaitingRow
from worker.jobs.outcome import RejectedRow

ACCOUNT_ERASED = "its account was erased after the row was handed in"


def without_accounts(chunk: WaitingChunk, erased: Callable[[str], bool]) -> tuple[WaitingChunk, int]:
    """The chunk with rows of these accounts rejected instead, so that its counts still add up, and how many they were."""
    gone = [row for row in chunk.rows if erased(str(row.values.get("account_id", "")))]
    if not gone:
        return chunk, 0
    kept = tuple(row for row in chunk.rows if row not in gone)
    return WaitingChunk(kept, (*chunk.rejected, *map(_rejected, gone))), len(gone)


def _rejected(row: WaitingRow) -> RejectedRow:
    return RejectedRow(Rejection(row.number, None, "account_id", ACCOUNT_ERASED))
