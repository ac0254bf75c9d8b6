"""Evaluations that are due, run in chunks of cases, so that one piece of work stays short and a worker that dies loses at most one chunk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from grounding.evaluation.cases import EvalSet
from grounding.evaluation.report_json import result_as_json, result_from_json
from grounding.evaluation.reports import EvalReport, report_of
from grounding.evaluation.sheaves import put_sheaf, read_sheaf, remove_sheaf
from runtime.clock import Stopwatch
from runtime.errors import Conflict, NotFound
from runtime.tenancy import Tenant
from search.ports import StateStore
from worker.duties import Queue, Work, in_turn
from worker.evaluations.evaluating import Evaluations
from worker.evaluations.schedules import IDLE, Progress, Schedule, Schedules

NAME = "evaluation"
PARTS = "eval_part"
CHUNK_CASES = 20


@dataclass(frozen=True, slots=True)
class ScheduledEvaluations:
    """Implements :class:`worker.duties.Duty`. The key of its work is the schedule, the instant its run was due, and how many cases are done."""

    schedules: Schedules
    evaluations: Evaluations
    state: StateStore
    busy_s: float
    chunk_cases: int = CHUNK_CASES
    name: str = NAME
    queue: Queue = "evaluation"

    def due(self, now: datetime) -> Iterator[Work]:
        """The next chunk of every run that is due and that nobody is at, tenants in turn."""
        yield from in_turn(
            work_of(tenant, schedule)
            for tenant, schedule in self.schedules.all()
            if schedule.next_at is not None and schedule.next_at <= now and not _busy(schedule, now)
        )

    def do(self, work: Work) -> Iterable[Work]:
        """Run one chunk, or finish the report when every case is done. Nothing is done where another worker is at it or was quicker."""
        claimed = self._claimed(work)
        if claimed is None:
            return ()
        try:
            eval_set = self.evaluations.sets.get(work.tenant, claimed.set_name)
        except NotFound as error:
            self._impossible(work.tenant, claimed, str(error))
            return ()
        except Conflict:
            self.schedules.update(work.tenant, replace(claimed, progress=IDLE))
            return ()
        if claimed.progress.done < len(eval_set.cases) or claimed.progress.digest != eval_set.digest:
            return self._chunk(work.tenant, claimed, eval_set)
        self._finish(work.tenant, claimed, eval_set)
        return ()

    def _claimed(self, work: Work) -> Schedule | None:
        """The schedule with this worker at it, or None."""
        try:
            schedule = self.schedules.get(work.tenant, work.key[0])
        except NotFound:
            return None
        now = self.evaluations.clock.now()
        if schedule.next_at is None or work_of(work.tenant, schedule) != work or _busy(schedule, now):
            return None
        busy = replace(schedule.progress, busy_until=now + timedelta(seconds=self.busy_s))
        return self.schedules.update(work.tenant, replace(schedule, progress=busy))

    def _chunk(self, tenant: Tenant, schedule: Schedule, eval_set: EvalSet) -> Iterable[Work]:
        """Ask the next cases; from the first on when the set was replaced since."""
        progress = schedule.progress if schedule.progress.digest == eval_set.digest else Progress(digest=eval_set.digest)
        watch = Stopwatch.start(self.evaluations.clock)
        cases = eval_set.cases[progress.done : progress.done + self.chunk_cases]
        results = self.evaluations.runner.run(tenant, cases)
        sheets = put_sheaf(self.state, tenant, PARTS, self._part(tenant, schedule, len(progress.sheets)), map(result_as_json, results))
        moved = Progress(
            done=progress.done + len(results),
            sheets=(*progress.sheets, sheets),
            digest=eval_set.digest,
            seconds=progress.seconds + watch.elapsed_s(),
        )
        kept = self.schedules.update(tenant, replace(schedule, progress=moved))
        return () if kept is None else (work_of(tenant, kept),)

    def _finish(self, tenant: Tenant, schedule: Schedule, eval_set: EvalSet) -> None:
        """Put the parts together, keep the report (once), and set when the next run is due."""
        rows = [
            row
            for number, sheets in enumerate(schedule.progress.sheets)
            for row in read_sheaf(self.state, tenant, PARTS, self._part(tenant, schedule, number), sheets)
        ]
        now, report_id = self.evaluations.clock.now(), schedule.report_id(tenant)
        subject = self.evaluations.subject(tenant, eval_set)
        report = report_of(report_id, subject, now, schedule.progress.seconds, tuple(result_from_json(row) for row in rows))
        self.evaluations.finish(tenant, report, schedule.gate, self._last(tenant, schedule))
        self._ended(tenant, replace(schedule, last_report_id=report_id, last_error=""))

    def _last(self, tenant: Tenant, schedule: Schedule) -> EvalReport | None:
        if schedule.last_report_id is None:
            return None
        try:
            return self.evaluations.reports.get(tenant, schedule.last_report_id)
        except NotFound:
            return None

    def _impossible(self, tenant: Tenant, schedule: Schedule, why: str) -> None:
        self.evaluations.metrics.count("wa_eval_runs_total", result="error")
        self._ended(tenant, replace(schedule, last_error=why))

    def _ended(self, tenant: Tenant, schedule: Schedule) -> None:
        """Wait for the next run; the parts of this one are not needed any more."""
        following = schedule.after(self.evaluations.clock.now())
        kept = self.schedules.update(tenant, replace(schedule, next_at=following, progress=IDLE))
        if kept is not None:
            for number, sheets in enumerate(schedule.progress.sheets):
                remove_sheaf(self.state, tenant, PARTS, self._part(tenant, schedule, number), sheets)

    def _part(self, tenant: Tenant, schedule: Schedule, number: int) -> str:
        return f"{schedule.report_id(tenant)}.{number}"


def work_of(tenant: Tenant, schedule: Schedule) -> Work:
    """The next piece of the run that is due."""
    due = "" if schedule.next_at is None else schedule.next_at.isoformat()
    return Work(NAME, tenant, (schedule.schedule_id, due, str(schedule.progress.done)))


def _busy(schedule: Schedule, now: datetime) -> bool:
    return schedule.progress.busy_until is not None and schedule.progress.busy_until > now
