"""Ingest jobs in REST: how one stands, and its rejected rows as JSON lines."""

from collections.abc import Iterable, Iterator

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from api import job_operations as operations
from api import job_rendering as rendering
from api.doors import Open, Who, in_time
from api.json_text import write_json
from worker.jobs.job import Job
from worker.jobs.outcome import RejectedRow

JSON_LINES = "application/jsonl"

router = APIRouter()


@router.get("/jobs/{job_id}", summary="How an ingest job stands")
async def job(doors: Open, who: Who, job_id: str) -> Response:
    """404 when the tenant has none of that id, whoever else may."""
    with in_time(doors.service):
        found = await doors.threads.call(operations.job, doors.service, who.tenant, job_id)
        rejections = await doors.threads.call(operations.rejections, doors.service, who.tenant, found)
    return Response(write_json(rendering.job(found, rejections)), media_type="application/json")


@router.get("/jobs/{job_id}/rejects", summary="The rejected rows of an ingest job, one JSON object a line")
async def rejects(doors: Open, who: Who, job_id: str) -> Response:
    """Each with its number, field, reason and the original row where it can be; as many as there are so far."""
    found, rows = await doors.threads.call(operations.rejected_rows, doors.service, who.tenant, job_id)
    named = {"content-disposition": f'attachment; filename="{found.job_id}-rejects.jsonl"'}
    return StreamingResponse(_lines(found, rows), media_type=JSON_LINES, headers=named)


def _lines(found: Job, rows: Iterable[RejectedRow]) -> Iterator[bytes]:
    for row in rows:
        yield write_json(rendering.rejected_row(row, found.source)) + b"\n"
