"""REST for simple clients: the same operations as GraphQL, one path each."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from api import operations, rendering
from api.arguments import budget_from, filters_from, top_k_from
from api.casing import camel
from api.doors import Open, Who, in_time
from api.identity import audit
from api.json_text import read_json, write_json
from api.json_values import Json
from api.validation import invalid_request
from search.retrieval import Fusion

AT_LEAST_ONE: dict[str, JsonValue] = {"minimum": 1}
"""Told in the description alone: the core refuses less, in its own words."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=camel, validate_by_name=True, validate_by_alias=True)


class FilterBody(_Body):
    """Which documents a call may look at."""

    since: str | None = Field(None, description="earliest occurredAt, inclusive: an instant or a whole local day")
    until: str | None = Field(None, description="latest occurredAt, inclusive: an instant or a whole local day")
    sources: list[str] | None = Field(None, description="kinds of source")
    theme_ids: list[str] | None = Field(None, description="themes")
    account_ids: list[str] | None = Field(None, description="accounts")
    doc_ids: list[str] | None = Field(None, description="documents")
    rating_min: float | None = Field(None, description="lowest rating, inclusive")
    rating_max: float | None = Field(None, description="highest rating, inclusive")
    attributes: dict[str, str | int | float | bool] | None = Field(None, description="attributes that must all have these values")


class BudgetBody(_Body):
    """Ceilings of one run; each is clamped to the server's own."""

    max_steps: int | None = Field(None, description="steps", json_schema_extra=AT_LEAST_ONE)
    max_calls_per_tool: int | None = Field(None, description="calls of one tool", json_schema_extra=AT_LEAST_ONE)
    max_tokens: int | None = Field(None, description="tokens of evidence", json_schema_extra=AT_LEAST_ONE)
    timeout_s: float | None = Field(None, description="wall clock, in seconds", json_schema_extra={"exclusiveMinimum": 0})


class AskBody(_Body):
    """A question."""

    question: str = Field(description="what to answer, in plain words")
    top_k: int | None = Field(None, description="how many hits to rank and show", json_schema_extra=AT_LEAST_ONE)
    filters: FilterBody | None = Field(None, description="which documents may be used")
    budget: BudgetBody | None = Field(None, description="ceilings for this run")
    time_zone: str | None = Field(None, description="zone of local days")


class SearchBody(_Body):
    """A query."""

    query: str = Field(description='words, codes or "quoted phrases"', json_schema_extra={"minLength": 1})
    top_k: int | None = Field(None, description="how many hits", json_schema_extra=AT_LEAST_ONE)
    filters: FilterBody | None = Field(None, description="which documents may be found")
    fusion: Fusion | None = Field(None, description="how the two legs are merged")
    time_zone: str | None = Field(None, description="zone of local days in filters")


class IngestBody(_Body):
    """Documents to store."""

    documents: list[Any] = Field(description="objects with docId, source, text, occurredAt and what else a document may have")
    batch_id: str | None = Field(None, description="name of the batch, shown in the report")


router = APIRouter()


def _body(model: type[_Body]) -> Callable[[Request], Coroutine[Any, Any, Any]]:
    async def read(request: Request) -> _Body:
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "send the body as application/json")
        value = read_json(await request.body())
        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise invalid_request(error) from error

    return read


def _described(model: type[_Body]) -> Json:
    """The request body for the OpenAPI description, since we read bodies ourselves."""
    schema = model.model_json_schema(by_alias=True)
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": _inlined(schema, schema.pop("$defs", {}))}}}}


def _inlined(schema: Any, definitions: Json) -> Any:
    """The schema with every reference replaced by what it refers to."""
    if isinstance(schema, dict):
        named = schema.get("$ref", "").removeprefix("#/$defs/")
        return _inlined(definitions[named], definitions) if named else {key: _inlined(item, definitions) for key, item in schema.items()}
    return [_inlined(item, definitions) for item in schema] if isinstance(schema, list) else schema


def _json(value: Json) -> Response:
    return Response(write_json(value), media_type="application/json")


def _given(body: _Body | None) -> Json | None:
    return None if body is None else body.model_dump()


@router.post("/ask", openapi_extra=_described(AskBody), summary="Answer a question with exact citations, or refuse with a reason")
async def ask(doors: Open, who: Who, body: Annotated[AskBody, Depends(_body(AskBody))]) -> Response:
    """The result of one run; a refusal is a result too."""
    settings = doors.service.settings
    with in_time(doors.service):
        outcome = await doors.threads.call(
            operations.ask,
            doors.service,
            who.tenant,
            body.question,
            top_k=top_k_from(body.top_k, settings),
            filters=filters_from(_given(body.filters), body.time_zone or settings.time_zone),
            budget=budget_from(_given(body.budget), settings),
            time_zone=body.time_zone,
        )
        shown = await doors.threads.call(operations.documents_of, doors.service, who.tenant, operations.shown_ids(outcome))
    return _json(rendering.ask_result(outcome, shown))


@router.post("/search", openapi_extra=_described(SearchBody), summary="Rank the passages that bear on a query")
async def search(doors: Open, who: Who, body: Annotated[SearchBody, Depends(_body(SearchBody))]) -> Response:
    """A ranking with every number behind each place."""
    settings = doors.service.settings
    with in_time(doors.service):
        found = await doors.threads.call(
            operations.search,
            doors.service,
            who.tenant,
            body.query,
            top_k=top_k_from(body.top_k, settings),
            filters=filters_from(_given(body.filters), body.time_zone or settings.time_zone),
            fusion=body.fusion,
        )
    return _json(rendering.search_result(found))


@router.post("/ingest", openapi_extra=_described(IngestBody), summary="Store documents")
async def ingest(doors: Open, who: Who, body: Annotated[IngestBody, Depends(_body(IngestBody))]) -> Response:
    """A report that adds up; one bad document never sinks the others."""
    with audit.writing(who, "indexDocuments", body.model_dump()):
        report = await doors.threads.call(operations.index, doors.service, who.tenant, body.documents, body.batch_id)
    return _json(rendering.ingest_report(report))


@router.get("/documents/{doc_id:path}", summary="One document")
async def document(doors: Open, who: Who, doc_id: str) -> Response:
    """404 when the tenant has none of that id, whoever else may."""
    with in_time(doors.service):
        found = await doors.threads.call(operations.document, doors.service, who.tenant, doc_id)
    return _json(rendering.document(found))


@router.delete("/documents/{doc_id:path}", summary="Delete one document")
async def delete(doors: Open, who: Who, doc_id: str) -> Response:
    """What was deleted; nothing is no error."""
    with audit.writing(who, "deleteDocuments", {"doc_id": doc_id}):
        report = await doors.threads.call(operations.delete, doors.service, who.tenant, doc_ids=[doc_id], by=who.subject)
    return _json(rendering.delete_report(report))
