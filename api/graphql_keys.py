"""API keys in GraphQL: resolvers of ``schema/keys.graphql``."""

from typing import TYPE_CHECKING, Any

from ariadne import EnumType, MutationType, QueryType
from graphql import GraphQLResolveInfo

from api import key_operations as operations
from api.identity.keys import ApiKey
from api.identity.principal import RATE_CLASSES, SCOPES
from api.json_values import Json

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]

query = QueryType()
mutation = MutationType()

BINDABLES = (
    query,
    mutation,
    EnumType("Scope", {name.upper(): name for name in SCOPES}),
    EnumType("RateClass", {name.upper(): name for name in RATE_CLASSES}),
)


@query.field("apiKeys")
async def api_keys(_root: object, info: Info) -> list[Json]:
    """See the schema."""
    request: Request = info.context
    return [operations.rendered(key) for key in await request.call(operations.keys)]


@mutation.field("createApiKey")
async def create_api_key(_root: object, info: Info, input: Json) -> Json:  # noqa: A002 (the schema's word)
    """See the schema."""
    request: Request = info.context
    return _created(*await request.call(operations.create_key, **{"expires_at": None, **input}))


@mutation.field("rotateApiKey")
async def rotate_api_key(_root: object, info: Info, key_id: str, overlap_s: float) -> Json:
    """See the schema."""
    request: Request = info.context
    return _created(*await request.call(operations.rotate_key, key_id, overlap_s))


@mutation.field("revokeApiKey")
async def revoke_api_key(_root: object, info: Info, key_id: str) -> Json:
    """See the schema."""
    request: Request = info.context
    return operations.rendered(await request.call(operations.revoke_key, key_id))


def _created(key: ApiKey, secret: str) -> Json:
    return {"key": operations.rendered(key), "secret": secret}
