"""Handing inputs to the worker from the command line, and watching what becomes of them."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from api import job_operations, job_rendering
from api.cli.calling import Calling, calling
from api.cli.failures import DONE, FAILED, INTERRUPTED, REJECTED
from api.cli.ingesting import Request, called, opened_input
from api.cli.options import Common
from api.cli.progress import progress_on
from api.cli.session import Session, session
from api.cli.views.ingest import report_notes
from api.cli.views.jobs import job_line, job_view, progress_of
from api.json_text import write_json
from runtime.errors import InvalidRequest
from search.ingest.files import read_rows
from worker.jobs.job import Job

POLL_S = 0.5

Wait = Callable[[float], None]


def handed_in(request: Request, common: Common, *, follow: bool, wait: Wait = time.sleep) -> int:
    """Hand every input to the worker, print the ids of the jobs, and with ``follow`` stay until they have ended. An input that cannot be read loses no
    other.

    Raises:
        InvalidRequest: an input cannot be read, or an option goes only with ``follow``.
    """
    if not follow and (request.rejects is not None or request.strict):
        raise InvalidRequest(
            "goes with --follow; later, wisdom jobs rejects ID prints them", field="rejects" if request.rejects else "strict"
        )
    unreadable: list[InvalidRequest] = []
    with session(common) as opened:
        jobs = _handed_in(request, opened, unreadable)
        code = _followed(jobs, request, opened, calling(common), wait) if follow else _told(jobs, opened, calling(common))
    if unreadable:
        raise unreadable[0] if len(unreadable) == 1 else InvalidRequest("; ".join(error.reason for error in unreadable), field="files")
    return code


def followed(opened: Session, job: Job, line: Calling, wait: Wait = time.sleep) -> Job:
    """Show how a job goes on until it has ended. An interrupt ends the watching and not the job."""
    share = _Share(job)
    with progress_on(opened.screen, opened.service.clock, job.source, share) as told:
        if job.state == "queued":
            opened.screen.note(_waits(opened, line))
        while not job.ended:
            wait(POLL_S)
            job = share.job = job_operations.job(opened.service, opened.tenant, job.job_id)
            told(progress_of(job))
    return job


def show(opened: Session, job: Job) -> None:
    """Print a job with its report so far."""
    service = opened.service
    report = service.jobs.report(opened.tenant, job)
    opened.screen.show(lambda: job_view(job, report), lambda: job_rendering.job(job, report.rejections))


class _Share:
    """How much of a job is done, as it was last seen."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self) -> float | None:
        """0..1; None while nobody knows."""
        return self.job.received / self.job.handed_in if self.job.complete and self.job.handed_in else None


def _handed_in(request: Request, opened: Session, unreadable: list[InvalidRequest]) -> list[Job]:
    jobs = []
    for name in request.inputs:
        try:
            jobs.append(_one(name, request, opened))
        except InvalidRequest as error:
            named = InvalidRequest(f"{called(name)}: {error.reason}", field=error.field) if len(request.inputs) > 1 else error
            unreadable.append(named)
    return jobs


def _one(name: str, request: Request, opened: Session) -> Job:
    service = opened.service
    with (
        read_rows(opened_input(name, opened.screen), request.options) as rows,
        progress_on(opened.screen, service.clock, f"handing in {called(name)}", rows.share_read) as told,
    ):
        return service.handing_in.hand_in(
            opened.tenant,
            rows,
            source=called(name),
            batch_id=request.batch_id,
            defaults=request.defaults(service.settings),
            progress=told,
        )


def _told(jobs: Sequence[Job], opened: Session, line: Calling) -> int:
    if opened.screen.as_json:
        opened.screen.show(lambda: "", lambda: {"jobs": [job_rendering.job(job) for job in jobs]})
    for job in () if opened.screen.as_json else jobs:
        opened.screen.say(job.job_id)
        opened.screen.note(f"{job.handed_in:,} rows of {job.source} handed in; {line('jobs', 'show', job.job_id)}")
    if jobs:
        opened.screen.note(_waits(opened, line))
    return DONE


def _waits(opened: Session, line: Calling) -> str:
    status = opened.service.queue.health(opened.service.clock.now()).status
    if status == "ok":
        return "a worker takes it up"
    if status == "not configured":
        return f"a worker on this store takes it up, and the job waits for one; {line('worker', '--local')} starts one"
    return f"no worker is known to run: the job waits for one, {line('worker', '--local')} or wisdom worker with WA_REDIS_URL"


def _followed(jobs: Sequence[Job], request: Request, opened: Session, line: Calling, wait: Wait) -> int:
    ended = []
    try:
        ended = [followed(opened, job, line, wait) for job in jobs]
    except KeyboardInterrupt:
        opened.screen.note("no longer watching; the job goes on: " + "; ".join(line("jobs", "show", job.job_id) for job in jobs))
        return INTERRUPTED
    for job in ended:
        _ended(job, opened, several=len(ended) > 1)
    if opened.screen.as_json and len(ended) > 1:
        opened.screen.show(lambda: "", lambda: {"jobs": [_value(opened, job) for job in ended]})
    _write_rejects(ended, request.rejects, opened)
    if any(job.state != "done" for job in ended):
        return FAILED
    return REJECTED if request.strict and any(job.rejected for job in ended) else DONE


def _value(opened: Session, job: Job) -> object:
    return job_rendering.job(job, opened.service.jobs.rejections(opened.tenant, job))


def _ended(job: Job, opened: Session, *, several: bool) -> None:
    if not (several and opened.screen.as_json):
        show(opened, job)
    report = opened.service.jobs.report(opened.tenant, job)
    for note in report_notes(report):
        opened.screen.note(note)
    for warning in report.warnings:
        opened.screen.warn(warning)
    if job.state != "done":
        opened.screen.warn(job_line(job))


def _write_rejects(jobs: Sequence[Job], path: Path | None, opened: Session) -> None:
    if path is None:
        return
    with ExitStack() as closing:
        file = closing.enter_context(path.open("wb"))
        for job in jobs:
            for row in opened.service.jobs.rejected(opened.tenant, job.job_id):
                file.write(write_json(job_rendering.rejected_row(row, job.source)) + b"\n")
