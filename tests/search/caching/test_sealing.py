"""An entry is ours, whole, and about what was asked, or it is nothing."""

import json
import pickle
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.caching.sealing import Rejected, opened, sealed

SECRET = bytes(range(32))
ENTRY = sealed(SECRET, "key", {"value": [1, "two", None]})


def test_what_was_sealed_is_opened() -> None:
    assert opened(SECRET, "key", ENTRY) == {"value": [1, "two", None]}


@pytest.mark.parametrize("length", range(len(ENTRY)))
def test_no_part_of_an_entry_is_one(length: int) -> None:
    with pytest.raises(Rejected):
        opened(SECRET, "key", ENTRY[:length])


@given(at=st.integers(0, len(ENTRY) - 1), change=st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(at: int, change: int) -> None:
    changed = bytearray(ENTRY)
    changed[at] ^= change
    with pytest.raises(Rejected):
        opened(SECRET, "key", bytes(changed))


@given(st.binary(max_size=300))
def test_anything_else_is_refused(entry: bytes) -> None:
    with pytest.raises(Rejected):
        opened(SECRET, "key", entry)


@pytest.mark.parametrize(
    "lie", [ENTRY + b"more", pickle.dumps({"value": 1}), json.dumps(["key", 1]).encode(), zlib.compress(b'["key",1]'), b"\x01" + bytes(32)]
)
def test_other_forms_are_refused(lie: bytes) -> None:
    with pytest.raises(Rejected):
        opened(SECRET, "key", lie)


def test_another_key_and_another_secret_are_refused() -> None:
    with pytest.raises(Rejected, match="about something else"):
        opened(SECRET, "key of another", ENTRY)
    with pytest.raises(Rejected, match="signature"):
        opened(bytes(32), "key", ENTRY)


@pytest.mark.parametrize("plain", [b"[" * 100_000, b'["key",NaN]', b'["key"', b"\xff", b'{"key":1}', b'["key",1,2]', b" " * 20_000_000])
def test_even_what_bears_our_signature_is_read_with_care(plain: bytes) -> None:
    from search.caching.sealing import _FORM, _mac

    packed = zlib.compress(plain, 1)
    with pytest.raises(Rejected):
        opened(SECRET, "key", _FORM + _mac(SECRET, packed) + packed)


def test_what_is_too_long_or_no_number_is_not_sealed() -> None:
    for value in ("x" * 9_000_000, float("inf")):
        with pytest.raises(ValueError, match=r"."):
            sealed(SECRET, "key", value)
