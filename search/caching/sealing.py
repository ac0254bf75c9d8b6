"""Entries that can be told from forgeries: what they are about is written in them, and all of it is signed with a secret the cache never sees."""

import hashlib
import hmac
import json
import zlib
from typing import Any, NoReturn

_FORM = b"\x01"
_MAC_BYTES = 32
_MAX_PLAIN_BYTES = 8 * 1024 * 1024


class Rejected(ValueError):
    """An entry that is none of ours, or is not what its name says; the text tells why, and nothing of its content."""


def sealed(secret: bytes, about: str, value: Any) -> bytes:
    """An entry. ``about`` is the whole key in words; ``value`` plain JSON values.

    Raises:
        ValueError: a number in it is not finite, or it is too long.
    """
    plain = json.dumps([about, value], separators=(",", ":"), allow_nan=False).encode()
    if len(plain) > _MAX_PLAIN_BYTES:
        raise ValueError("too long to be kept")
    packed = zlib.compress(plain, 1)
    return _FORM + _mac(secret, packed) + packed


def opened(secret: bytes, about: str, entry: bytes) -> Any:
    """The value of an entry.

    Raises:
        Rejected: it was not sealed with this secret, or is about something else.
    """
    mac, packed = entry[1 : 1 + _MAC_BYTES], entry[1 + _MAC_BYTES :]
    if entry[:1] != _FORM or not hmac.compare_digest(mac, _mac(secret, packed)):
        raise Rejected("it bears no signature of ours")
    content = _unpacked(packed)
    if not isinstance(content, list) or len(content) != 2 or content[0] != about:
        raise Rejected("it is about something else")
    return content[1]


def _mac(secret: bytes, packed: bytes) -> bytes:
    return hmac.digest(secret, packed, hashlib.sha256)


def _unpacked(packed: bytes) -> Any:
    try:
        stream = zlib.decompressobj()
        plain = stream.decompress(packed, _MAX_PLAIN_BYTES)
        if not stream.eof or stream.unconsumed_tail:
            raise Rejected("it has no end")
        return json.loads(plain, parse_constant=_no_number)
    except (zlib.error, ValueError, RecursionError) as error:
        raise Rejected(f"it cannot be read ({type(error).__name__})") from error


def _no_number(_text: str) -> NoReturn:
    raise ValueError("a number that is not finite")
