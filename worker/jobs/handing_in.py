"""Handing rows in: read to their end, never all in memory, and kept chunk by chunk for whichever worker comes."""

import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from typing import Any

from runtime.clock import Clock, Stopwatch
from runtime.errors import NotFound, Unavailable
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.ingest.epochs import Epochs
from search.ingest.masking import OFF
from search.ingest.parsing import Defaults, Notice
from search.ingest.pipeline import usable_batch_id
from search.ingest.planning import REMEMBERED, Chunk, Incoming
from search.ingest.report import Progress, Rejection
from search.ingest.rows import Row, RowSource
from search.ingest.tally import Noticed
from worker.duties import NoQueue, WorkQueue
from worker.jobs.chunks import Repeats, WaitingChunk, WaitingRow, values_of
from worker.jobs.job import Job
from worker.jobs.next_work import next_work
from worker.jobs.outcome import RejectedRow
from worker.jobs.store import Jobs

CHUNK_BYTES = 500_000
"""A chunk with this much JSON is full, however few its rows."""

MAX_ORIGINAL_BYTES = 100_000
"""Longest rejected row that is kept as it was read."""

BROKEN_OFF = "handing in broke off behind row {rows}; hand the input in again, what is stored comes back as unchanged"


def new_job_id() -> str:
    """An id nobody has."""
    return f"job-{secrets.token_hex(8)}"


@dataclass(frozen=True, slots=True)
class HandingIn:
    """Takes rows in as jobs."""

    jobs: Jobs
    clock: Clock
    settings: Settings
    queue: WorkQueue = field(default_factory=NoQueue)
    new_id: Callable[[], str] = new_job_id
    remembered: int = REMEMBERED

    def hand_in(
        self,
        tenant: Tenant,
        rows: RowSource,
        *,
        source: str,
        batch_id: str | None = None,
        defaults: Defaults | None = None,
        progress: Callable[[Progress], None] | None = None,
        on_job: Callable[[Job], None] | None = None,
    ) -> Job:
        """Keep all rows as one job and return it. It is there for everybody, and may be begun, as soon as its first chunk is kept; when it is
        cancelled meanwhile the rest is not read.

        Rows are read as a foreground ingest reads them: the same are rejected, for the same reasons, with the same warnings, and the same count as
        duplicates. When reading or keeping fails, or is interrupted, the job has failed and says so.

        Args:
            source: what the rows come from, for people.
            progress: told after every chunk.
            on_job: told of the job once it is there.

        Raises:
            InvalidRequest: on ``batch_id``.
            Unavailable: the state store gave up.
        """
        kept = _Kept(self, tenant, source, usable_batch_id(batch_id), rows, on_job)
        watch = Stopwatch.start(self.clock)
        told = Defaults.of(self.settings) if defaults is None else defaults
        told = replace(told, order=rows.order, now=self.clock.now())
        try:
            for row in rows:
                kept.take(row, told)
                if kept.full and not kept.keep():
                    break
                if progress is not None and kept.at_start_of_chunk:
                    progress(_progress(kept.handed_in, watch.elapsed_s(), rows.share_read()))
            job = kept.finish()
        except BaseException:
            kept.break_off()
            raise
        if not job.ended:
            self.queue.nudge(next_work(tenant, job))
        return job


