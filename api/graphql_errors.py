"""GraphQL errors as clients see them: a code from the one table, no suggestions, no text of unplanned errors."""

from collections.abc import Sequence
from typing import Any

from graphql import FieldNode, GraphQLError, GraphQLSyntaxError

from api.errors import Fault, Treatment, fault_of
from runtime.telemetry import logger

PARSE_FAILED = "GRAPHQL_PARSE_FAILED"
VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"
BAD_USER_INPUT = "BAD_USER_INPUT"


def formatted(errors: Sequence[GraphQLError], code: str, correlation_id: str) -> list[dict[str, Any]]:
    """The ``errors`` member. ``code`` is for errors that no error of ours stands behind: those of the stage that found them."""
    members = [_member(error, code, correlation_id) for error in errors]
    logger(__name__).info("graphql errors", codes=sorted({member["extensions"]["code"] for member in members}), count=len(members))
    return members


def _member(error: GraphQLError, code: str, correlation_id: str) -> dict[str, Any]:
    fault = _fault(error, code)
    extensions: dict[str, Any] = {"code": fault.treatment.code, "correlationId": correlation_id}
    extensions |= {"field": fault.field} if fault.field else {}
    extensions |= {"errorId": fault.error_id} if fault.error_id else {}
    extensions |= {"retryAfterSeconds": fault.retry_after_s} if fault.retry_after_s else {}
    member: dict[str, Any] = {"message": fault.message}
    if error.locations:
        member["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    if error.path:
        member["path"] = error.path
    return member | {"extensions": extensions}


def _fault(error: GraphQLError, code: str) -> Fault:
    cause = _cause(error)
    if cause is None and not _is_about_result(error):
        return Fault(Treatment(400, "Bad Request", _code_of(error, code), 2), error.message)
    return fault_of(cause or error)


def _cause(error: GraphQLError) -> Exception | None:
    """What was raised on purpose or by accident underneath; None when the GraphQL engine itself found the error."""
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    return cause


def _is_about_result(error: GraphQLError) -> bool:
    """Whether what we returned does not fit the schema, as opposed to what the client sent: then the error points at a field of the query."""
    return bool(error.path) and bool(error.nodes) and isinstance(error.nodes[0], FieldNode)  # type: ignore[index]


def _code_of(error: GraphQLError, code: str) -> str:
    return PARSE_FAILED if isinstance(error, GraphQLSyntaxError) else code
