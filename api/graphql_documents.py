"""GraphQL requests before anything runs, the same over HTTP and over WebSocket: parameters, syntax, limits, validation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
    validate,
)

from api import limits
from api.errors import treatment_of
from api.graphql_errors import BAD_USER_INPUT, PARSE_FAILED, VALIDATION_FAILED
from api.identity.gate import Gate
from api.identity.principal import Principal
from runtime.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Operation:
    """The parameters of a GraphQL request, checked for type and nothing else."""

    query: str
    name: str | None
    variables: dict[str, Any] | None


class Rejected(Exception):
    """The request ends here, before execution. ``status`` holds whatever the media type; None is 400, or 200 where the client only speaks plain JSON."""

    def __init__(self, errors: tuple[GraphQLError, ...], code: str, status: int | None = None, cause: ServiceError | None = None) -> None:
        super().__init__(code)
        self.errors, self.code, self.status, self.cause = errors, code, status, cause


def operation_of(given: dict[str, Any]) -> Operation:
    """The parameters of a request.

    Raises:
        Rejected: one of them is of another type.
    """
    _expect(isinstance(given.get("query"), str) and bool(given["query"].strip()), "query: must be the text of a GraphQL document.")
    _expect(isinstance(given.get("operationName"), str | None), "operationName: must be a text.")
    _expect(isinstance(given.get("variables"), dict | None), "variables: must be an object.")
    _expect(isinstance(given.get("extensions"), dict | None), "extensions: must be an object.")
    return Operation(given["query"], given.get("operationName") or None, given.get("variables"))


def parsed(text: str) -> DocumentNode:
    """The document.

    Raises:
        Rejected: it is none, or a longer one than is read.
    """
    try:
        return parse(text, max_tokens=limits.MAX_TOKENS, max_source_length=limits.MAX_QUERY_CHARS)
    except GraphQLError as error:
        raise Rejected((error,), PARSE_FAILED) from error


def validated(schema: GraphQLSchema, document: DocumentNode) -> None:
    """Nothing, when the document is within the limits and fits the schema.

    Raises:
        Rejected: it is not, or does not.
    """
    errors = limits.over_limits(document) or validate(schema, document, max_errors=limits.MAX_REPORTED_ERRORS, hide_suggestions=True)
    if errors:
        raise Rejected(tuple(errors), VALIDATION_FAILED)


async def admitted(gate: Gate, principal: Principal, document: DocumentNode, operation: OperationDefinitionNode) -> None:
    """Nothing, when the caller may call every root field of the operation, each as often as it is named.

    Raises:
        Rejected: it may not, and so nothing of the operation is done.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    names = [name for name in _root_fields(operation.selection_set, fragments) if not name.startswith("__")]
    try:
        await gate.admitted(principal, names)
    except ServiceError as error:
        raise Rejected((GraphQLError(str(error), original_error=error),), BAD_USER_INPUT, treatment_of(error).status, error) from error


def _root_fields(selections: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[str]:
    """The names of a validated operation's root fields, one for each alias; ``@skip`` spares nothing."""
    for node in selections.selections:
        if isinstance(node, FieldNode):
            yield node.name.value
        elif isinstance(node, InlineFragmentNode):
            yield from _root_fields(node.selection_set, fragments)
        elif isinstance(node, FragmentSpreadNode):
            yield from _root_fields(fragments[node.name.value].selection_set, fragments)


def _expect(holds: bool, message: str) -> None:  # noqa: FBT001 (reads as an assertion)
    if not holds:
        raise Rejected((GraphQLError(message),), BAD_USER_INPUT, 400)
