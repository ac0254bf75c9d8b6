"""A store, whoever hands rows in, and workers that run the duty, without any queue but a list."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.clock import SettableClock
from runtime.settings import Settings, read_settings
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant, tenant_named
from search.ingest.files import read_rows
from search.ingest.pipeline import Ingester
from search.ingest.report import IngestReport
from search.ingest.rows import rows_of
from search.ports import DocumentStore, Engine, StateStore
from tests.search.ingest.hashing import HashingEmbedder
from worker.duties import Work
from worker.jobs.duty import IngestJobs
from worker.jobs.handing_in import HandingIn
from worker.jobs.job import Job
from worker.jobs.store import Jobs
from worker.queues.dead_letters import DeadLetters

CHUNK_ROWS = 10


@dataclass
class Bench:
    """Everything of one test. ``tenant`` is the test's own."""

    engine: Engine
    state: StateStore
    clock: SettableClock
    tenant: Tenant
    settings: Settings

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.embedder = HashingEmbedder()
        self.jobs = Jobs(self.state, self.clock, self.metrics)
        self.handing_in = HandingIn(self.jobs, self.clock, self.settings)
        self.duty = self.worker()

    def worker(self, *, store: DocumentStore | None = None, state: StateStore | None = None) -> IngestJobs:
        """The duty as one worker runs it, over parts of its own where given."""
        jobs = self.jobs if state is None else Jobs(state, self.clock, self.metrics)
        engine = store or self.engine
        return IngestJobs(jobs, self.ingester, engine, state or self.state, self.clock, DeadLetters(state or self.state, self.clock))

    @property
    def ingester(self) -> Ingester:
        """The foreground."""
        return Ingester(self.engine, self.embedder, self.clock, self.settings)

    def hand_in(self, documents: Iterable[Mapping[str, Any]], tenant: Tenant | None = None, **options: Any) -> Job:
        """Documents as a job."""
        return self.handing_in.hand_in(tenant or self.tenant, rows_of(documents), source="test", **options)

    def hand_in_file(self, path: Path, **options: Any) -> Job:
        """A file as a job."""
        with read_rows(path) as rows:
            return self.handing_in.hand_in(self.tenant, rows, source=path.name, **options)

    def foreground(self, path: Path, tenant: Tenant) -> IngestReport:
        """The same file, stored while one waits."""
        with read_rows(path) as rows:
            return self.ingester.ingest(tenant, rows)

    def finish(self, seen: Callable[[Work], None] | None = None) -> list[Work]:
        """Look for work and do it in turn, until there is none; returns what was done, in order."""
        done: list[Work] = []
        waiting = deque(self.duty.due(self.clock.now()))
        while waiting:
            work = waiting.popleft()
            if seen is not None:
                seen(work)
            done.append(work)
            waiting.extend(self.duty.do(work))
        return done

    def job(self, job: Job) -> Job:
        """The job as it is now."""
        return self.jobs.get(self.tenant, job.job_id)

    def report(self, job: Job) -> IngestReport:
        """Its report as it is now."""
        return self.jobs.report(self.tenant, self.job(job))


def bench(engine: Engine, clock: SettableClock, tenant: str, **settings: Any) -> Bench:
    """A bench over an engine that has a state store."""
    chosen = read_settings({}, **{"job_chunk_rows": CHUNK_ROWS, **settings})
    state: StateStore = engine.state  # type: ignore[attr-defined]
    return Bench(engine, state, clock, tenant_named(tenant), chosen)


def counted(report: IngestReport) -> dict[str, int]:
    """The counts that are not zero."""
    names = ("received", "indexed", "unchanged", "updated", "duplicate", "rejected")
    return {name: getattr(report, name) for name in names if getattr(report, name)}
