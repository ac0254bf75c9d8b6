"""One serialiser per value of ingest jobs; see :mod:`api.rendering`."""

from collections.abc import Sequence

from api.json_values import Json, moment, number, optional_moment, optional_number, plain
from api.rendering import ingest_report, masked, rejection
from search.ingest.report import IngestReport, Rejection
from worker.jobs.job import Job
from worker.jobs.outcome import RejectedRow
from worker.jobs.store import JobPage, warnings_of


def job(value: Job, rejections: Sequence[Rejection] = ()) -> Json:
    """A job as far as it is; ``rejections`` are the first ones, as far as a door wants them."""
    return {
        "jobId": value.job_id,
        "source": value.source,
        "batchId": value.batch_id,
        "state": value.state,
        "cancelling": value.cancelling,
        "handedIn": value.handed_in,
        "complete": value.complete,
        "received": value.received,
        "indexed": value.indexed,
        "unchanged": value.unchanged,
        "updated": value.updated,
        "duplicate": value.duplicate,
        "rejected": value.rejected,
        "saved": value.indexed + value.updated,
        "corpusSize": value.corpus_size,
        "rate": number(value.rate),
        "remaining": optional_number(value.remaining),
        "seconds": number(value.seconds),
        "createdAt": moment(value.created_at),
        "startedAt": optional_moment(value.started_at),
        "finishedAt": optional_moment(value.finished_at),
        "mapping": plain(value.mapping),
        "attributeFields": list(value.attribute_fields),
        "masked": masked(value.masked),
        "warnings": list(warnings_of(value)),
        "error": value.error,
        "rejections": [rejection(item) for item in rejections],
    }


def taken_as_job(value: Job, report: IngestReport) -> Json:
    """What ``indexDocuments`` returns for documents that will be stored later: the report as it is now, which counts nothing yet, and the job."""
    return ingest_report(report) | {"job": job(value)}


def job_page(value: JobPage) -> Json:
    """Some jobs, and the cursor of the next page."""
    return {"jobs": [job(item) for item in value.jobs], "cursor": value.cursor}


def rejected_row(value: RejectedRow, source: str) -> Json:
    """A rejected row with what it was; ``original`` has the names and numbers of the input, untouched."""
    return rejection(value.rejection) | {"file": source, "original": None if value.original is None else dict(value.original)}
