"""Bounds on how often one and the same line is written: what is beyond them is counted, and the count is written."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, TextIO

WINDOW_S = 60.0
MOST_KINDS = 1000
"""Kinds of lines that are counted; those of a library that writes a new one each time are let through."""
_TOLD_APART_BY = ("operation", "duty", "task", "dependency", "channel")

KindOfLine = tuple[str, int, str]


class SampledHandler(logging.StreamHandler[TextIO]):
    """Writes at most ``per_window`` lines of a kind (logger, level, event, and what of) in a minute, then one line that says how many were left out.
    Errors, and loggers in ``unsampled``, are always written; 0 writes everything."""

    def __init__(
        self, stream: TextIO, per_window: int, *, unsampled: Collection[str] = (), seconds: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(stream)
        self._most = per_window
        self._unsampled = frozenset(unsampled)
        self._seconds = seconds
        self._begun_s = seconds()
        self._seen: Counter[KindOfLine] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write it or count it. The library holds the handler's lock."""
        if not self._most or record.levelno >= logging.ERROR or record.name in self._unsampled:
            super().emit(record)
            return
        if self._seconds() - self._begun_s >= WINDOW_S:
            self._tell()
            self._begun_s = self._seconds()
        kind = _kind(record)
        if kind in self._seen or len(self._seen) < MOST_KINDS:
            self._seen[kind] += 1
        if self._seen[kind] <= self._most:
            super().emit(record)

    def close(self) -> None:
        """Say what was left out, and end."""
        with self.lock or _NoLock():
            if not self.stream.closed:
                self._tell()
        super().close()

    def _tell(self) -> None:
        """Of every kind of which some were left out, how many, as a line of its own."""
        seen, self._seen = self._seen, Counter()
        for (name, level, event), times in seen.items():
            if times > self._most:
                words = f"{times - self._most} more lines like this were left out within a minute: {event}"
                super().emit(logging.LogRecord(name, level, "", 0, words, None, None))


class _NoLock:
    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


def _kind(record: logging.LogRecord) -> KindOfLine:
    said: Any = record.msg
    if not isinstance(said, dict):
        return record.name, record.levelno, str(said)
    apart = " ".join(str(said[name]) for name in _TOLD_APART_BY if name in said)
    return record.name, record.levelno, f"{said.get('event')} {apart}".rstrip()
