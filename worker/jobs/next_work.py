"""What comes next for a job, as a piece of work."""

from runtime.tenancy import Tenant
from worker.duties import Work
from worker.jobs.job import Job

NAME = "ingest_job"


def next_work(tenant: Tenant, job: Job) -> Work:
    """The chunk that comes next, or the end of the job."""
    return Work(NAME, tenant, (job.job_id, str(job.next_chunk)))
