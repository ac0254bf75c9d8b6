"""What every door offers on evaluations, once: each function calls the worker's part for one tenant. No rule lives here."""

from collections.abc import Sequence

from grounding.evaluation.cases import Case, EvalSet
from grounding.evaluation.diffing import Diff
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.report_store import ReportPage
from grounding.evaluation.reports import EvalReport, compared
from grounding.evaluation.running import Told
from grounding.evaluation.set_store import SetSummary
from grounding.evaluation.sets import SHIPPED, shipped_gate
from runtime.errors import InvalidRequest
from runtime.tenancy import Tenant
from worker.evaluations.duty import work_of
from worker.evaluations.schedules import Schedule
from worker.opening import Service

IN_PROCESS_CASES = 50
"""Most cases that one web request runs; a worker runs more."""


def run_eval(
    service: Service,
    tenant: Tenant,
    eval_set: EvalSet,
    *,
    cases: Sequence[Case] | None = None,
    selected: str = "",
    gate: ScoreGate | None = None,
    baseline: EvalReport | None = None,
    top_k: int | None = None,
    told: Told | None = None,
) -> EvalReport:
    """Run a set now, keep the report and its event, count it."""
    return service.evaluations.run(tenant, eval_set, cases=cases, selected=selected, gate=gate, baseline=baseline, top_k=top_k, told=told)


def run_named(service: Service, tenant: Tenant, set_name: str, *, limit: int | None, gated: bool, baseline_id: str | None) -> EvalReport:
    """Run (the first cases of) a set that is known by name, within one web request.

    Raises:
        NotFound: there is no such set or baseline.
        InvalidRequest: on ``limit``: more cases than a request may run.
    """
    eval_set = service.evaluations.sets.get(tenant, set_name)
    wanted = len(eval_set.cases) if limit is None else min(limit, len(eval_set.cases))
    if wanted < 1 or wanted > IN_PROCESS_CASES:
        raise InvalidRequest(
            f"asks for {wanted} cases; one request may run 1 to {IN_PROCESS_CASES}. Give a smaller limit, or leave it to a worker with background",
            field="limit",
        )
    baseline = None if baseline_id is None else service.evaluations.reports.get(tenant, baseline_id)
    cases = eval_set.cases[:wanted]
    selected = "" if wanted == len(eval_set.cases) else f"first {wanted} cases"
    gate = gate_of_set(set_name) if gated else None
    return run_eval(service, tenant, eval_set, cases=cases, selected=selected, gate=gate, baseline=baseline)


def gate_of_set(set_name: str) -> ScoreGate:
    """The gate that comes with a set of the product.

    Raises:
        InvalidRequest: on ``gate``: the set has none.
    """
    if set_name not in SHIPPED:
        raise InvalidRequest(f"the set {set_name!r} comes without a gate", field="gate")
    return shipped_gate(set_name)


def schedule_eval(
    service: Service, tenant: Tenant, set_name: str, *, name: str | None = None, every_s: float | None = None, gate: ScoreGate | None = None
) -> tuple[Schedule, str]:
    """Leave a set to the worker, once or again and again; returns the schedule and the id that the report of its first run will have.

    Raises:
        NotFound: there is no such set.
        InvalidRequest: on ``name`` or ``every_s``.
    """
    service.evaluations.sets.get(tenant, set_name)
    schedule = service.eval_schedules.save(tenant, set_name, name=name, every_s=every_s, gate=gate)
    service.queue.nudge(work_of(tenant, schedule))
    return schedule, schedule.report_id(tenant)


def schedules(service: Service, tenant: Tenant) -> tuple[Schedule, ...]:
    """Scheduled evaluations."""
    return service.eval_schedules.list(tenant)


def unschedule(service: Service, tenant: Tenant, schedule_id: str) -> None:
    """Remove a schedule."""
    service.eval_schedules.delete(tenant, schedule_id)


def evals(service: Service, tenant: Tenant, *, set_name: str | None, first: int, after: str | None) -> ReportPage:
    """A page of reports."""
    return service.evaluations.reports.list(tenant, set_name=set_name, first=first, after=after)


def eval_report(service: Service, tenant: Tenant, report_id: str) -> EvalReport:
    """One report.

    Raises:
        NotFound: the tenant has none of that id.
    """
    return service.evaluations.reports.get(tenant, report_id)


def eval_diff(service: Service, tenant: Tenant, before_id: str, after_id: str) -> Diff:
    """What changed between two reports.

    Raises:
        NotFound: the tenant has none of that id.
    """
    reports = service.evaluations.reports
    return compared(reports.get(tenant, before_id), reports.get(tenant, after_id))


def eval_sets(service: Service, tenant: Tenant) -> tuple[SetSummary, ...]:
    """The sets there are."""
    return service.evaluations.sets.list(tenant)


def save_eval_set(service: Service, tenant: Tenant, eval_set: EvalSet) -> None:
    """Keep a set under its name, for schedules and web doors."""
    service.evaluations.sets.save(tenant, eval_set)
