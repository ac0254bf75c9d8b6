"""Counts of events in GraphQL: resolvers of ``schema/insights.graphql``."""

from typing import TYPE_CHECKING, Any

from ariadne import QueryType
from graphql import GraphQLResolveInfo

from api import insight_rendering, operations
from api.json_values import Json

if TYPE_CHECKING:
    from api.graphql_schema import Request

query = QueryType()

BINDABLES = (query,)


@query.field("insights")
async def insights(_root: object, info: GraphQLResolveInfo[Any], questions: int) -> Json:
    """See the schema."""
    request: Request = info.context
    return insight_rendering.insights(await request.call(operations.insights, questions=questions))
