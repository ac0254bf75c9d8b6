"""A service over a new store, and keys of its own on the session's Valkey."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.grounding.desk import Desk, open_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as opened:
        yield opened


@pytest.fixture
def valkey_prefix(valkey_url: str) -> Iterator[str]:
    """A prefix with nothing left under it."""
    prefix = "t" + uuid.uuid4().hex[:12]
    yield prefix
    with redis.Redis.from_url(valkey_url) as client:
        for key in client.scan_iter(f"{prefix}:*"):
            client.delete(key)
