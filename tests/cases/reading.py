"""Case files as they are: where they lie, and how their short forms are written out."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "WA_TEST_CASES"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "cases"
NOT_OURS = ("monitors.json",)
"""Files that need a runner of their own: ``tests/worker/monitors/test_shared_cases.py``."""

TENANT = "acme"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: the records it starts from and the steps that are taken."""

    case_id: str
    title: str
    records: tuple[dict[str, Any], ...]
    steps: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        """Id and title, as a test is called."""
        return f"{self.case_id}: {self.title}"


def folder() -> Path | None:
    """Where the case files are: ``WA_TEST_CASES``, else ``shared/cases`` beside the repository; None when neither is there."""
    named = os.environ.get(VARIABLE)
    found = Path(named) if named else BESIDE
    return found if found.is_dir() else None


def cases() -> tuple[Case, ...]:
    """Every case of every file, in order; none when there are no files."""
    found = folder()
    if found is None:
        return ()
    files = sorted(path for path in found.glob("*.json") if path.name not in NOT_OURS)
    return tuple(_case(case) for path in files for case in json.loads(path.read_text("utf-8"))["cases"])


def _case(raw: dict[str, Any]) -> Case:
    return Case(raw["id"], raw["title"], tuple(_written_out(record) for record in raw["records"]), tuple(raw["steps"]))


def _written_out(value: Any) -> Any:
    """``{"repeat": "x", "times": 3}`` means ``xxx``, at any depth."""
    if isinstance(value, dict):
        if set(value) == {"repeat", "times"}:
            return value["repeat"] * value["times"]
        return {key: _written_out(item) for key, item in value.items()}
    return value


def as_document(record: dict[str, Any]) -> dict[str, Any]:
    """A record as a row of input: its ``id`` is the document's, its tenant is not in the row."""
    return {("doc_id" if key == "id" else key): value for key, value in record.items() if key != "tenant"}
