"""The one table that says how each class of error looks through every door, and the masking of errors nobody planned."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from api.casing import camel
from runtime.errors import (
    BudgetExceeded,
    Conflict,
    Forbidden,
    InvalidRequest,
    Misconfigured,
    NotFound,
    RateLimited,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from runtime.telemetry import logger


@dataclass(frozen=True, slots=True)
class Treatment:
    """How one class of error leaves through each door.

    ``status`` and ``title`` are for HTTP, ``code`` for GraphQL and problem documents, ``exit_code`` for the command line. ``mcp`` is ``result``
    when a model can act on it (a result with ``isError``) and ``error`` when it is a JSON-RPC error.
    """

    status: int
    title: str
    code: str
    exit_code: int
    mcp: Literal["result", "error"] = "result"


TABLE: Mapping[type[ServiceError], Treatment] = {
    InvalidRequest: Treatment(400, "Bad Request", "BAD_USER_INPUT", 2),
    Unauthenticated: Treatment(401, "Unauthorized", "UNAUTHENTICATED", 1, "error"),
    Forbidden: Treatment(403, "Forbidden", "FORBIDDEN", 1, "error"),
    NotFound: Treatment(404, "Not Found", "NOT_FOUND", 1),
    Conflict: Treatment(409, "Conflict", "CONFLICT", 1),
    BudgetExceeded: Treatment(422, "Unprocessable Content", "BUDGET_EXCEEDED", 1),
    RateLimited: Treatment(429, "Too Many Requests", "RATE_LIMITED", 1),
    Unavailable: Treatment(503, "Service Unavailable", "UNAVAILABLE", 1),
    Misconfigured: Treatment(500, "Internal Server Error", "MISCONFIGURED", 1),
}
"""A class that is not listed is treated as the nearest listed one above it."""

INTERNAL = Treatment(500, "Internal Server Error", "INTERNAL_SERVER_ERROR", 1)
"""Everything that was not raised on purpose; its text never leaves."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as a caller may see it. ``field`` is in the casing of the door, empty when no field is to blame; ``error_id`` ties a masked error to
    the log line that has its traceback."""

    treatment: Treatment
    message: str
    field: str = ""
    error_id: str = ""
    retry_after_s: float | None = None


def treatment_of(error: BaseException) -> Treatment:
    """The row of the table for this error."""
    return next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), INTERNAL)


def fault_of(error: BaseException, casing: Callable[[str], str] = camel) -> Fault:
    """What the caller is told. An error that was not raised on purpose is logged with its traceback and becomes "internal error" with an id."""
    treatment = treatment_of(error)
    if treatment is INTERNAL:
        error_id = secrets.token_hex(6)
        logger(__name__).error("internal error", error_id=error_id, exc_info=error)
        return Fault(treatment, f"internal error {error_id}; the log has the details", error_id=error_id)
    if isinstance(error, InvalidRequest):
        field = casing(error.field)
        return Fault(treatment, f"{field}: {error.reason}" if field else error.reason, field)
    return Fault(treatment, str(error), retry_after_s=error.retry_after_s if isinstance(error, Unavailable | RateLimited) else None)


def http_fault(status: int, message: str) -> Fault:
    """A fault of HTTP itself, such as a path that does not exist or a body that is too large."""
    codes = {404: "NOT_FOUND", 403: "FORBIDDEN", 401: "UNAUTHENTICATED"}
    return Fault(Treatment(status, HTTPStatus(status).phrase, codes.get(status, "BAD_USER_INPUT"), 1), message)


def problem(fault: Fault, *, instance: str, correlation_id: str) -> dict[str, Any]:
    """A problem document (RFC 9457) for ``application/problem+json``."""
    members: dict[str, Any] = {
        "type": "about:blank",
        "title": fault.treatment.title,
        "status": fault.treatment.status,
        "detail": fault.message,
        "instance": instance,
        "code": fault.treatment.code,
        "correlationId": correlation_id,
    }
    return members | ({"field": fault.field} if fault.field else {}) | ({"errorId": fault.error_id} if fault.error_id else {})


def documented_rows() -> list[str]:
    """The table as Markdown rows: error, HTTP, GraphQL, MCP, exit code."""
    looks = {"result": "`isError` result", "error": "JSON-RPC error"}
    rows = [(f"`{kind.__name__}`", row) for kind, row in TABLE.items()] + [("anything else", INTERNAL)]
    return [f"| {name} | {row.status} | `{row.code}` | {looks[row.mcp]} | {row.exit_code} |" for name, row in rows]
