"""``wisdom jobs list|show|cancel|retry|rejects``: ingest that was handed to the worker."""

from enum import StrEnum
from typing import Annotated

import typer

from api.cli.declaring import command
from api.cli.options import Common
from api.cli.session import session

JobId = Annotated[str, typer.Argument(metavar="JOB", help="The id that wisdom ingest --background printed.")]


class State(StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="jobs", help="Ingest that was handed to the worker: list, watch, cancel, try again, rejected rows.")
    _list(group)
    _show(group)
    _cancel(group)
    _retry(group)
    _rejects(group)


def _list(group: typer.Typer) -> None:
    @command(group, "jobs list", example="wisdom jobs list --state running")
    def list_jobs(
        common: Common,
        state: Annotated[
            State | None, typer.Option(metavar="queued|running|done|failed|cancelled", help="Only jobs in this state.")
        ] = None,
        first: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Jobs on a page.")] = 50,
        after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Go on after an earlier page.")] = None,
    ) -> None:
        """List ingest jobs, newest first."""
        from api import job_operations, job_rendering
        from api.cli.views.jobs import jobs_view

        with session(common) as opened:
            found = job_operations.jobs(opened.service, opened.tenant, state=state.value if state else None, first=first, after=after)
            opened.screen.show(lambda: jobs_view(found.jobs), lambda: job_rendering.job_page(found))
            if found.cursor is not None:
                opened.screen.note(f"next page: --after {found.cursor}")


def _show(group: typer.Typer) -> None:
    @command(group, "jobs show", example="wisdom jobs show job-01ab…\nwisdom jobs show job-01ab… --follow")
    def show_job(
        job_id: JobId,
        common: Common,
        follow: Annotated[bool, typer.Option("--follow", help="Stay until it has ended.")] = False,
    ) -> None:
        """Show one job: how far it is, what became of its rows, rejections, warnings."""
        from api import job_operations
        from api.cli.calling import calling
        from api.cli.following import followed, show
        from worker.jobs.store import warnings_of

        with session(common) as opened:
            found = job_operations.job(opened.service, opened.tenant, job_id)
            show(opened, followed(opened, found, calling(common)) if follow else found)
            for warning in warnings_of(found):
                opened.screen.warn(warning)


def _cancel(group: typer.Typer) -> None:
    @command(group, "jobs cancel", example="wisdom jobs cancel job-01ab…")
    def cancel_job(job_id: JobId, common: Common) -> None:
        """Stop a job: at once, or behind the chunk that is in progress. What is stored stays."""
        from api import job_operations
        from api.cli.following import show

        with session(common) as opened:
            show(opened, job_operations.cancel_job(opened.service, opened.tenant, job_id))


def _retry(group: typer.Typer) -> None:
    @command(group, "jobs retry", example="wisdom jobs retry job-01ab…")
    def retry_job(job_id: JobId, common: Common) -> None:
        """Let a failed job go on behind what is done."""
        from api import job_operations
        from api.cli.following import show

        with session(common) as opened:
            show(opened, job_operations.retry_job(opened.service, opened.tenant, job_id))


def _rejects(group: typer.Typer) -> None:
    @command(group, "jobs rejects", example="wisdom jobs rejects job-01ab…")
    def rejected_rows(job_id: JobId, common: Common) -> None:
        """Print every rejected row of a job, one JSON value a line, with the original row where it can be."""
        from api import job_operations, job_rendering

        with session(common) as opened:
            found, rows = job_operations.rejected_rows(opened.service, opened.tenant, job_id)
            for row in rows:
                opened.screen.line(job_rendering.rejected_row(row, found.source))
