"""What every root field of GraphQL does before it runs: holds the caller to its scope; and after a write: tells the audit log."""

from collections.abc import AsyncIterator, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from graphql import GraphQLObjectType, GraphQLResolveInfo

from api.identity import audit
from api.identity.rights import require

if TYPE_CHECKING:
    from api.graphql_schema import Request

Info = GraphQLResolveInfo[Any]
Resolve = Callable[..., Any]


def guard_roots(kind: GraphQLObjectType, *, writes: bool) -> None:
    """Put the guard in front of every field of a root type, whoever runs the operation and however it got here."""
    for name, field in kind.fields.items():
        if field.subscribe is not None:
            field.subscribe = _subscribed(name, field.subscribe)
        elif field.resolve is not None:
            field.resolve = _written(name, field.resolve) if writes else _read(name, field.resolve)


def _read(operation: str, resolve: Resolve) -> Resolve:
    async def guarded(root: Any, info: Info, **arguments: Any) -> Any:
        require(info.context.principal, operation)
        return await _result(resolve(root, info, **arguments))

    return guarded


def _written(operation: str, resolve: Resolve) -> Resolve:
    async def guarded(root: Any, info: Info, **arguments: Any) -> Any:
        request: Request = info.context
        with audit.writing(request.principal, operation, arguments):
            require(request.principal, operation)
            return await _result(resolve(root, info, **arguments))

    return guarded


def _subscribed(operation: str, subscribe: Resolve) -> Resolve:
    async def guarded(root: Any, info: Info, **arguments: Any) -> AsyncIterator[Any]:
        require(info.context.principal, operation)
        found: AsyncIterator[Any] = await _result(subscribe(root, info, **arguments))
        return found

    return guarded


async def _result(found: Any) -> Any:
    return await found if isawaitable(found) else found
