"""Jobs and outcomes of chunks as entries of the state store."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from search.ingest.report import Rejection
from worker.jobs.job import Job
from worker.jobs.outcome import ChunkOutcome, RejectedRow
from worker.jobs.packing import PART_CHARS, packed, unpacked

_MOMENTS = ("created_at", "handed_in_at", "started_at", "served_at", "finished_at")
_TUPLES = ("warnings", "attribute_fields")
_LONG = ("mapping", "warnings", "attribute_fields")
"""Names of columns and notices about them may be many."""


def job_as_json(job: Job) -> dict[str, Any]:
    """Every field under its name, the long ones packed together."""
    values = {each.name: _plain(getattr(job, each.name)) for each in fields(Job)}
    return {name: value for name, value in values.items() if name not in _LONG} | {"long": packed({name: values[name] for name in _LONG})}


def job_from_json(body: Mapping[str, Any]) -> Job:
    """The job that :func:`job_as_json` was given."""
    values = {each.name: body[each.name] for each in fields(Job) if each.name in body} | unpacked(body["long"])
    values |= {name: datetime.fromisoformat(values[name]) for name in _MOMENTS if values.get(name)}
    values |= {name: tuple(values[name]) for name in _TUPLES}
    counted = tuple((field, reason, rows) for field, reason, rows in values.get("rejections", ()))
    return Job(**values | {"named": {kind: tuple(ids) for kind, ids in values["named"].items()}, "rejections": counted})


def outcome_as_json(outcome: ChunkOutcome) -> dict[str, Any]:
    """The outcome within the length of an entry; the original rows are left out where they are too long."""
    head = {
        "counts": dict(outcome.counts),
        "refused": outcome.refused,
        "named": {kind: list(ids) for kind, ids in outcome.named.items()},
        "corpus_size": outcome.corpus_size,
    }
    rows = [rejected_as_json(each) for each in outcome.rejected]
    kept = packed(rows)
    return head | {"rejected": kept if len(kept) <= PART_CHARS else packed([[*row[:-1], None] for row in rows])}


def outcome_from_json(body: Mapping[str, Any]) -> ChunkOutcome:
    """The outcome that :func:`outcome_as_json` was given."""
    named = {kind: tuple(ids) for kind, ids in body["named"].items()}
    rejected = tuple(rejected_from_json(row) for row in unpacked(body["rejected"]))
    return ChunkOutcome(body["counts"], body["refused"], named, rejected, body["corpus_size"])


def rejected_as_json(each: RejectedRow) -> list[Any]:
    """A rejected row as a list."""
    rejection = each.rejection
    return [rejection.row, rejection.doc_id, rejection.field, rejection.reason, each.original]


def rejected_from_json(row: list[Any]) -> RejectedRow:
    """The rejected row that :func:`rejected_as_json` was given."""
    number, doc_id, field, reason, original = row
    return RejectedRow(Rejection(number, doc_id, field, reason), original)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
