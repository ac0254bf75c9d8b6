"""What every door offers of ingest jobs, once; see :mod:`api.operations`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from api.operations import row_of
from runtime.tenancy import Tenant
from search.ingest.parsing import Defaults
from search.ingest.report import IngestReport, Rejection
from search.ingest.rows import RowSource
from worker.jobs.job import Job
from worker.jobs.next_work import next_work
from worker.jobs.outcome import RejectedRow
from worker.jobs.store import JobPage
from worker.opening import Service

SOURCE = "indexDocuments"
"""What a job is said to come from that a web door took."""


def index_later(
    service: Service, tenant: Tenant, documents: Sequence[Any], batch_id: str | None, mask: str = ""
) -> tuple[Job, IngestReport]:
    """Keep documents as a job; returns it with its report so far. Only the size of a request limits how many.

    Raises:
        InvalidRequest: on ``batch_id``.
    """
    rows = RowSource(row_of(number, item) for number, item in enumerate(documents, 1))
    found = service.handing_in.hand_in(tenant, rows, source=SOURCE, batch_id=batch_id, defaults=Defaults.of(service.settings, mask=mask))
    size = service.engine.corpus(tenant).documents
    return found, service.jobs.report(tenant, replace(found, corpus_size=size))


def jobs(service: Service, tenant: Tenant, *, state: str | None, first: int, after: str | None) -> JobPage:
    """A page of jobs, newest first."""
    return service.jobs.list(tenant, state=state, first=first, after=after)


def job(service: Service, tenant: Tenant, job_id: str) -> Job:
    """One job.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.jobs.get(tenant, job_id)


def rejections(service: Service, tenant: Tenant, job: Job) -> tuple[Rejection, ...]:
    """The first rejections of a job."""
    return service.jobs.rejections(tenant, job)


def rejected_rows(service: Service, tenant: Tenant, job_id: str) -> tuple[Job, Iterator[RejectedRow]]:
    """A job with every rejected row of it so far, read while it is used.

    Raises:
        NotFound: the tenant has none of that id.
    """
    found = service.jobs.get(tenant, job_id)
    return found, service.jobs.rejected(tenant, job_id)


def cancel_job(service: Service, tenant: Tenant, job_id: str) -> Job:
    """Stop a job.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.jobs.cancel(tenant, job_id)


def retry_job(service: Service, tenant: Tenant, job_id: str) -> Job:
    """Let a failed job go on.

    Raises:
        NotFound: the tenant has none of that id.
        InvalidRequest: on ``job_id``; it has not failed, or was not handed in to its end.
    """
    found = service.jobs.retry(tenant, job_id)
    service.queue.nudge(next_work(tenant, found))
    return found
