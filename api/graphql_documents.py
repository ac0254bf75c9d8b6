"""GraphQL requests before anything runs, the same over HTTP and over WebSocket: parameters, syntax, limits, validation."""

from dataclasses import dataclass
from typing import Any

from graphql import DocumentNode, GraphQLError, GraphQLSchema, parse, validate

from api import limits
from api.graphql_errors import BAD_USER_INPUT, PARSE_FAILED, VALIDATION_FAILED


@dataclass(frozen=True, slots=True)
class Operation:
    """The parameters of a GraphQL request, checked for type and nothing else."""

    query: str
    name: str | None
    variables: dict[str, Any] | None


class Rejected(Exception):
    """The request ends here, before execution. ``status`` holds whatever the media type; None is 400, or 200 where the client only speaks plain JSON."""

    def __init__(self, errors: tuple[GraphQLError, ...], code: str, status: int | None = None) -> None:
        super().__init__(code)
        self.errors, self.code, self.status = errors, code, status


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


def _expect(holds: bool, message: str) -> None:  # noqa: FBT001 (reads as an assertion)
    if not holds:
        raise Rejected((GraphQLError(message),), BAD_USER_INPUT, 400)
