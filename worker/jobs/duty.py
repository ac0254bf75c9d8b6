"""The worker's part of ingest jobs: one chunk at a time, each tenant in turn.

What is guaranteed, whenever a worker is killed and however many of them do the same chunk at once:

* a job goes on behind its last acknowledged chunk; its next chunk is done as if for the first time (see :mod:`worker.jobs.intents`);
* a chunk counts once: its outcome is kept once under its number, and acknowledging compares and sets the job;
* the counts of a job add up at every moment, and at its end they are those of one undisturbed run.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from runtime.clock import Clock
from runtime.errors import NotFound, ServiceError, Unavailable
from runtime.tenancy import Tenant
from search.ingest.pipeline import Ingester
from search.ingest.rows import Row, RowSource
from search.ingest.tally import RowOutcome
from search.ports import Engine, StateStore
from worker.duties import Queue, Work
from worker.jobs.chunks import GoneRow, WaitingChunk, WaitingRow
from worker.jobs.erasing import left_behind, spared
from worker.jobs.handing_in import BROKEN_OFF
from worker.jobs.intents import AsIntended, Versions
from worker.jobs.job import Job
from worker.jobs.next_work import NAME, next_work
from worker.jobs.outcome import ChunkOutcome, outcome_of
from worker.jobs.resuming import AS_READ, stored_already
from worker.jobs.store import Jobs
from worker.queues.dead_letters import DeadLetters

GIVEN_UP = ("given_up",)
"""Ends the key of work whose chunk became a dead letter."""

LOST = "the rows of chunk {number} are not in the state store any more; hand the input in again, what is stored comes back as unchanged"


@dataclass(frozen=True, slots=True)
class IngestJobs:
    """Implements :class:`worker.duties.Duty`. The key of its work is the id of a job and the number of the chunk that comes next."""

    jobs: Jobs
    ingester: Ingester
    store: Engine
    state: StateStore
    clock: Clock
    dead_letters: DeadLetters
    name: str = NAME
    queue: Queue = "ingest"

    def due(self, now: datetime) -> Iterator[Work]:
        """One chunk of each tenant, of the job that has waited longest; what follows it is told by :meth:`do`. A job whose chunk became a dead
        letter is ended instead."""
        waiting: dict[Tenant, list[Job]] = {}
        for tenant, job in self.jobs.unfinished():
            if job.ready or job.silent(now):
                waiting.setdefault(tenant, []).append(job)
        for tenant, jobs in sorted(waiting.items(), key=lambda item: min(map(_waiting_since, item[1]))):
            yield from self._turn(tenant, jobs)

    def do(self, work: Work) -> Iterable[Work]:
        """Store one chunk and acknowledge it, or put an end to a job; then comes the job of the tenant that has waited longest.

        Nothing follows what another worker has done already: then that one has said what follows.
        """
        job_id, number = work.key[0], int(work.key[1])
        try:
            job = self.jobs.get(work.tenant, job_id)
        except NotFound:
            return ()
        if job.next_chunk != number or not job.unfinished:
            return ()
        if work.key[2:] == GIVEN_UP:
            self._give_up(work.tenant, job)
            return self._following(work.tenant)
        return self._following(work.tenant) if self._moved(work.tenant, job) else ()

    def _turn(self, tenant: Tenant, jobs: Iterable[Job]) -> Iterator[Work]:
        for job in sorted(jobs, key=_waiting_since):
            work = next_work(tenant, job)
            if not self.dead_letters.silences(work):
                yield work
                return
            yield replace(work, key=work.key + GIVEN_UP)

    def _give_up(self, tenant: Tenant, job: Job) -> None:
        """The job ends in place of the dead letter, so that there is one thing to try again."""
        letter = self.dead_letters.of(next_work(tenant, job))
        if letter is not None:
            self.jobs.fail(tenant, job.job_id, f"given up after {letter.attempts} attempts: {letter.error}")
            self.dead_letters.forget(letter.work)

    def _moved(self, tenant: Tenant, job: Job) -> bool:
        """Do what comes next for the job; False where another worker did."""
        if job.ended:
            return self.jobs.tidy(tenant, job.job_id).tidied
        if job.cancelling and self.jobs.intents.begun(tenant, job.job_id, job.next_chunk) is None:
            return self.jobs.cancel(tenant, job.job_id).ended
        if job.next_chunk < job.chunks:
            return self._chunk_done(tenant, job)
        if job.complete:
            return self._ended(tenant, job)
        if job.silent(self.clock.now()):
            return self.jobs.fail(tenant, job.job_id, BROKEN_OFF.format(rows=job.handed_in)).ended
        return False

    def _ended(self, tenant: Tenant, job: Job) -> bool:
        """The end of a job whose chunks are all acknowledged, or that never had one."""
        size, now = self.store.corpus(tenant).documents, self.clock.now()
        self.jobs.change(tenant, job.job_id, lambda job: replace(job, corpus_size=size).settled(now) if job.complete else None)
        return self.jobs.tidy(tenant, job.job_id).ended

    def _chunk_done(self, tenant: Tenant, job: Job) -> bool:
        try:
            return self._acknowledged(tenant, job)
        except NotFound:  # the tenant was erased meanwhile, its jobs with it
            self.jobs.intents.remove(tenant, job.job_id, [job.next_chunk])
            return False
        except Unavailable as error:
            self._note(tenant, job, f"{error}; it will be tried again")
            raise
        except ServiceError as error:
            return self.jobs.fail(tenant, job.job_id, str(error)).ended

    def _acknowledged(self, tenant: Tenant, job: Job) -> bool:
        number = job.next_chunk
        chunk = spared(self.jobs.chunks, tenant, job.job_id, number, job.parts)
        if chunk is None:
            return self._lost(tenant, job)
        waiting = [row for row in chunk.rows if not self._settled_before(tenant, job, number, row)]
        doc_ids = sorted({str(row.values["doc_id"]) for row in waiting})
        repeated = self.jobs.intents.begun(tenant, job.job_id, number) is not None
        before = self.jobs.intents.begin(tenant, job.job_id, number, doc_ids, self.store)
        if not self._begun(tenant, job.job_id, number):
            return False
        settled = stored_already(waiting, before, self.store.stored(tenant, doc_ids)) if repeated and doc_ids else []
        outcome = self._stored(tenant, job, chunk, waiting, before, settled)
        self._erase_again(tenant, job, () if repeated else chunk.gone, before)
        after = self.jobs.settle(tenant, job.job_id, number, outcome)
        if after is None:
            return False
        self._clear(tenant, after, number)
        return True

    def _erase_again(self, tenant: Tenant, job: Job, never_stored: Sequence[GoneRow], before: Versions) -> None:
        """Delete what was stored of rows that were erased while their chunk was being stored, now or by a worker that was killed: whoever erased may
        have looked before it was there."""
        chunk = spared(self.jobs.chunks, tenant, job.job_id, job.next_chunk, job.parts)
        stored = [row for row in chunk.gone if row not in never_stored] if chunk is not None else []
        if doc_ids := left_behind(stored, before, self.store, tenant):
            self.store.delete(tenant, doc_ids)

    def _begun(self, tenant: Tenant, job_id: str, number: int) -> bool:
        """Say that the chunk is in progress; False, with nothing written, when it was acknowledged or the job ended before that was said."""
        now = self.clock.now()
        job, _ = self.jobs.change(tenant, job_id, lambda job: None if job.ended or job.next_chunk != number else job.begun(now))
        if not job.ended and job.next_chunk == number:
            return True
        if job.state != "failed" or job.next_chunk != number:  # a failed job that is tried again goes on from what was intended
            self.jobs.intents.remove(tenant, job_id, [number])
        return False

    def _stored(
        self,
        tenant: Tenant,
        job: Job,
        chunk: WaitingChunk,
        waiting: Sequence[WaitingRow],
        before: Versions,
        settled: Sequence[RowOutcome],
    ) -> ChunkOutcome:
        told, done = [*settled], {outcome.row for outcome in settled}
        wanted = AsIntended(self.store, before, lambda: self.jobs.get(tenant, job.job_id))
        report = self.ingester.over(wanted).ingest(
            tenant,
            RowSource([Row(row.number, row.values) for row in waiting if row.number not in done]),
            batch_id=f"{job.job_id}-{job.next_chunk:08d}",
            defaults=AS_READ,
            on_outcome=told.append,
        )
        if report.interrupted:
            raise KeyboardInterrupt
        return outcome_of(
            told,
            duplicates=len(chunk.rows) - len(waiting),
            rejected=(*chunk.rejected, *(row.rejected for row in chunk.gone)),
            originals={row.number: row.values for row in waiting},
            corpus_size=report.corpus_size,
        )

    def _settled_before(self, tenant: Tenant, job: Job, number: int, row: WaitingRow) -> bool:
        """True for a row that repeats one of an earlier chunk, unless the store refused that one: then it will refuse this one for the same reason."""
        if row.repeats is None or row.repeats.chunk == number:
            return False
        if not job.refused:
            return True
        earlier = self.jobs.outcome(tenant, job.job_id, row.repeats.chunk)
        refused = earlier.rejected if earlier is not None else ()
        return row.repeats.row not in {each.rejection.row for each in refused}

    def _lost(self, tenant: Tenant, job: Job) -> bool:
        """A chunk that is not there was acknowledged by another worker, or is lost."""
        now = self.jobs.get(tenant, job.job_id)
        if now.ended or now.next_chunk != job.next_chunk:
            return False
        return self.jobs.fail(tenant, job.job_id, LOST.format(number=job.next_chunk + 1)).ended

    def _clear(self, tenant: Tenant, job: Job, number: int) -> None:
        self.jobs.chunks.remove(tenant, job.job_id, [number], job.parts)
        self.jobs.intents.remove(tenant, job.job_id, [number])
        if job.ended:
            self.jobs.tidy(tenant, job.job_id)

    def _note(self, tenant: Tenant, job: Job, error: str) -> None:
        with suppress(ServiceError):
            self.jobs.change(tenant, job.job_id, lambda job: None if job.ended else replace(job, error=error))

    def _following(self, tenant: Tenant) -> tuple[Work, ...]:
        return tuple(self._turn(tenant, (job for job in self.jobs.unfinished_of(tenant) if job.ready)))


def _waiting_since(job: Job) -> tuple[datetime, str]:
    return job.served_at or job.created_at, job.job_id
