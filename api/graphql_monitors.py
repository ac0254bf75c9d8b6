"""Monitors, digests and deliveries in GraphQL: resolvers of ``schema/monitors.graphql``."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ariadne import EnumType, MutationType, ObjectType, QueryType, SubscriptionType
from graphql import GraphQLResolveInfo

from api import delivery_operations, monitor_operations
from api import monitor_rendering as rendering
from api.arguments import page_from
from api.json_values import Json
from api.monitor_operations import Watched
from runtime.errors import InvalidRequest, NotFound
from worker.deliveries.receivers import CHANNELS
from worker.deliveries.record import STATES, DeliveryState
from worker.monitors.digest import Digest
from worker.monitors.machine import State
from worker.monitors.monitor import SEVERITIES

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]

query = QueryType()
mutation = MutationType()
subscription = SubscriptionType()
digest_object = ObjectType("Digest")

BINDABLES = (
    query,
    mutation,
    subscription,
    digest_object,
    EnumType("MonitorState", {state.name: state.value for state in State}),
    EnumType("Severity", {name.upper(): name for name in SEVERITIES}),
    EnumType("Channel", {name.upper(): name for name in CHANNELS}),
    EnumType("DeliveryState", {name.upper(): name for name in STATES}),
)


@query.field("monitors")
async def monitors(_root: object, info: Info, first: int, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    page = await request.call(monitor_operations.monitors, first=page_from(first), after=after)
    return {"monitors": [_monitor(item) for item in page.watched], "unreadable": list(page.unreadable), "cursor": page.cursor}


@query.field("monitor")
async def monitor(_root: object, info: Info, monitor_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return _monitor(await request.call(monitor_operations.monitor, monitor_id))
    except NotFound:
        return None


@query.field("digests")
async def digests(_root: object, info: Info, first: int, monitor_id: str | None = None, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    page = await request.call(monitor_operations.digests, monitor_id=monitor_id, first=page_from(first), after=after)
    return rendering.digest_page(page)


@query.field("digest")
async def digest(_root: object, info: Info, digest_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return rendering.digest(await request.call(monitor_operations.digest, digest_id))
    except NotFound:
        return None


@digest_object.field("deliveries")
async def digest_deliveries(value: Json, info: Info) -> list[Json]:
    """Read only when they are asked for."""
    request: Request = info.context
    return [rendering.delivery(item) for item in await request.call(delivery_operations.deliveries_of, value["digestId"])]


@query.field("deliveries")
async def deliveries(_root: object, info: Info, first: int, state: DeliveryState | None = None, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    page = await request.call(delivery_operations.deliveries, state=state, first=page_from(first), after=after)
    return rendering.delivery_page(page)


@mutation.field("saveMonitor")
async def save_monitor(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002 (the schema's name)
    """See the schema."""
    request: Request = info.context
    expected = input.pop("expected_version", None)
    saved = await request.call(monitor_operations.save_monitor, input, expected)
    return {"monitor": _monitor(saved), "warnings": list(delivery_operations.receiver_problems(request.service, saved.monitor))}


@mutation.field("deleteMonitor")
async def delete_monitor(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002
    """See the schema."""
    request: Request = info.context
    deleted = await request.call(monitor_operations.delete_monitor, input["monitor_id"])
    return {"monitorId": input["monitor_id"], "deleted": deleted}


@mutation.field("pauseMonitor")
async def pause_monitor(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002
    """See the schema."""
    request: Request = info.context
    return {"monitor": _monitor(await request.call(monitor_operations.pause_monitor, input["monitor_id"], paused=input["paused"]))}


@mutation.field("acknowledge")
async def acknowledge(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002
    """See the schema."""
    request: Request = info.context
    return {"monitor": _monitor(await request.call(monitor_operations.acknowledge, input["monitor_id"]))}


@mutation.field("evaluateMonitor")
async def evaluate_monitor(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002
    """See the schema."""
    request: Request = info.context
    start = _instant(input.get("window_start"))
    done = await request.call(monitor_operations.evaluate_monitor, input["monitor_id"], window_start=start, dry_run=input["dry_run"])
    return {"evaluation": rendering.evaluation(done)}


@mutation.field("redeliverDigest")
async def redeliver_digest(_root: object, info: Info, *, input: Json) -> Json:  # noqa: A002
    """See the schema."""
    request: Request = info.context
    done = await request.call(delivery_operations.redeliver, input["digest_id"])
    return {"digest": rendering.digest(done.digest), "deliveries": [rendering.delivery(item) for item in done.deliveries]}


@subscription.source("digestPublished")
async def digest_published(_root: object, info: Info, after: str | None = None) -> AsyncGenerator[Digest, None]:
    """See the schema."""
    request: Request = info.context
    assert request.feed is not None
    async for found in request.feed.digests(request.principal.tenant, after):
        yield found


@subscription.field("digestPublished")
def published(value: Digest, _info: Info, after: str | None = None) -> Json:  # noqa: ARG001 (the argument is the source's)
    """See the schema."""
    return rendering.digest(value)


def _monitor(value: Watched) -> Json:
    return rendering.monitor(value.monitor, value.held)


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest("must be an instant such as 2026-11-20T08:00:00Z", field="window_start") from error
