"""What became of one chunk: kept once under the chunk's number, so that whoever does it again reports the same."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.ingest.report import Rejection
from search.ingest.tally import IDS_NAMED, RowKind, RowOutcome

NAMED: tuple[RowKind, ...] = ("stale", "deleted_earlier")


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not taken. ``original`` is the row as it was read, None where it could not be read or is too long to be kept."""

    rejection: Rejection
    original: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChunkOutcome:
    """Counts of one chunk. ``refused`` are the rejected rows that only the store refused; ``rejected`` are all of them, by row.
    ``corpus_size`` are the tenant's documents afterwards."""

    counts: Mapping[RowKind, int] = field(default_factory=dict)
    refused: int = 0
    named: Mapping[RowKind, tuple[str, ...]] = field(default_factory=dict)
    rejected: tuple[RejectedRow, ...] = ()
    corpus_size: int = 0


def outcome_of(
    stored: Sequence[RowOutcome],
    *,
    duplicates: int,
    rejected: Sequence[RejectedRow],
    originals: Mapping[int, Mapping[str, Any]],
    corpus_size: int,
) -> ChunkOutcome:
    """The outcome of a chunk: of the rows that went to the store, of the repetitions, and of those that were rejected when they were read."""
    counts: Counter[RowKind] = Counter(outcome.kind for outcome in stored)
    refused = [
        RejectedRow(Rejection(each.row, each.doc_id, each.field, each.reason), originals.get(each.row))
        for each in stored
        if each.kind == "rejected"
    ]
    counts["duplicate"] += duplicates
    counts["rejected"] += len(rejected)
    return ChunkOutcome(
        counts={kind: count for kind, count in counts.items() if count},
        refused=len(refused),
        named={kind: ids for kind in NAMED if (ids := _first_ids(stored, kind))},
        rejected=tuple(sorted([*rejected, *refused], key=lambda each: each.rejection.row)),
        corpus_size=corpus_size,
    )


def _first_ids(stored: Sequence[RowOutcome], kind: RowKind) -> tuple[str, ...]:
    ids = [each.doc_id for each in sorted(stored, key=lambda each: each.row) if each.kind == kind and each.doc_id is not None]
    return tuple(ids[:IDS_NAMED])
