"""The GraphQL schema: the files beside this one, bound to resolvers that convert, call the core in a thread, and convert back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from ariadne import EnumType, MutationType, ObjectType, QueryType, ScalarType, load_schema_from_path, make_executable_schema
from graphql import (
    GraphQLArgument,
    GraphQLError,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    is_introspection_type,
)

from api import (
    graphql_evaluations,
    graphql_insights,
    graphql_jobs,
    graphql_keys,
    graphql_monitors,
    graphql_receipts,
    job_operations,
    job_rendering,
    operations,
    rendering,
)
from api.arguments import budget_from, filters_from, page_from, top_k_from
from api.casing import snake
from api.digest_feed import DigestFeed
from api.graphql_rights import guard_roots
from api.identity.gate import Gate
from api.identity.principal import Principal
from api.json_values import Json
from api.threads import Threads
from runtime.errors import NotFound
from search.aggregation import INTERVALS
from search.retrieval import Fusion
from worker.opening import Service

SCHEMA_FOLDER = Path(__file__).parent / "schema"

T = TypeVar("T")

Info = GraphQLResolveInfo[Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a resolver knows of the request it serves."""

    service: Service
    principal: Principal
    threads: Threads
    gate: Gate
    feed: DigestFeed | None = None
    """Only where subscriptions are served."""

    @property
    def time_zone(self) -> str:
        """Zone of local days where the request names none."""
        return self.service.settings.time_zone

    async def call(self, operation: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run one of :mod:`api.operations` for the caller's tenant."""
        return await self.threads.call(operation, self.service, self.principal.tenant, *arguments, **named)


query = QueryType()
mutation = MutationType()
ask_result = ObjectType("AskResult")

ENUMS = (
    EnumType("Fusion", {name.upper(): name for name in get_args(Fusion)}),
    EnumType("Interval", {name.upper(): name for name in INTERVALS}),
)


@query.field("ask")
async def ask(
    _root: object,
    info: Info,
    question: str,
    top_k: int,
    filters: Json | None = None,
    budget: Json | None = None,
    time_zone: str | None = None,
) -> Json:
    """See the schema."""
    request: Request = info.context
    settings = request.service.settings
    outcome = await request.call(
        operations.ask,
        question,
        top_k=top_k_from(top_k, settings),
        filters=filters_from(filters, time_zone or request.time_zone),
        budget=budget_from(budget, settings),
        time_zone=time_zone,
    )
    return rendering.ask_result(outcome) | {"shownIds": operations.shown_ids(outcome)}


@ask_result.field("documents")
async def ask_documents(result: Json, info: Info) -> list[Json]:
    """Read only when they are asked for."""
    request: Request = info.context
    return [rendering.document(item) for item in await request.call(operations.documents_of, result["shownIds"])]


@query.field("search")
async def search(_root: object, info: Info, query: str, top_k: int, filters: Json | None = None, fusion: Fusion | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    found = await request.call(
        operations.search,
        query,
        top_k=top_k_from(top_k, request.service.settings),
        filters=filters_from(filters, request.time_zone),
        fusion=fusion,
    )
    return rendering.search_result(found)


@query.field("document")
async def document(_root: object, info: Info, doc_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    found = await request.call(operations.documents_of, (doc_id,))
    return rendering.document(found[0]) if found else None


@query.field("documents")
async def documents(
    _root: object,
    info: Info,
    first: int,
    filters: Json | None = None,
    match: str | None = None,
    after: str | None = None,
) -> Json:
    """See the schema."""
    request: Request = info.context
    chosen = filters_from(filters, request.time_zone)
    return rendering.document_page(await request.call(operations.documents, chosen, match=match, first=page_from(first), after=after))


@query.field("trace")
async def trace(_root: object, info: Info, run_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return rendering.trace(await request.call(operations.trace, run_id))
    except NotFound:
        return None


@query.field("traces")
async def traces(_root: object, info: Info, *, first: int, refused: bool | None = None, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.trace_page(await request.call(operations.traces, refused=refused, first=page_from(first), after=after))


@query.field("aggregateByTheme")
async def aggregate_by_theme(_root: object, info: Info, limit: int, query: str | None = None, filters: Json | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.theme_aggregate(await request.call(operations.by_theme, query, filters_from(filters, request.time_zone), limit))


@query.field("trendOverTime")
async def trend_over_time(
    _root: object, info: Info, interval: str, time_zone: str, query: str | None = None, filters: Json | None = None
) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.trend(await request.call(operations.trend, query, filters_from(filters, time_zone), interval, time_zone))


@query.field("accountContext")
async def account_context(_root: object, info: Info, account_id: str, first: int) -> Json | None:
    """See the schema."""
    request: Request = info.context
    found = await request.call(operations.account_context, account_id, first)
    return rendering.account_context(found) if found else None


@query.field("corpus")
async def corpus(_root: object, info: Info) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.corpus(await request.call(operations.corpus))


@mutation.field("indexDocuments")
async def index_documents(
    _root: object, info: Info, documents: list[Json], batch_id: str | None = None, mask: list[str] | None = None, **options: bool
) -> Json:
    """See the schema; ``async`` is no name for a parameter."""
    request: Request = info.context
    also = ",".join(mask or ()).lower()
    if options["async"]:
        return job_rendering.taken_as_job(*await request.call(job_operations.index_later, documents, batch_id, also))
    return rendering.ingest_report(await request.call(operations.index, documents, batch_id, also))


@mutation.field("deleteDocuments")
async def delete_documents(
    _root: object,
    info: Info,
    *,
    confirm: bool,
    doc_ids: list[str] | None = None,
    account_id: str | None = None,
) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.delete_report(
        await request.call(operations.delete, doc_ids=doc_ids, account_id=account_id, confirm=confirm, by=request.principal.subject)
    )


def executable_schema() -> GraphQLSchema:
    """The committed schema with its resolvers; arguments and input fields reach them in snake_case."""
    schema = make_executable_schema(
        load_schema_from_path(SCHEMA_FOLDER),
        query,
        mutation,
        ask_result,
        *graphql_jobs.BINDABLES,
        *graphql_insights.BINDABLES,
        *graphql_monitors.BINDABLES,
        *graphql_evaluations.BINDABLES,
        *graphql_keys.BINDABLES,
        *graphql_receipts.BINDABLES,
        *ENUMS,
        *_scalars(),
    )
    for kind in schema.type_map.values():
        if is_introspection_type(kind):
            continue
        if isinstance(kind, GraphQLObjectType):
            for field in kind.fields.values():
                _rename(field.args)
            if kind in (schema.query_type, schema.mutation_type, schema.subscription_type):
                guard_roots(kind, writes=kind is schema.mutation_type)
        elif isinstance(kind, GraphQLInputObjectType):
            _rename(kind.fields)
    return schema


def _rename(inputs: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField]) -> None:
    for name, item in inputs.items():
        item.out_name = snake(name)


def _scalars() -> list[ScalarType]:
    parsers = {"DateTime": _text, "AttributeValue": _scalar, "Attributes": _flat_object, "SourceInput": _text_or_object, "Version": _whole}
    return [ScalarType(name, value_parser=parser) for name, parser in parsers.items()]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise GraphQLError("must be a whole number")
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise GraphQLError("must be a text")
    return value


def _flat_object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise GraphQLError("must be an object of named values")
    return value


def _text_or_object(value: Any) -> str | Json:
    return value if isinstance(value, str) else _flat_object(value)


def _scalar(value: Any) -> str | int | float | bool:
    if not isinstance(value, str | int | float | bool):
        raise GraphQLError("must be a text, a number, or true or false")
    return value
