"""Evaluations in GraphQL: resolvers of ``schema/evaluations.graphql``."""

from typing import TYPE_CHECKING, Any

from ariadne import MutationType, QueryType
from graphql import GraphQLResolveInfo

from api import evaluation_operations as operations
from api import evaluation_rendering as rendering
from api.arguments import page_from
from api.json_values import Json
from runtime.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]

query = QueryType()
mutation = MutationType()
BINDABLES = (query, mutation)


@query.field("evals")
async def evals(_root: object, info: Info, first: int, set_name: str | None = None, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    page = await request.call(operations.evals, set_name=set_name, first=page_from(first), after=after)
    return {"reports": [rendering.eval_summary(report) | {"results": []} for report in page.reports], "cursor": page.cursor}


@query.field("evalReport")
async def eval_report(_root: object, info: Info, report_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return rendering.eval_report(await request.call(operations.eval_report, report_id))
    except NotFound:
        return None


@query.field("evalDiff")
async def eval_diff(_root: object, info: Info, before_id: str, after_id: str) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.eval_diff(await request.call(operations.eval_diff, before_id, after_id))


@query.field("evalSets")
async def eval_sets(_root: object, info: Info) -> list[Json]:
    """See the schema."""
    request: Request = info.context
    return [rendering.eval_set(summary) for summary in await request.call(operations.eval_sets)]


@query.field("evalSchedules")
async def eval_schedules(_root: object, info: Info) -> list[Json]:
    """See the schema."""
    request: Request = info.context
    return [rendering.eval_schedule(schedule) for schedule in await request.call(operations.schedules)]


@mutation.field("runEval")
async def run_eval(
    _root: object,
    info: Info,
    *,
    set_name: str,
    gate: bool,
    background: bool,
    limit: int | None = None,
    baseline_id: str | None = None,
    every_seconds: float | None = None,
    schedule_name: str | None = None,
) -> Json:
    """See the schema."""
    request: Request = info.context
    _check(background=background, limit=limit, baseline_id=baseline_id, every_seconds=every_seconds, schedule_name=schedule_name)
    if background:
        bounds = operations.gate_of_set(set_name) if gate else None
        schedule, report_id = await request.call(operations.schedule_eval, set_name, name=schedule_name, every_s=every_seconds, gate=bounds)
        return {"reportId": report_id, "report": None, "schedule": rendering.eval_schedule(schedule)}
    report = await request.call(operations.run_named, set_name, limit=limit, gated=gate, baseline_id=baseline_id)
    return {"reportId": report.report_id, "report": rendering.eval_report(report), "schedule": None}


@mutation.field("deleteEvalSchedule")
async def delete_eval_schedule(_root: object, info: Info, schedule_id: str) -> bool:
    """See the schema."""
    request: Request = info.context
    await request.call(operations.unschedule, schedule_id)
    return True


def _check(*, background: bool, **given: object) -> None:
    """Arguments that are only for one of the two ways."""
    misplaced = ("limit", "baseline_id") if background else ("every_seconds", "schedule_name")
    for name in misplaced:
        if given[name] is not None:
            raise InvalidRequest(f"is only for evaluations {'without' if background else 'with'} background", field=name)
