"""Rows of a CSV file: one record each, quoted line ends included, and a named rejection for every record that does not fit."""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

from runtime.errors import InvalidRequest
from search.ingest.cleaning import one_line, shown
from search.ingest.lines import MAX_ROW_CHARS, TOO_LONG, Lines, fault_in
from search.ingest.rows import Problem, Row

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 50
_MAX_COLUMNS = 2_000
_MAX_RUNAWAYS = 3
_ANNOUNCED = re.compile(r'"?sep=(.)"?\s*\Z', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns, in order, all different; ``warnings`` tells which had to be changed."""

    columns: tuple[str, ...]
    warnings: tuple[str, ...]


class CsvRows:
    """A CSV file being read. Its header is read at once; iterating gives the rows, once."""

    def __init__(self, stream: TextIO, delimiter: str, limit: int = MAX_ROW_CHARS) -> None:
        """Read the header.

        Raises:
            InvalidRequest: on ``file``; there is no header.
        """
        csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_CHARS + 1))  # of the whole process; never lowered
        self._lines = Lines(stream, limit)
        self._delimiter = delimiter
        self._runaways = 0
        self._reader = self._new_reader()
        self.header = self._read_header()

    def __iter__(self) -> Iterator[Row]:
        """The rows, numbered from 1; blank lines are none."""
        number = 0
        while True:
            self._lines.start_row()
            try:
                record = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                yield Row(number, problem=self._gone_wrong(error))
                continue
            if record:
                number += 1
                yield self._row(number, record)

    def _new_reader(self) -> "Iterator[list[str]]":
        return csv.reader(self._lines, delimiter=self._delimiter, strict=True, skipinitialspace=True)

    def _read_header(self) -> Header:
        try:
            names = next((record for record in self._reader if any(map(str.strip, record)) and not _announces(record)), None)
        except csv.Error as error:
            raise InvalidRequest(f"the header cannot be read: {error}", field="file") from error
        if names is None:
            raise InvalidRequest("holds no rows", field="file")
        if len(names) > _MAX_COLUMNS or self._lines.row_too_long or TOO_LONG in names:
            raise InvalidRequest(f"has more than {_MAX_COLUMNS:,} columns, or is no CSV file", field="file")
        return _header(names)

    def _row(self, number: int, record: list[str]) -> Row:
        columns = self.header.columns
        fault = None if all(map(str.isascii, record)) else fault_in("".join(record))
        if fault is not None:
            return Row(number, problem=Problem("row", fault))
        if len(record) != len(columns):
            return Row(number, problem=Problem("row", _miscounted(len(record), len(columns))))
        return Row(number, dict(zip(columns, record, strict=True)))

    def _gone_wrong(self, error: csv.Error) -> Problem:
        """Give up the first line of the row that failed and read on behind it, so that a stray quote does not swallow what follows."""
        runaway = self._lines.row_too_long
        self._lines.step_back()
        self._runaways += runaway
        if self._runaways > _MAX_RUNAWAYS:
            self._reader = _line_by_line(self._lines, self._delimiter)
        else:
            self._reader = self._new_reader()
        return Problem("row", _explained(error))


def delimiter_of(sample: str, columns_known: Sequence[str] = ()) -> str:
    """The delimiter of a CSV file that begins with ``sample``: the one that cuts header and rows into equally many fields, and more than one.

    ``columns_known`` are names that speak for the delimiter under which the header has them. A file of one column gets a comma.
    """
    announced = _ANNOUNCED.match(sample.split("\n", 1)[0])
    if announced:
        return announced[1]
    scores = {delimiter: _evenness(sample, delimiter, columns_known) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    return best if scores[best] > (0, 0.0, 0) else ","


def _evenness(sample: str, delimiter: str, columns_known: Sequence[str]) -> tuple[int, float, int]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, skipinitialspace=True)
    records: list[list[str]] = []
    with suppress(csv.Error):
        records.extend(record for record in itertools.islice(reader, _SAMPLE_ROWS) if record)
    if not records or len(records[0]) < 2:
        return (0, 0.0, 0)
    known = sum(one_line(name).text.lower() in columns_known for name in records[0])
    width = len(records[0])
    return (known, sum(len(record) == width for record in records) / len(records), width)


def _announces(record: list[str]) -> bool:
    """True for the line ``sep=;`` that spreadsheets put before the header (cut at the delimiter it announces)."""
    return record[0].lower().startswith("sep=") and len("".join(record)) <= len("sep=x")


def _header(names: list[str]) -> Header:
    columns: list[str] = []
    warnings = []
    for at, raw in enumerate(names, start=1):
        name = one_line(raw).text or f"column_{at}"
        if name in columns:
            changed = next(f"{name}_{n}" for n in range(2, len(names) + 2) if f"{name}_{n}" not in columns and f"{name}_{n}" not in names)
            warnings.append(f"header: {shown(name)} is there more than once; column {at} is called {shown(changed)}")
            name = changed
        columns.append(name)
    return Header(tuple(columns), tuple(warnings))


def _miscounted(found: int, wanted: int) -> str:
    cause = "a quote or the delimiter may be missing" if found < wanted else "a text with the delimiter inside may lack its quotes"
    return f"has {found} fields where the header has {wanted}; {cause}"


def _explained(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "opens a quote that nothing closes"
    if "expected after" in str(error):
        return "has text behind a closing quote; a quote inside a quoted field is written twice"
    return f"cannot be read as CSV: {error}"


def _line_by_line(lines: Lines, delimiter: str) -> Iterator[list[str]]:
    """Each line a record of its own: what is left when quotes are hopeless."""
    return _Single(lines, delimiter)


class _Single:
    """Reads every line by itself; fails on a line without harm to the next."""

    def __init__(self, lines: Lines, delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        line = next(self._lines)
        return next(csv.reader([line], delimiter=self._delimiter, strict=True, skipinitialspace=True), [])
