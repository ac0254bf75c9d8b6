"""Files and streams of documents: CSV, JSON lines and JSON arrays, packed or not, read without holding them in memory."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Literal

from runtime.errors import InvalidRequest
from search.ingest.cleaning import shown
from search.ingest.columns import ALIASES, Columns, choose
from search.ingest.csv_rows import CsvRows, delimiter_of
from search.ingest.date_order import UNSETTLED, ColumnOrder, DateOrder, OrderEvidence
from search.ingest.encodings import Encoding, named_encoding
from search.ingest.inputs import BREAKS, Input, cause, opened, unreadable
from search.ingest.json_rows import json_lines, json_values, starts_like_json_lines
from search.ingest.rows import Problem, Row, RowSource

Format = Literal["csv", "jsonl", "json"]

LOOK_AHEAD_ROWS = 5_000
LOOK_AHEAD_CHARS = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about a file; what is left out is found out. ``mapping`` is field to column."""

    format: Format | None = None
    encoding: str | None = None
    delimiter: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    date_order: DateOrder | None = None


AS_FOUND = ReadOptions()


@contextmanager
def read_rows(source: Path | BinaryIO, options: ReadOptions = AS_FOUND) -> Iterator[RowSource]:
    """Open a file, or a binary stream such as stdin, and yield its rows under field names.

    The encoding, the format, the delimiter and the order of day and month are settled first. For a file that takes a look at all of it; for a stream, at
    its first MiB and 5,000 rows (at most 16 Mi characters), and later rows that contradict are rejected. Gzip is unpacked on the way. A file
    that breaks off yields a last row saying so.

    Raises:
        InvalidRequest: on ``file``, ``encoding``, ``format``, ``delimiter`` or ``map``; nothing was read.
    """
    with ExitStack() as closing:
        found = opened(source, closing)
        try:
            rows = _rows(found, options)
        except BREAKS as error:
            raise unreadable(source, error) from error
        yield rows


def _rows(found: Input, options: ReadOptions) -> RowSource:
    encoding = named_encoding(options.encoding) if options.encoding else found.encoding()
    table = _table(found, encoding, options)
    ahead = _look_ahead(table.rows)
    columns = choose(table.columns or _columns_of(ahead.rows), options.mapping, complete=table.columns is not None)
    return RowSource(
        rows=(replace(row, values=columns.apply(row.values)) for row in itertools.chain(ahead.rows, table.rows)),
        mapping=columns.mapping,
        order=_order(ahead, columns, lambda: _reread(found, encoding, options), options),
        warnings=[*filter(None, [encoding.warning]), *table.warnings, *columns.warnings],
        share_read=found.share_read,
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows as they stand in the input. ``columns`` is None where each row brings its own."""

    rows: Iterator[Row]
    columns: Sequence[str] | None = None
    warnings: tuple[str, ...] = ()


def _table(found: Input, encoding: Encoding, options: ReadOptions) -> _Table:
    sample = found.sample(encoding)
    chosen = options.format or _format(found.name, sample)
    if chosen == "csv":
        delimiter = _one_character(options.delimiter) or ("\t" if found.name.endswith(".tsv") else _delimiter(sample))
        rows = CsvRows(found.text(encoding), delimiter)
        return _Table(_guarded(rows), rows.header.columns, rows.header.warnings)
    lines = chosen == "jsonl" or starts_like_json_lines(sample)
    read = json_lines if lines else json_values
    return _Table(_guarded(read(found.text(encoding))))


def _format(name: str, sample: str) -> Format:
    if name.endswith((".csv", ".tsv")):
        return "csv"
    if name.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    first = sample.lstrip().lstrip("\ufeff")[:1]
    if name.endswith(".json") or first in ("{", "["):
        return "json"
    return "csv"


def _delimiter(sample: str) -> str:
    return delimiter_of(sample, tuple(alias for aliases in ALIASES.values() for alias in aliases))


def _one_character(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    named = {"tab": "\t", "\\t": "\t"}.get(delimiter.lower(), delimiter)
    if len(named) != 1 or named in '"\r\n\x00 ':
        raise InvalidRequest(f"{shown(delimiter)} is not one character such as , ; | or tab", field="delimiter")
    return named


def _guarded(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows; where the input breaks off, a last one that says so."""
    number = 0
    try:
        for row in rows:
            number = row.number
            yield row
    except BREAKS as error:
        yield Row(number + 1, problem=Problem("row", f"the input breaks off here ({cause(error)}); nothing behind it could be read"))


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The first rows; ``all_read`` when there are no more."""

    rows: tuple[Row, ...]
    all_read: bool


def _look_ahead(rows: Iterator[Row]) -> _Ahead:
    ahead: list[Row] = []
    chars = 0
    for row in rows:
        ahead.append(row)
        chars += sum(len(value) for value in row.values.values() if isinstance(value, str))
        if len(ahead) >= LOOK_AHEAD_ROWS or chars >= LOOK_AHEAD_CHARS:
            return _Ahead(tuple(ahead), all_read=False)
    return _Ahead(tuple(ahead), all_read=True)


def _columns_of(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for row in rows for column in row.values))


def _order(ahead: _Ahead, columns: Columns, reread: Callable[[], Iterable[Row]], options: ReadOptions) -> ColumnOrder:
    """The order of day and month in the date column; the rest of a file is read for it only when its first rows have such dates."""
    column = columns.mapping.get("occurred_at")
    if options.date_order is not None:
        return ColumnOrder(options.date_order)
    if column is None:
        return UNSETTLED
    evidence = OrderEvidence()
    for row in ahead.rows:
        evidence.look_at(row.number, row.values.get(column))
    if evidence.matters and not ahead.all_read:
        for row in itertools.islice(reread(), len(ahead.rows), None):
            evidence.look_at(row.number, row.values.get(column))
    return evidence.settled()


def _reread(found: Input, encoding: Encoding, options: ReadOptions) -> Iterable[Row]:
    again = found.again()
    return () if again is None else _table(again, encoding, options).rows
