"""Rows of JSON: one object a line, or the elements of one array, or objects one after another."""

import json
import re
from collections.abc import Iterator
from typing import TextIO

from search.ingest.cleaning import shown
from search.ingest.lines import MAX_ROW_CHARS, Lines, fault_in
from search.ingest.rows import Problem, Row

_READ_CHARS = 1 << 18
_SPACE = re.compile(r"[\s\ufeff]*")
_SEPARATOR = re.compile(r"[\s\ufeff,]*")


def json_lines(stream: TextIO, limit: int = MAX_ROW_CHARS) -> Iterator[Row]:
    """One row for every line that is not blank; a line that is no JSON object is a problem, and the next ones are read all the same."""
    lines, reader = Lines(stream, limit), _Reader()
    number = 0
    for line in lines:
        lines.start_row()
        text = line.strip().strip("\ufeff")
        if text:
            number += 1
            yield _row_of_line(reader, number, text)


def json_values(stream: TextIO, limit: int = MAX_ROW_CHARS) -> Iterator[Row]:
    """One row for every element of the array in ``stream``, or for every object where objects follow one another.

    Nothing tells where a broken element ends: it is one problem, which says that the rest was not read.
    """
    window = _Window(stream, limit)
    number = 0
    in_array = window.skip(_SPACE) == "["
    window.at += in_array
    while window.skip(_SEPARATOR if in_array else _SPACE) not in ("", "]"):
        number += 1
        try:
            value = window.value()
        except (ValueError, RecursionError) as error:
            yield Row(number, problem=Problem("row", f"{_reason(error)}; nothing behind it could be read"))
            return
        yield _row_of_value(number, value)
    if in_array and not window.skip(_SPACE):
        yield Row(number + 1, problem=Problem("row", "the array is cut off here"))


def starts_like_json_lines(sample: str) -> bool:
    """True when the first line that is not blank is a whole JSON object, or is a broken one before lines that are."""
    first, *others = [line.rstrip().strip("\ufeff") for line in sample.splitlines() if line.strip()] or [""]
    broken = first.startswith("{") and any(line.startswith("{") and _is_object(line) for line in others)
    return broken or _is_object(first)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, parse_int=float), dict)
    except (ValueError, RecursionError):
        return False


class _Reader:
    """Reads on behind what JSON does not know (``NaN``), Python does not take (a number of thousands of digits), or nobody can mean (a name given
    twice with different values): it costs one row, not the file."""

    def __init__(self) -> None:
        self._decoder = json.JSONDecoder(parse_constant=self._constant, parse_int=self._whole_number, object_pairs_hook=self._named_values)
        self._fault = ""

    def whole(self, text: str) -> object:
        """The one value of ``text``, or a :class:`Problem` where it cannot be taken. Raises ``ValueError`` for what is not JSON."""
        self._fault = ""
        return self._taken(self._decoder.decode(text))

    def first(self, text: str, at: int) -> tuple[object, int]:
        """As :meth:`whole`, for the value that begins at ``at``, and where it ends."""
        self._fault = ""
        value, end = self._decoder.raw_decode(text, at)
        return self._taken(value), end

    def _taken(self, value: object) -> object:
        return Problem("row", f"is not JSON that can be taken: {self._fault}") if self._fault else value

    def _named_values(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next((name for name, value in pairs if repr(found[name]) != repr(value)), None)
            self._fault = self._fault or ("" if twice is None else f"{shown(twice)} is given twice with different values")
        return found

    def _constant(self, name: str) -> None:
        self._fault = f"{name} is not JSON"

    def _whole_number(self, digits: str) -> int:
        try:
            return int(digits)
        except ValueError:
            self._fault = f"it holds a number of {len(digits):,} digits"
            return 0


class _Window:
    """The part of the stream in memory; ``at`` is the next character to look at."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._reader = _Reader()
        self._text = ""
        self.at = 0

    def skip(self, blank: re.Pattern[str]) -> str:
        """Move behind what ``blank`` matches; returns the character found there, empty at the end."""
        while True:
            found = blank.match(self._text, self.at)
            assert found is not None
            self.at = found.end()
            if self.at < len(self._text):
                return self._text[self.at]
            if not self._grow(_READ_CHARS):
                return ""

    def value(self) -> object:
        """The JSON value that begins here. Raises ``ValueError`` where there is none within the limit."""
        while True:
            try:
                value, end = self._reader.first(self._text, self.at)
            except ValueError:
                held = len(self._text) - self.at
                if held > self._limit or not self._grow(max(_READ_CHARS, held)):
                    raise
                continue
            if end < len(self._text) or isinstance(value, dict | list) or not self._grow(_READ_CHARS):
                return self._taken(value, end)

    def _taken(self, value: object, end: int) -> object:
        fault = fault_in(self._text[self.at : end])
        self.at = end
        return Problem("row", fault) if fault else value

    def _grow(self, chars: int) -> bool:
        more = self._stream.read(chars)
        self._text = self._text[self.at :] + more
        self.at = 0
        return bool(more)


def _row_of_line(reader: _Reader, number: int, text: str) -> Row:
    fault = fault_in(text)
    if fault is not None:
        return Row(number, problem=Problem("row", fault))
    try:
        return _row_of_value(number, reader.whole(text))
    except (ValueError, RecursionError) as error:
        return Row(number, problem=Problem("row", _reason(error)))


def _row_of_value(number: int, value: object) -> Row:
    if isinstance(value, Problem):
        return Row(number, problem=value)
    if isinstance(value, dict):
        return Row(number, value)
    return Row(number, problem=Problem("row", "is JSON, but not an object of names and values"))


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    assert isinstance(error, json.JSONDecodeError)
    return f"is not JSON: {error.msg.lower()} at character {error.colno}"
