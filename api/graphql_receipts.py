"""Receipts of erasures in GraphQL: resolvers of their part of ``schema/documents.graphql``."""

from typing import TYPE_CHECKING, Any

from ariadne import QueryType
from graphql import GraphQLResolveInfo

from api import operations, rendering
from api.arguments import page_from
from api.json_values import Json
from runtime.errors import NotFound

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]

query = QueryType()

BINDABLES = (query,)


@query.field("erasureReceipts")
async def erasure_receipts(_root: object, info: Info, first: int, after: str | None = None) -> Json:
    """See the schema."""
    request: Request = info.context
    return rendering.receipt_page(await request.call(operations.receipts, first=page_from(first), after=after))


@query.field("erasureReceipt")
async def erasure_receipt(_root: object, info: Info, receipt_id: str) -> Json | None:
    """See the schema."""
    request: Request = info.context
    try:
        return rendering.erasure_receipt(await request.call(operations.receipt, receipt_id))
    except NotFound:
        return None
