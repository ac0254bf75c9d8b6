"""Lines of a text stream, none longer than the memory one row may take, with a way to step back."""

import re
from collections import deque
from collections.abc import Iterator
from typing import TextIO

from search.ingest.encodings import BROKEN

MAX_ROW_CHARS = 8 * 1024 * 1024
"""Longest row of input in characters; a longer one is rejected without being kept."""

MAX_ROW_LINES = 20_000
"""Most lines of one row; a quote that nothing closes is given up there."""

TOO_LONG = "\ud800"
"""Stands for a line that was longer than ``MAX_ROW_CHARS``; no decoder makes this character of sound bytes."""

_FAULT = re.compile(f"[{TOO_LONG}{BROKEN}]")


def fault_in(text: str) -> str | None:
    """Why ``text``, as decoded, cannot be a row or part of one; None when nothing is wrong."""
    if text.isascii() or not _FAULT.search(text):
        return None
    if TOO_LONG in text:
        return f"is longer than {MAX_ROW_CHARS:,} characters"
    return "holds bytes that are not in the encoding of the file; say which it is with --encoding"


class Lines:
    """An iterator of lines that remembers those of the present row, so that a row gone wrong can be read again line by line."""

    def __init__(self, stream: TextIO, limit: int = MAX_ROW_CHARS) -> None:
        self._stream = stream
        self._limit = limit
        self._waiting: deque[str] = deque()
        self._row: list[str] = []
        self._chars = 0

    def __iter__(self) -> Iterator[str]:
        """The lines."""
        return self

    def __next__(self) -> str:
        """The next line with its line end; an endless row ends here too, which ``row_too_long`` tells."""
        if self.row_too_long:
            raise StopIteration
        line = self._waiting.popleft() if self._waiting else self._read()
        if not line:
            raise StopIteration
        self._row.append(line)
        self._chars += len(line)
        return line

    @property
    def row_too_long(self) -> bool:
        """True when the lines since :meth:`start_row` exceed a limit."""
        return self._chars > self._limit or len(self._row) >= MAX_ROW_LINES

    def start_row(self) -> None:
        """Forget the lines handed out so far."""
        self._row.clear()
        self._chars = 0

    def step_back(self) -> None:
        """Hand out again every line of the present row but its first."""
        self._waiting.extendleft(reversed(self._row[1:]))
        self.start_row()

    def _read(self) -> str:
        line = self._stream.readline(self._limit + 1)
        if len(line) <= self._limit:
            return line
        rest = line
        while rest and not rest.endswith(("\n", "\r")):
            rest = self._stream.readline(self._limit)
        return TOO_LONG + "\n"
