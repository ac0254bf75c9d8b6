"""The one place where SQLite's exceptions become ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.errors import InvalidRequest, Misconfigured, ServiceError, Unavailable

DEPENDENCY = "store"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Run a block that talks to the store at ``path``; what SQLite raises in it comes out as one of our errors, or unchanged when it is a defect."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidRequest("holds half of a surrogate pair, which is no character") from error
    except sqlite3.Error as error:
        meaning = service_error(error, path)
        if meaning is None:
            raise
        raise meaning from error


def service_error(error: sqlite3.Error, path: Path) -> ServiceError | None:
    """What an exception of the driver means to the caller; None for a defect of our own (bad SQL, a broken constraint)."""
    if isinstance(error, sqlite3.ProgrammingError):
        return Unavailable(f"the store {path} is closed", dependency=DEPENDENCY) if "closed" in str(error) else None
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else _by_code(code & 0xFF, path)


def _by_code(code: int, path: Path) -> ServiceError | None:
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT):
        return broken(path)
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return not_writable(path)
    reason = _PASSING.get(code)
    return Unavailable(f"the store {path} {reason}", dependency=DEPENDENCY) if reason else None


_PASSING = {
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; free some space and try again, nothing acknowledged was lost",
    sqlite3.SQLITE_BUSY: "is locked by another process; try again",
    sqlite3.SQLITE_LOCKED: "is locked; try again",
    sqlite3.SQLITE_PROTOCOL: "is locked by another process; try again",
    sqlite3.SQLITE_IOERR: "could not be read or written; check the disk and its free space, then try again",
    sqlite3.SQLITE_NOMEM: "could not be read: memory is exhausted",
    sqlite3.SQLITE_INTERRUPT: "was interrupted",
    sqlite3.SQLITE_TOOBIG: "cannot hold a value that large",
}


def broken(path: Path) -> Misconfigured:
    """The file is damaged, half written, or no database at all."""
    return Misconfigured(
        f"{path} is not a readable WisdomAgent store (damaged, cut short, or another kind of file); "
        "restore it from a backup, or name another file in WA_ENGINE_URL and ingest again"
    )


def foreign(path: Path) -> Misconfigured:
    """The file is a database of something else."""
    return Misconfigured(f"{path} is a SQLite database of another program; name another file in WA_ENGINE_URL")


def not_writable(path: Path) -> Misconfigured:
    """The file or its folder cannot be opened for writing."""
    return Misconfigured(
        f"{path} cannot be opened for writing; check that its folder exists and is writable, or name another file in WA_ENGINE_URL"
    )
