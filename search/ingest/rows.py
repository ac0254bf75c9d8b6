"""What a reader hands to the pipeline: numbered rows, each a mapping of named values or a problem."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from search.ingest.date_order import UNSETTLED, ColumnOrder


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a row, or one field of it, cannot be taken."""

    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of input. ``number`` counts data rows from 1; ``values`` is empty where there is a ``problem``."""

    number: int
    values: Mapping[str, object] = field(default_factory=dict)
    problem: Problem | None = None


def _unknown() -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows with what is known about all of them.

    ``mapping`` tells which column each document field comes from, ``warnings`` what the reader had to assume (complete once the rows
    are used up), ``share_read`` how much of the input has been read, 0..1, or None where its end is not known.
    """

    rows: Iterable[Row]
    mapping: Mapping[str, str] = field(default_factory=dict)
    order: ColumnOrder = UNSETTLED
    warnings: list[str] = field(default_factory=list)
    share_read: Callable[[], float | None] = _unknown

    def __iter__(self) -> Iterator[Row]:
        """The rows, once."""
        return iter(self.rows)


def rows_of(documents: Iterable[Mapping[str, object]]) -> RowSource:
    """Rows of documents that are already mappings, numbered from 1 in their order."""
    return RowSource(Row(number, values) for number, values in enumerate(documents, start=1))
