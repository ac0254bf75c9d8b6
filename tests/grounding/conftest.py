from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grounding.desk import Desk, open_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk over an empty store."""
    with open_desk(tmp_path) as opened:
        yield opened
