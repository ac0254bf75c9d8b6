"""Ingest jobs: a list of them, and one with its report."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from api.cli.grid import Column, Grid
from api.cli.progress import progress_line
from api.cli.views.ingest import report_view
from api.cli.views.text import minute
from api.cli.visible import one_line
from search.ingest.report import IngestReport, Progress
from worker.jobs.job import Job


def jobs_view(jobs: Sequence[Job]) -> RenderableType:
    """What ``jobs list`` prints, newest first."""
    if not jobs:
        return Text("no jobs yet")
    columns = (
        Column("job", style="cyan"),
        Column("handed in"),
        Column("state"),
        Column("rows", right=True),
        Column("done", right=True),
        Column("indexed", right=True),
        Column("rejected", right=True),
        Column("from", flexible=True),
    )
    return Grid(columns, tuple(map(_row, jobs)), minimum=80)


def job_view(job: Job, report: IngestReport) -> RenderableType:
    """What ``jobs show`` prints: how it stands, then its report so far."""
    lines = [
        Text.assemble((job.job_id, "cyan"), f" · {one_line(job.source)} · {minute(job.created_at)}"),
        Text(job_line(job), style="" if job.error is None else "yellow"),
    ]
    return Group(*lines, Text(""), report_view(report))


def job_line(job: Job) -> str:
    """``running: 1,200 rows, 430 a second, about 12 s left``."""
    if job.state == "queued" and not job.received:
        return "queued: waits for a worker"
    told = progress_line(progress_of(job)) if job.state == "running" else f"{job.received:,} of {job.handed_in:,} rows"
    stopping = ", stops behind the chunk in progress" if job.cancelling else ""
    return f"{job.state}: {told}{stopping}" + (f"; {one_line(job.error)}" if job.error else "")


def progress_of(job: Job) -> Progress:
    """How far it is."""
    return Progress(job.handed_in, job.received, job.rate, job.remaining)


def _row(job: Job) -> tuple[str, ...]:
    counts = (job.handed_in, job.received, job.indexed, job.rejected)
    return (job.job_id, minute(job.created_at), job.state, *(f"{count:,}" for count in counts), one_line(job.source, 60))
