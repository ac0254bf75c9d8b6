"""What a builder makes: documents and cases, and how they are written."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounding.evaluation.cases import Case
from grounding.evaluation.set_files import CASES_FILE, DOCUMENTS_FILE, write_cases

NOWHEN = "2026-01-01T00:00:00Z"
"""Public texts have no date of their own; this one is assigned to all of them."""


@dataclass(frozen=True, slots=True)
class BuiltSet:
    """Documents by id, in the form that ingest reads, and cases. Where ``needs`` is not None it names the documents a case is asked over."""

    documents: Mapping[str, Mapping[str, Any]]
    cases: tuple[Case, ...]
    needs: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """How much was written."""

    documents: int
    cases: int


def document(doc_id: str, text: str, source: str, **fields: Any) -> dict[str, Any]:
    """A row of input."""
    return {"docId": doc_id, "text": text, "source": source, "occurredAt": NOWHEN, "attributes": {"assigned": "occurred_at"}, **fields}


def evenly(made: BuiltSet, limit: int | None) -> BuiltSet:
    """At most ``limit`` cases at equal distances; with the documents they need, where that is known, and all of them otherwise."""
    if limit is None or len(made.cases) <= limit:
        return made
    cases = tuple(made.cases[place * len(made.cases) // limit] for place in range(limit))
    if made.needs is None:
        return BuiltSet(made.documents, cases)
    kept = {doc_id for case in cases for doc_id in made.needs[case.case_id]}
    return BuiltSet({doc_id: row for doc_id, row in made.documents.items() if doc_id in kept}, cases, made.needs)


def write(made: BuiltSet, out: Path) -> Built:
    """Write ``documents.jsonl`` and ``cases.jsonl``."""
    out.mkdir(parents=True, exist_ok=True)
    lines: Sequence[str] = [json.dumps(row, ensure_ascii=False) + "\n" for row in made.documents.values()]
    (out / DOCUMENTS_FILE).write_text("".join(lines), "utf-8")
    write_cases(made.cases, out / CASES_FILE)
    return Built(len(made.documents), len(made.cases))
