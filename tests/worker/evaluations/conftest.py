from collections.abc import Iterator
from pathlib import Path

import pytest

from grounding.evaluation.set_files import parse_set
from tests.grounding.desk import ACME, Desk, open_desk, record


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A service with three documents and a set of seven cases, two of which cannot hold."""
    with open_desk(tmp_path) as opened:
        opened.load([record(f"R-{number}", f"The parcel number {number} came late.") for number in range(3)])
        lines = [
            f'{{"id": "c-{number}", "question": "How many documents are there?", "expected": {{"answered": true, "count": {4 if number > 4 else 3}}}}}'
            for number in range(7)
        ]
        opened.service.evaluations.sets.save(ACME, parse_set("\n".join(lines), "parcels"))
        yield opened
