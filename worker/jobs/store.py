"""Jobs in the state store: listed, changed by compare-and-set, acknowledged chunk by chunk, cancelled and tried again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from runtime.clock import Clock
from runtime.errors import Conflict, InvalidRequest, NotFound, Unavailable
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.ingest.parsing import blamed
from search.ingest.records import IngestRecord, IngestRecords
from search.ingest.report import MAX_REJECTIONS, IngestReport, Rejection
from search.ingest.tally import stayed_lines
from search.ports import StateEntry, StateStore
from worker.jobs.chunks import Chunks
from worker.jobs.intents import Intents
from worker.jobs.job import STATES, Job
from worker.jobs.job_json import job_as_json, job_from_json, outcome_as_json, outcome_from_json
from worker.jobs.outcome import NAMED, ChunkOutcome, RejectedRow

KIND = "ingest_job"
OUTCOME = "ingest_outcome"
UNFINISHED = {"unfinished": "true"}

_ATTEMPTS = 100
_PAGE = 1_000

Change = Callable[[Job], Job | None]
"""A job to the job it becomes; None to leave it."""


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs, newest first, and where to go on."""

    jobs: tuple[Job, ...]
    cursor: str | None


class Jobs:
    """The ingest jobs of all tenants; every method is about one of them, but for :meth:`unfinished`. One of these serves any number of threads."""

    def __init__(self, state: StateStore, clock: Clock, metrics: Metrics) -> None:
        self._state = state
        self._clock = clock
        self._metrics = metrics
        self._records = IngestRecords(state)
        self.chunks = Chunks(state)
        self.intents = Intents(state)

    def create(self, tenant: Tenant, job: Job) -> None:
        """Keep a new job.

        Raises:
            Conflict: there is one of that id.
        """
        self._put(tenant, job, expected=0)

    def get(self, tenant: Tenant, job_id: str) -> Job:
        """The job.

        Raises:
            NotFound: this tenant has none of that id.
        """
        return job_from_json(self._entry(tenant, job_id).body)

    def list(self, tenant: Tenant, *, state: str | None = None, first: int = 50, after: str | None = None) -> JobPage:
        """Jobs, newest first; ``state`` keeps only those in it.

        Raises:
            InvalidRequest: on ``state`` or ``after``.
        """
        if state is not None and state not in STATES:
            raise InvalidRequest(f"must be one of {', '.join(STATES)}", field="state")
        labels = None if state is None else {"state": state}
        entries, cursor = self._state.entries(tenant, KIND, labels=labels, first=first, after=after)
        return JobPage(tuple(job_from_json(entry.body) for entry in entries), cursor)

    def unfinished(self) -> Iterator[tuple[Tenant, Job]]:
        """Every job of every tenant that the worker has to do with."""
        for tenant, entry in self._state.scan(KIND, labels=UNFINISHED):
            yield tenant, job_from_json(entry.body)

    def unfinished_of(self, tenant: Tenant) -> Iterator[Job]:
        """The same of one tenant, newest first."""
        after: str | None = None
        while True:
            entries, after = self._state.entries(tenant, KIND, labels=UNFINISHED, first=_PAGE, after=after)
            yield from (job_from_json(entry.body) for entry in entries)
            if after is None:
                return

    def change(self, tenant: Tenant, job_id: str, change: Change) -> tuple[Job, bool]:
        """Change a job as it is now, whoever else changes it; returns it with whether it was changed. Jobs that end are counted.

        Raises:
            NotFound: this tenant has no such job.
            Unavailable: others change it all the time.
        """
        for _ in range(_ATTEMPTS):
            entry = self._entry(tenant, job_id)
            before = job_from_json(entry.body)
            after = change(before)
            if after is None or after == before:
                return before, False
            try:
                self._put(tenant, after, expected=entry.version)
            except Conflict:
                continue
            if after.ended and not before.ended:
                self._metrics.count("wa_jobs_total", outcome=after.state)
            return after, True
        raise Unavailable("the job is being changed by others all the time", dependency="engine")

    def settle(self, tenant: Tenant, job_id: str, number: int, outcome: ChunkOutcome) -> Job | None:
        """Keep the outcome of a chunk, unless another's was kept before, and acknowledge the chunk with the one that is kept.

        Returns the job, or None when the chunk is acknowledged already: then its worker has nothing more to do.

        Raises:
            NotFound: there is no such job any more; nothing is kept.
        """
        self._entry(tenant, job_id)
        kept = self._kept_outcome(tenant, job_id, number, outcome)
        now = self._clock.now()
        job, changed = self.change(
            tenant, job_id, lambda job: None if job.ended or job.next_chunk != number else job.acknowledged(kept, now)
        )
        if not changed:
            return None
        for kind, count in kept.counts.items():
            self._metrics.count("wa_documents_total", count, outcome="unchanged" if kind in NAMED else kind)
        for row in kept.rejected:
            self._metrics.count("wa_documents_rejected_total", field=blamed(row.rejection.field))
        return job

    def outcome(self, tenant: Tenant, job_id: str, number: int) -> ChunkOutcome | None:
        """What became of a chunk, as far as it is known."""
        entry = self._state.get(tenant, OUTCOME, _outcome_id(job_id, number))
        return None if entry is None else outcome_from_json(entry.body)

    def replace_outcome(self, tenant: Tenant, job_id: str, number: int, outcome: ChunkOutcome) -> None:
        """Keep other words of an outcome; its counts stay."""
        entry = self._state.get(tenant, OUTCOME, _outcome_id(job_id, number))
        if entry is not None:
            self._state.put(tenant, OUTCOME, entry.entry_id, outcome_as_json(outcome), labels=entry.labels, expected=entry.version)

    def cancel(self, tenant: Tenant, job_id: str) -> Job:
        """Stop a job: at once, or behind the chunk that is in progress. What is stored stays. A job that is done stays done.

        Raises:
            NotFound: this tenant has no such job.
        """
        now = self._clock.now()
        job, _ = self.change(tenant, job_id, lambda job: _cancelling(job, now))
        if job.cancelling and self.intents.begun(tenant, job_id, job.next_chunk) is None:
            job, _ = self.change(tenant, job_id, lambda job: job.settled(now) if job.cancelling else None)
        return self.tidy(tenant, job_id) if job.ended else job

    def retry(self, tenant: Tenant, job_id: str) -> Job:
        """Let a failed job wait for the worker again, from its first chunk that is not acknowledged.

        Raises:
            NotFound: this tenant has no such job.
            InvalidRequest: on ``job_id``; the job has not failed, or was not handed in to its end.
        """
        return self.change(tenant, job_id, Job.retried)[0]

    def fail(self, tenant: Tenant, job_id: str, error: str) -> Job:
        """End a job that cannot go on."""
        now = self._clock.now()
        self.change(
            tenant, job_id, lambda job: None if job.ended else job.settled(now) if job.cancelling else job.over("failed", now, error)
        )
        return self.tidy(tenant, job_id)

    def tidy(self, tenant: Tenant, job_id: str) -> Job:
        """Keep the record of an ended job, and remove the rows it has left behind; a failed one keeps those it needs to be tried again."""
        job = self.get(tenant, job_id)
        if job.ended and (job.state == "failed" or not job.tidied):
            self._records.keep(tenant, record_of(job))
        if not job.ended or job.tidied:
            return job
        numbers = range(job.chunks + 1)
        self.chunks.remove(tenant, job_id, numbers, job.parts)
        self.intents.remove(tenant, job_id, numbers)
        return self.change(tenant, job_id, lambda job: replace(job, tidied=True) if job.ended else None)[0]

    def rejected(self, tenant: Tenant, job_id: str) -> Iterator[RejectedRow]:
        """Every rejected row of the acknowledged chunks, by row; read as it is asked for.

        Raises:
            NotFound: this tenant has no such job; at once.
        """
        job = self.get(tenant, job_id)
        outcomes = (self.outcome(tenant, job_id, number) for number in range(job.next_chunk))
        rows = (each for outcome in outcomes if outcome is not None for each in outcome.rejected)
        return islice(rows, job.rejected)

    def report(self, tenant: Tenant, job: Job) -> IngestReport:
        """The report of a job so far, as a foreground ingest of the same rows would give it."""
        return IngestReport(
            batch_id=job.batch_id,
            received=job.received,
            indexed=job.indexed,
            unchanged=job.unchanged,
            updated=job.updated,
            duplicate=job.duplicate,
            rejected=job.rejected,
            corpus_size=job.corpus_size,
            seconds=job.seconds,
            rejections=self.rejections(tenant, job),
            warnings=warnings_of(job),
            mapping=job.mapping,
            attribute_fields=job.attribute_fields,
            interrupted=job.state in ("failed", "cancelled"),
            masked=job.masked,
        )

    def rejections(self, tenant: Tenant, job: Job, first: int = MAX_REJECTIONS) -> tuple[Rejection, ...]:
        """The first rejections of a job."""
        return tuple(each.rejection for each in islice(self.rejected(tenant, job.job_id), min(first, job.rejected)))

    def _entry(self, tenant: Tenant, job_id: str) -> StateEntry:
        entry = self._state.get(tenant, KIND, job_id)
        if entry is None:
            raise NotFound("no job with this id; list the jobs to see which there are")
        return entry

    def _put(self, tenant: Tenant, job: Job, *, expected: int) -> None:
        labels = {"state": job.state, "unfinished": "true" if job.unfinished else "false"}
        self._state.put(tenant, KIND, job.job_id, job_as_json(job), labels=labels, expected=expected)

    def _kept_outcome(self, tenant: Tenant, job_id: str, number: int, outcome: ChunkOutcome) -> ChunkOutcome:
        try:
            self._state.put(tenant, OUTCOME, _outcome_id(job_id, number), outcome_as_json(outcome), expected=0)
        except Conflict:
            return self.outcome(tenant, job_id, number) or outcome
        return outcome


def record_of(job: Job) -> IngestRecord:
    """What stays of an ended job for boards, under its id: one that is tried again replaces its record."""
    names = ("received", "indexed", "unchanged", "updated", "duplicate", "rejected")
    return IngestRecord(
        record_id=job.job_id,
        batch_id=job.batch_id,
        at=job.finished_at or job.created_at,
        outcome=job.state,
        seconds=job.seconds,
        counts={name: getattr(job, name) for name in names},
        rejections=job.rejections,
    )


def warnings_of(job: Job) -> tuple[str, ...]:
    """Everything worth knowing about a job that stopped nothing."""
    return (*job.warnings, *stayed_lines(job.counts, job.named))


def _cancelling(job: Job, now: datetime) -> Job | None:
    if job.state == "failed":
        return replace(job.over("cancelled", now, job.error), tidied=False)
    return None if job.ended else replace(job, cancelling=True)


def _outcome_id(job_id: str, number: int) -> str:
    return f"{job_id}:{number:08d}"
