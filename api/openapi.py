"""The OpenAPI description: what each route answers, with shapes taken from the GraphQL schema, since the same value has one serialiser behind both doors."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from graphql import GraphQLEnumType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema

from api.json_values import Json

RESULTS: Mapping[tuple[str, str], str] = {
    ("post", "/ask"): "AskResult",
    ("post", "/search"): "SearchResult",
    ("post", "/ingest"): "IndexResult",
    ("get", "/documents/{doc_id}"): "Document",
    ("delete", "/documents/{doc_id}"): "DeleteResult",
    ("get", "/jobs/{job_id}"): "IngestJob",
}
"""The GraphQL type that a route of REST answers with."""

OTHER_MEDIA: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("get", "/metrics"): ("text/plain", "application/openmetrics-text"),
    ("get", "/jobs/{job_id}/rejects"): ("application/jsonl",),
}
"""What is not JSON."""

OWN_ERRORS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("get", "/ready"): {"503": "The engine does not answer"},
}
"""Routes that answer an error with a body of their own."""

ONLY_GRAPHQL: Mapping[str, frozenset[str]] = {"IndexResult": frozenset({"job"})}
"""Fields of a type that REST has no use for."""

PROBLEMS: Mapping[str, str] = {
    "400": "Something in the request is wrong",
    "401": "There is no usable credential",
    "403": "The credential does not cover this, or the page may not call",
    "404": "There is nothing of that name",
    "408": "The body came too slowly",
    "409": "It changed meanwhile, or cannot be done in this state",
    "413": "The body is too large",
    "415": "The body is not announced as JSON",
    "421": "This host name is not served",
    "422": "The answer would cost more than was allowed",
    "429": "Called too often; Retry-After says when to come back",
    "500": "Our mistake; errorId is in the log",
    "503": "Something that is needed is down; Retry-After says when to come back where that is known",
}
"""Errors that any route may answer, as problem documents (RFC 9457)."""

PROBLEM: Json = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code", "correlationId"],
    "additionalProperties": False,
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, in words"},
        "instance": {"type": "string", "description": "the path that was called"},
        "code": {"type": "string", "description": "the same code as in GraphQL; see the page on errors"},
        "correlationId": {"type": "string", "description": "on every log line of this request"},
        "field": {"type": "string", "description": "the field that is to blame"},
        "errorId": {"type": "string", "description": "on the log line that has the traceback"},
    },
}

_SCALARS: Mapping[str, Json] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "DateTime": {"type": "string", "format": "date-time"},
    "AttributeValue": {"type": ["string", "number", "boolean"]},
    "Attributes": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
    "Generation": {"type": "integer"},
    "Version": {"type": "integer", "minimum": 1},
    "Details": {"type": "object"},
}


def describe(app: FastAPI, schema: GraphQLSchema) -> None:
    """Have ``/openapi.json`` tell of every answer."""

    @cache
    def description() -> Json:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes)
        made.setdefault("components", {})["schemas"] = {**_shapes(schema), "Problem": PROBLEM}
        for path, methods in made["paths"].items():
            for method, operation in methods.items():
                operation["responses"] = _responses((method, path), operation["responses"])
        return made

    app.openapi = description  # type: ignore[method-assign]


def _responses(route: tuple[str, str], told: Json) -> Json:
    """Every answer of a route; ``told`` is what the framework would say."""
    success = told["200"]
    if route in RESULTS:
        success = success | {"content": {"application/json": {"schema": _reference(RESULTS[route])}}}
    if route in OTHER_MEDIA:
        success = success | {"content": {media: {"schema": {"type": "string"}} for media in OTHER_MEDIA[route]}}
    own = {status: {"description": said, "content": success["content"]} for status, said in OWN_ERRORS.get(route, {}).items()}
    problem = {"application/problem+json": {"schema": _reference("Problem")}}
    return {"200": success, **{status: {"description": said, "content": problem} for status, said in PROBLEMS.items()}, **own}


def _shapes(schema: GraphQLSchema) -> Json:
    """Every GraphQL type that the results are made of."""
    found: Json = {}
    waiting = sorted(set(RESULTS.values()))
    while waiting:
        name = waiting.pop()
        if name not in found:
            kind = schema.type_map[name]
            assert isinstance(kind, GraphQLObjectType)
            found[name] = _object(kind)
            waiting += _named_in(found[name])
    return found


def _object(kind: GraphQLObjectType) -> Json:
    fields = {name: field for name, field in kind.fields.items() if name not in ONLY_GRAPHQL.get(kind.name, ())}
    return {
        "type": "object",
        "description": kind.description or "",
        "required": list(fields),
        "properties": {name: _shape(field.type) | {"description": field.description or ""} for name, field in fields.items()},
    }


def _shape(kind: Any) -> Json:
    if isinstance(kind, GraphQLNonNull):
        return _bare(kind.of_type)
    return {"anyOf": [_bare(kind), {"type": "null"}]}


def _bare(kind: Any) -> Json:
    if isinstance(kind, GraphQLList):
        return {"type": "array", "items": _shape(kind.of_type)}
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, GraphQLObjectType):
        return _reference(kind.name)
    return dict(_SCALARS.get(kind.name, {"type": "string"}))


def _reference(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _named_in(shape: Any) -> list[str]:
    if isinstance(shape, list):
        return [name for item in shape for name in _named_in(item)]
    if not isinstance(shape, dict):
        return []
    name = str(shape.get("$ref", "")).rpartition("/")[2]
    return [*([name] if name else []), *(name for item in shape.values() for name in _named_in(item))]
