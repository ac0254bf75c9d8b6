"""One SQLite file as the durable truth: opening it, reading from many threads, writing from one at a time.

Readers never wait. A writer takes ``BEGIN IMMEDIATE``; across processes SQLite's own lock decides, within a process ours does. Write-ahead log, so
that a process killed at any moment leaves the last commit readable.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from search.engines.sqlite_errors import broken, not_writable, translated
from search.engines.sqlite_schema import check, create, is_empty, is_outdated, upgrade

BUSY_TIMEOUT_S = 15.0
_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_WRITER_CACHE_KIB = 8_192
_READER_CACHE_KIB = 1_024
_MOST_IDLE = 8
"""Reading connections kept for the next call; more are closed when given back."""


class SqliteStore:
    """The open file. Safe to use from many threads; not across a fork."""

    def __init__(self, path: Path, *, model: str, dimension: int, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.path = path = path.absolute()
        self.model = model
        self.dimension = dimension
        self._busy_timeout_s = busy_timeout_s
        self._writing = Lock()
        self._pool_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        _refuse_unusable(path)
        with translated(path):
            self._writer = self._connected(_WRITER_CACHE_KIB)
            try:
                self._prepare()
            except BaseException:
                self._writer.close()
                raise

    def _prepare(self) -> None:
        self._writer.execute("PRAGMA secure_delete = ON")
        if is_empty(self._writer):
            with self.writing() as connection:
                if is_empty(connection):
                    create(connection, self.model, self.dimension)
        if is_outdated(self._writer):
            with self.writing() as connection:
                if is_outdated(connection):
                    upgrade(connection)
        check(self._writer, self.path, self.model, self.dimension)
        self._writer.execute("PRAGMA journal_mode = WAL")

    def _connected(self, cache_kib: int) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False)
        connection.execute(f"PRAGMA cache_size = -{cache_kib}")
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection in a read transaction: everything read in the block is of one moment."""
        with translated(self.path):
            connection = self._taken()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._given_back(connection)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """The one writing connection in a write transaction, committed at the end of the block and undone by any exception.

        ``durable`` commits survive the loss of power, others only the death of the process.
        """
        with translated(self.path), self._writing:
            connection = self._writer
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def forget_log(self) -> None:
        """Move the write-ahead log into the file and empty it where no reader is in the way, so that deleted text does not stay in it."""
        with translated(self.path), self._writing:
            self._writer.execute("PRAGMA busy_timeout = 0")
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000)}")

    def close(self) -> None:
        """Close every connection."""
        with self._writing, self._pool_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()

    def _taken(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._closed:
                raise sqlite3.ProgrammingError("the store is closed")
            return self._idle.pop() if self._idle else self._connected(_READER_CACHE_KIB)

    def _given_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._pool_lock:
            if self._closed or len(self._idle) >= _MOST_IDLE:
                connection.close()
            else:
                self._idle.append(connection)


def _refuse_unusable(path: Path) -> None:
    """Name what is wrong with a file before SQLite touches it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        if not path.is_file():
            raise not_writable(path)
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        size, log = path.stat().st_size, path.with_name(path.name + "-wal")
        logged = log.exists() and log.stat().st_size > 0
    except OSError as error:
        raise not_writable(path) from error
    if header and (header[: len(_MAGIC)] != _MAGIC or (not logged and size < _promised_bytes(header))):
        raise broken(path)


def _promised_bytes(header: bytes) -> int:
    """How long the header says the file is; a file that lost its tail would be noticed by SQLite only when the tail is read."""
    page_bytes = int.from_bytes(header[16:18], "big")
    return (65_536 if page_bytes == 1 else page_bytes) * int.from_bytes(header[28:32], "big")
