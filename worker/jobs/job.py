"""An ingest job: what was handed in, how far it is, and how it ended. Pure values; every change gives a new one."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, get_args

from runtime.errors import InvalidRequest
from search.ingest.records import Counted, with_rejections
from search.ingest.tally import IDS_NAMED, RowKind
from worker.jobs.outcome import ChunkOutcome

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
STATES: tuple[str, ...] = get_args(JobState)
ENDED: tuple[JobState, ...] = ("done", "failed", "cancelled")

SILENCE = timedelta(minutes=15)
"""How long whoever hands rows in may say nothing before a job with no rows left counts as broken off."""


@dataclass(frozen=True, slots=True)
class Job:
    """One ingest job of one tenant.

    ``handed_in`` counts the rows that were kept so far (``complete`` once there will be no more), ``received`` those that were dealt with: at
    every moment ``received = indexed + unchanged + updated + duplicate + rejected``. ``chunks`` were kept, ``next_chunk`` is the first that is not
    acknowledged. ``tidied`` tells that an ended job has left no rows behind.
    """

    job_id: str
    source: str
    batch_id: str
    created_at: datetime
    state: JobState = "queued"
    handed_in: int = 0
    handed_in_at: datetime | None = None
    complete: bool = False
    chunks: int = 0
    parts: int = 1
    next_chunk: int = 0
    counts: Mapping[RowKind, int] = field(default_factory=dict)
    refused: int = 0
    rejections: Counted = ()
    named: Mapping[RowKind, tuple[str, ...]] = field(default_factory=dict)
    mapping: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    attribute_fields: tuple[str, ...] = ()
    masked: Mapping[str, int] = field(default_factory=dict)
    corpus_size: int = 0
    started_at: datetime | None = None
    served_at: datetime | None = None
    finished_at: datetime | None = None
    cancelling: bool = False
    tidied: bool = False
    error: str | None = None

    @property
    def ended(self) -> bool:
        """True when nothing more will be stored, unless a failed job is tried again."""
        return self.state in ENDED

    @property
    def unfinished(self) -> bool:
        """True while the worker has something to do or to clear away."""
        return not (self.ended and self.tidied)

    @property
    def received(self) -> int:
        """Rows dealt with."""
        return sum(self.counts.values())

    @property
    def indexed(self) -> int:
        """New documents."""
        return self.counts.get("indexed", 0)

    @property
    def updated(self) -> int:
        """Newer versions."""
        return self.counts.get("updated", 0)

    @property
    def unchanged(self) -> int:
        """Rows that were there already, older versions and documents deleted earlier included."""
        return sum(self.counts.get(kind, 0) for kind in ("unchanged", "stale", "deleted_earlier"))

    @property
    def duplicate(self) -> int:
        """Rows that repeat an earlier row of the job."""
        return self.counts.get("duplicate", 0)

    @property
    def rejected(self) -> int:
        """Rows that were not taken."""
        return self.counts.get("rejected", 0)

    @property
    def seconds(self) -> float:
        """From the first chunk taken to the last one acknowledged."""
        last = self.finished_at or self.served_at
        return max(0.0, (last - self.started_at).total_seconds()) if last and self.started_at else 0.0

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.received / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds left at the present rate; None while nobody knows."""
        if self.ended:
            return 0.0
        return (self.handed_in - self.received) / self.rate if self.complete and self.rate > 0 else None

    @property
    def ready(self) -> bool:
        """True when there is a chunk to store, or an end to be put."""
        return self.next_chunk < self.chunks or self.complete or self.cancelling or self.ended

    def silent(self, now: datetime) -> bool:
        """True when whoever handed rows in seems to be gone."""
        return not self.complete and now - (self.handed_in_at or self.created_at) > SILENCE

    def with_chunk(self, rows: int, parts: int, now: datetime) -> "Job":
        """One more chunk is kept."""
        return replace(self, handed_in=self.handed_in + rows, handed_in_at=now, chunks=self.chunks + 1, parts=max(self.parts, parts))

    def begun(self, now: datetime) -> "Job":
        """A chunk was taken."""
        return self if self.state == "running" else replace(self, state="running", started_at=self.started_at or now)

    def acknowledged(self, outcome: ChunkOutcome, now: datetime) -> "Job":
        """The next chunk is done; ends the job when it was the last, or when the job is being cancelled."""
        counts: Counter[RowKind] = Counter(self.counts)
        counts.update(outcome.counts)
        after = replace(
            self,
            next_chunk=self.next_chunk + 1,
            counts=dict(counts),
            refused=self.refused + outcome.refused,
            rejections=with_rejections(self.rejections, ((each.rejection.field, each.rejection.reason) for each in outcome.rejected)),
            named=_joined(self.named, outcome.named),
            corpus_size=outcome.corpus_size,
            served_at=now,
            error=None,
        )
        return after.settled(now)

    def settled(self, now: datetime) -> "Job":
        """The job with its end put where it is at its end."""
        if self.ended:
            return self
        if self.cancelling:
            return self.over("cancelled", now)
        return self.over("done", now) if self.complete and self.next_chunk == self.chunks else self

    def over(self, state: JobState, now: datetime, error: str | None = None) -> "Job":
        """The job ended; rows of a failed one stay so that it can be tried again, where all of them are there."""
        return replace(self, state=state, finished_at=now, error=error, cancelling=False, tidied=state == "failed" and self.complete)

    def retried(self) -> "Job":
        """A failed job, waiting again.

        Raises:
            InvalidRequest: on ``job_id``; it has not failed, or its rows are not all there.
        """
        if self.state != "failed":
            raise InvalidRequest(f"is {self.state}; only a failed job can be tried again", field="job_id")
        if not self.complete:
            raise InvalidRequest(
                "was not handed in to its end; hand the input in again, what is stored comes back as unchanged", field="job_id"
            )
        return replace(self, state="queued", finished_at=None, error=None, tidied=False)


def _joined(first: Mapping[RowKind, tuple[str, ...]], second: Mapping[RowKind, tuple[str, ...]]) -> dict[RowKind, tuple[str, ...]]:
    kinds = [*first, *(kind for kind in second if kind not in first)]
    return {kind: (*first.get(kind, ()), *second.get(kind, ()))[:IDS_NAMED] for kind in kinds}
