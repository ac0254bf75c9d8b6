"""Where bytes come from: a file that can be opened again, or a stream that passes once. Gzip is unpacked on the way."""

import codecs
import gzip
import io
import itertools
import stat
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO, cast

from runtime.errors import InvalidRequest
from search.ingest.cleaning import shown
from search.ingest.encodings import BLOCK_BYTES, MARK_BROKEN, Encoding, detected_encoding

BREAKS = (OSError, EOFError, zlib.error, UnicodeError)
"""What reading an input raises where the input breaks off."""

_SAMPLE_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"
_NOT_TEXT = {b"PK\x03\x04": "an Excel or ZIP file", b"%PDF": "a PDF file", b"SQLite format": "a database file"}


class Input(Protocol):
    """Some bytes with a name (lower case, without ``.gz``; empty for a stream)."""

    name: str

    def encoding(self) -> Encoding:
        """The encoding that the bytes are in."""
        ...

    def sample(self, encoding: Encoding) -> str:
        """The first whole lines."""
        ...

    def text(self, encoding: Encoding) -> TextIO:
        """All of it as text, line ends untouched. A stream gives it once."""
        ...

    def share_read(self) -> float | None:
        """How much of the last :meth:`text` was read, 0..1; None where the length is not known."""
        ...

    def again(self) -> "Input | None":
        """The same input from its start, independent of this one; None where there is no way back."""
        ...


def opened(source: Path | BinaryIO, closing: ExitStack) -> Input:
    """The input at a path, or of a binary stream; whatever it opens is closed by ``closing``, the given stream is not.

    Raises:
        InvalidRequest: on ``file``; it does not exist, cannot be read, or is not text.
    """
    try:
        if not isinstance(source, Path):
            return _Stream(source, closing)
        if stat.S_ISREG(source.stat().st_mode):
            return _File(source, closing)
        return _Stream(closing.enter_context(source.open("rb")), closing)
    except BREAKS as error:
        raise unreadable(source, error) from error


def unreadable(source: object, error: BaseException) -> InvalidRequest:
    """The error for an input that cannot be read at all."""
    where = f"{shown(str(source))} " if isinstance(source, Path) else ""
    return InvalidRequest(f"{where}cannot be read: {cause(error)}", field="file")


def cause(error: BaseException) -> str:
    """What the system said, in short."""
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


class _File:
    def __init__(self, path: Path, closing: ExitStack) -> None:
        self._path = path
        self._closing = closing
        self._size = path.stat().st_size
        self._raw: BinaryIO | None = None
        self.name = path.name.lower().removesuffix(".gz")
        _refuse_other_kinds(self._bytes().read(16))

    def encoding(self) -> Encoding:
        return detected_encoding(_until_break(self._bytes()))

    def sample(self, encoding: Encoding) -> str:
        return _first_lines(self._bytes().read(_SAMPLE_BYTES), encoding)

    def text(self, encoding: Encoding) -> TextIO:
        return self._closing.enter_context(_text(self._bytes(), encoding))

    def share_read(self) -> float | None:
        if self._raw is None or self._raw.closed or not self._size:
            return None
        return min(1.0, self._raw.tell() / self._size)

    def again(self) -> Input:
        return _File(self._path, self._closing)

    def _bytes(self) -> BinaryIO:
        self._raw = self._closing.enter_context(self._path.open("rb"))
        packed = self._raw.read(len(_GZIP)) == _GZIP
        self._raw.seek(0)
        return self._closing.enter_context(cast("BinaryIO", gzip.GzipFile(fileobj=self._raw))) if packed else self._raw


class _Stream:
    name = ""

    def __init__(self, stream: BinaryIO, closing: ExitStack) -> None:
        self._closing = closing
        first = _read(stream, len(_GZIP))
        self._stream: BinaryIO = _joined(first, stream)
        if first == _GZIP:
            self._stream = cast("BinaryIO", gzip.GzipFile(fileobj=self._stream))
        self._head = _read(self._stream, BLOCK_BYTES)
        _refuse_other_kinds(self._head)

    def encoding(self) -> Encoding:
        return detected_encoding([_whole_lines(self._head) if len(self._head) == BLOCK_BYTES else self._head])

    def sample(self, encoding: Encoding) -> str:
        return _first_lines(self._head[:_SAMPLE_BYTES], encoding)

    def text(self, encoding: Encoding) -> TextIO:
        return self._closing.enter_context(_text(_joined(self._head, self._stream), encoding))

    def share_read(self) -> float | None:
        return None

    def again(self) -> Input | None:
        return None


class _Joined(io.RawIOBase):
    """Some bytes, and then a stream; closing it leaves the stream open."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._first = memoryview(first)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]", /) -> int:  # type: ignore[override]
        piece = bytes(self._first[: len(buffer)]) or self._rest.read(len(buffer)) or b""
        self._first = self._first[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _joined(first: bytes, rest: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_Joined(first, rest))


def _read(stream: BinaryIO, size: int) -> bytes:
    """``size`` bytes, or fewer at the end; some streams give less than asked before their end."""
    pieces = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _text(stream: BinaryIO, encoding: Encoding) -> TextIO:
    return io.TextIOWrapper(stream, encoding=encoding.codec, errors=MARK_BROKEN, newline="")


def _first_lines(head: bytes, encoding: Encoding) -> str:
    text = codecs.getincrementaldecoder(encoding.codec)(errors="replace").decode(head)
    return text[: text.rfind("\n") + 1] or text if len(head) == _SAMPLE_BYTES else text


def _whole_lines(head: bytes) -> bytes:
    return head[: head.rfind(b"\n") + 1] or head


def _until_break(stream: BinaryIO) -> Iterator[bytes]:
    try:
        yield from itertools.takewhile(bool, iter(lambda: stream.read(BLOCK_BYTES), b""))
    except BREAKS:
        return  # the rows before the break are read, and a last row tells of it


def _refuse_other_kinds(head: bytes) -> None:
    kind = next((kind for mark, kind in _NOT_TEXT.items() if head.startswith(mark)), None)
    if kind:
        raise InvalidRequest(f"is {kind}; export it as CSV or JSON lines", field="file")
