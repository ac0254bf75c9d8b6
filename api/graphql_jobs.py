"""Ingest jobs in GraphQL: resolvers of ``schema/jobs.graphql``."""

from typing import TYPE_CHECKING, Any

from ariadne import EnumType, MutationType, ObjectType, QueryType
from graphql import GraphQLResolveInfo

from api import job_operations as operations
from api import job_rendering as rendering
from api.arguments import page_from
from api.json_values import Json
from runtime.errors import NotFound
from worker.jobs.job import STATES

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]

query = QueryType()
mutation = MutationType()
ingest_job = ObjectType("IngestJob")
JOB_STATES = EnumType("JobState", {name.upper(): name for name in STATES})

BINDABLES = (query, mutation, ingest_job, JOB_STATES)


@query.field("jobs")
async def jobs(_root: object, info: Info, first: int, state: str | None = None, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.job_page(await request.call(operations.jobs, state=state, first=page_from(first), after=after))


@query.field("job")
async def job(_root: object, info: Info, job_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return rendering.job(await request.call(operations.job, job_id))
    except NotFound:
        return None


@ingest_job.field("rejections")
async def rejections(value: Json, info: Info) -> list[Json]:
    """Read only when they are asked for."""
    request: Request = info.context
    if not value["rejected"]:
        return []
    found = await request.call(operations.job, value["jobId"])
    return rendering.job(found, await request.call(operations.rejections, found))["rejections"]  # type: ignore[no-any-return]


@mutation.field("cancelJob")
async def cancel_job(_root: object, info: Info, job_id: str) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.job(await request.call(operations.cancel_job, job_id))


@mutation.field("retryJob")
async def retry_job(_root: object, info: Info, job_id: str) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.job(await request.call(operations.retry_job, job_id))
