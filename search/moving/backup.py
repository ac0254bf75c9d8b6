"""Backup of a store file while it is in use, and putting one back."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import Conflict, Misconfigured, NotFound
from search.engines.sqlite_errors import broken, foreign, translated
from search.engines.sqlite_schema import APPLICATION_ID, SCHEMA_VERSION
from search.moving.sqlite_archive import opened_for_reading

_BLOCK_BYTES = 1 << 20
_LOG_FILES = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup file. ``checked`` is False where there was no checksum beside it to hold it against."""

    path: Path
    documents: int
    size: int
    sha256: str
    checked: bool = True


def backed_up(store: Path, path: Path) -> Backup:
    """Copy the store as it is at one moment; readers and writers of it go on. Its checksum is put beside the copy, as ``sha256sum --check`` reads it.

    Raises:
        Conflict: ``path`` or its checksum is there already.
        NotFound: there is no store.
        Misconfigured: the store is damaged, or of another release.
    """
    with closing(opened_for_reading(store)) as source, _made(path) as part, translated(store):
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            documents = _sound(copy, store)
        digest = _sha256(part)
        _checksum_of(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return Backup(path, documents, path.stat().st_size, digest)


def inspected(path: Path) -> Backup:
    """What a backup is, after its checksum, every page and every index of it were checked.

    Raises:
        NotFound: there is no such file.
        Misconfigured: it is damaged, no store, or of a later release.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    digest, checksum = _sha256(path), _checksum_of(path)
    if checksum.is_file() and checksum.read_text("utf-8").split()[:1] != [digest]:
        raise Misconfigured(f"{path} is not what {checksum} was written for; it is damaged or was changed")
    with translated(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)) as connection:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise foreign(path)
        if connection.execute("PRAGMA user_version").fetchone()[0] > SCHEMA_VERSION:
            raise Misconfigured(f"{path} was made by a later release; restore it with that one")
        documents = _sound(connection, path)
    return Backup(path, documents, path.stat().st_size, digest, checksum.is_file())


def restored(path: Path, store: Path, *, overwrite: bool = False) -> Backup:
    """Put a backup where the store is. What was there is gone; until the last step it is as it was.

    Raises:
        Conflict: there is a store and ``overwrite`` is not given, or another process has it open.
        Misconfigured: the backup is damaged or of a later release.
    """
    backup = inspected(path)
    if store.exists():
        if not overwrite:
            raise Conflict(f"{store} is there already")
        _closed_by_all(store)
    store.parent.mkdir(parents=True, exist_ok=True)
    part = store.with_name(f"{store.name}.restoring")
    try:
        with path.open("rb") as source, _private(part).open("wb") as copy:
            shutil.copyfileobj(source, copy, _BLOCK_BYTES)
            copy.flush()
            os.fsync(copy.fileno())
        for ending in _LOG_FILES:
            store.with_name(store.name + ending).unlink(missing_ok=True)
        part.replace(store)
        _settle_folder(store.parent)
    finally:
        part.unlink(missing_ok=True)
    return backup


@contextmanager
def _made(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its place when the block ends well. Only its owner reads it: it holds texts and hashes of keys."""
    checksum = _checksum_of(path)
    for taken in (path, checksum):
        if taken.exists():
            raise Conflict(f"{taken} is there already; name another file")
    part = _private(path.with_name(f"{path.name}.part"))
    try:
        yield part
        _settle(part)
        _named(part, path)
        _settle_folder(path.parent)
    except BaseException:
        if not path.exists():
            checksum.unlink(missing_ok=True)
        raise
    finally:
        part.unlink(missing_ok=True)


def _named(part: Path, path: Path) -> None:
    """Give a finished file its name: unlike a rename, a link is never put over a file that came meanwhile. Some network shares have none."""
    try:
        os.link(part, path)
    except FileExistsError as error:
        raise Conflict(f"{path} is there already; name another file") from error
    except OSError:
        part.rename(path)


def _private(path: Path) -> Path:
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def _sound(connection: sqlite3.Connection, path: Path) -> int:
    """How many documents are in a file without a fault."""
    if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise broken(path)
    return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])


def _closed_by_all(store: Path) -> None:
    """Leaving the write-ahead log works for the only connection alone. A damaged file cannot tell."""
    try:
        with closing(sqlite3.connect(store, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as error:
        raise Conflict(f"another process has {store} open; stop servers and workers first") from error
    except sqlite3.DatabaseError:
        return


def _checksum_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settle(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _settle_folder(folder: Path) -> None:
    """Names in a folder survive a loss of power; where a folder cannot be opened, as far as the system goes by itself."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