@dataclass(slots=True)
class _Kept:
    """The job that is being handed in, and the chunk that is being filled."""

    handing: HandingIn
    tenant: Tenant
    source: str
    batch_id: str | None
    rows: RowSource
    on_job: Callable[[Job], None] | None
    handed_in: int = 0
    job: Job | None = None
    stopped: bool = False
    _epoch: int | None = None
    _noticed: Noticed = field(default_factory=Noticed)
    _seen: "_Seen" = field(init=False)
    _filling: "_Filling" = field(default_factory=lambda: _Filling(0))

    def __post_init__(self) -> None:
        self._seen = _Seen(self.handing.remembered)

    @property
    def full(self) -> bool:
        """True when the chunk must be kept."""
        return self._filling.rows >= self.handing.settings.job_chunk_rows or self._filling.size >= CHUNK_BYTES

    @property
    def at_start_of_chunk(self) -> bool:
        """True when the last chunk was kept."""
        return self._filling.rows == 0

    def take(self, row: Row, defaults: Defaults) -> None:
        """Read one row into the chunk."""
        self._filling.take(row, defaults, self._seen, self._noticed)

    def keep(self, *, last: bool = False) -> bool:
        """Keep the chunk; False when the job has ended meanwhile and nothing more is to be read."""
        chunk = self._numbered(self._filling.chunk())
        if self.job is None:
            return self._create(chunk, last=last)
        jobs, job_id, number = self.handing.jobs, self.job.job_id, self.job.chunks
        parts = jobs.chunks.keep(self.tenant, job_id, number, chunk) if chunk.received else 0
        now = self.handing.clock.now()

        def more(job: Job) -> Job | None:
            if job.ended or job.cancelling:
                return None
            longer = job.with_chunk(chunk.received, parts, now) if parts else job
            return replace(self._described(longer), complete=last).settled(now)

        try:
            self.job, changed = jobs.change(self.tenant, job_id, more)
        except NotFound:  # the tenant was erased meanwhile
            jobs.chunks.remove(self.tenant, job_id, [number], max(parts, 1))
            raise
        if not changed and (self.job.ended or self.job.cancelling):
            jobs.chunks.remove(self.tenant, job_id, [number], max(parts, 1))
            self.stopped = True
            return False
        self._next(chunk)
        return True

    def _numbered(self, chunk: WaitingChunk) -> WaitingChunk:
        """The chunk with the epoch it is handed in in. What was handed in before an erasure is repeated by nothing that comes after it."""
        epoch = Epochs(self.handing.jobs.chunks.state).now(self.tenant).some
        if self._epoch not in (None, epoch):
            self._seen = _Seen(self.handing.remembered)
            own = self._filling.number
            chunk = replace(
                chunk,
                rows=tuple(row if row.repeats is None or row.repeats.chunk == own else replace(row, repeats=None) for row in chunk.rows),
            )
        self._epoch = epoch
        return replace(chunk, epoch=epoch)

    def finish(self) -> Job:
        """Keep the rest."""
        if not self.stopped:
            self.keep(last=True)
        assert self.job is not None
        return self.job

    def break_off(self) -> None:
        """Say in the job that there will be no more."""
        if self.job is not None and not self.stopped:
            with suppress(Unavailable, NotFound):
                self.handing.jobs.fail(self.tenant, self.job.job_id, BROKEN_OFF.format(rows=self.handed_in))

    def _create(self, chunk: WaitingChunk, *, last: bool) -> bool:
        now, job_id = self.handing.clock.now(), self.handing.new_id()
        parts = self.handing.jobs.chunks.keep(self.tenant, job_id, 0, chunk) if chunk.received else 0
        job = Job(job_id, self.source, self.batch_id or job_id, now, handed_in_at=now, mapping=dict(self.rows.mapping))
        self.job = replace(self._described(job.with_chunk(chunk.received, parts, now) if parts else job), complete=last)
        self.handing.jobs.create(self.tenant, self.job)
        self._next(chunk)
        if self.on_job is not None:
            self.on_job(self.job)
        return True

    def _described(self, job: Job) -> Job:
        return replace(
            job,
            warnings=(*self.rows.warnings, *self._noticed.lines()),
            attribute_fields=tuple(self._noticed.extra),
            masked=dict(self._noticed.masked),
        )

    def _next(self, chunk: WaitingChunk) -> None:
        assert self.job is not None
        self.handed_in += chunk.received
        self._filling = _Filling(self.job.chunks)
        self._seen.forget_oldest()


@dataclass(slots=True)
class _Filling:
    """A chunk while rows are added to it."""

    number: int
    rows: int = 0
    size: int = 0
    _waiting: list[WaitingRow] = field(default_factory=list)
    _rejected: list[RejectedRow] = field(default_factory=list)

    def take(self, row: Row, defaults: Defaults, seen: "_Seen", noticed: Noticed) -> None:
        """Add a row, as a document or as a rejection."""
        self.rows += 1
        read = Chunk()
        masked = defaults.masking.row(row)
        row = masked.row  # what was read is not kept anywhere
        noticed.mask(row.number, masked.counts, (Notice(*dropped) for dropped in masked.dropped))
        read.take(row, replace(defaults, masking=OFF) if defaults.masking.on else defaults)
        noticed.merge(read.noticed)
        for each in read.incoming:
            values = values_of(each.document, each.asked_version)
            self.size += _length(values)
            self._waiting.append(WaitingRow(row.number, values, seen.earlier(each, self.number)))
        for outcome in read.outcomes:
            original, size = _original(row)
            self.size += size
            self._rejected.append(RejectedRow(Rejection(outcome.row, outcome.doc_id, outcome.field, outcome.reason), original))

    def chunk(self) -> WaitingChunk:
        """What was added."""
        return WaitingChunk(tuple(self._waiting), tuple(self._rejected))


class _Seen:
    """The ids of a job with what their last row said, so far back as a foreground ingest looks."""

    def __init__(self, remembered: int) -> None:
        self._remembered = remembered
        self._last: dict[bytes, tuple[bytes, int, int]] = {}

    def earlier(self, each: Incoming, chunk: int) -> Repeats | None:
        """The earlier row that this one repeats; otherwise this one is remembered."""
        key, said = _digest(each.document.doc_id), _digest(f"{each.content_hash}:{each.asked_version}")
        found = self._last.get(key)
        if found is not None and found[0] == said:
            return Repeats(found[1], found[2])
        self._last.pop(key, None)
        self._last[key] = (said, each.row, chunk)
        return None

    def forget_oldest(self) -> None:
        """Keep memory bounded."""
        for key in list(islice(self._last, max(0, len(self._last) - self._remembered))):
            del self._last[key]


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _original(row: Row) -> tuple[Mapping[str, Any] | None, int]:
    """The row as it was read with its length as JSON; None where there is none, or it is no JSON, or too long."""
    try:
        length = _length(row.values)
    except (TypeError, ValueError, RecursionError):
        return None, 0
    return (dict(row.values), length) if row.values and length <= MAX_ORIGINAL_BYTES else (None, 0)


def _length(values: Mapping[str, Any]) -> int:
    return len(json.dumps(dict(values), ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))


def _progress(done: int, seconds: float, share: float | None) -> Progress:
    remaining = seconds * (1.0 - share) / share if share else None
    return Progress(done, done, done / seconds if seconds > 0 else 0.0, remaining)
