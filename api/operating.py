"""Routes for those who run the service, and its pages."""

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import choose_encoder

from api.doors import Open, Who
from api.errors import fault_of
from api.json_text import write_json
from api.pages import page, static_file
from api.readiness import READY_WITHIN_S
from runtime.errors import DeadlineExceeded, ServiceError

router = APIRouter()


@router.get("/health", summary="The process lives; touches nothing")
@router.get("/livez", include_in_schema=False)
async def health() -> dict[str, str]:
    """Always 200 while the event loop turns."""
    return {"status": "ok"}


@router.get("/ready", summary="Questions can be answered")
@router.get("/readyz", include_in_schema=False)
async def ready(doors: Open, who: Who) -> Response:
    """503 when the engine does not answer; an empty corpus is ready."""
    try:
        status, body = await doors.threads.call_within(READY_WITHIN_S, doors.readiness.of, who.tenant)
    except DeadlineExceeded as error:
        status, body = 503, {"status": "unavailable", "error": fault_of(error).message}
    return Response(write_json(body), status, media_type="application/json")


@router.get("/metrics", summary="Prometheus or OpenMetrics text, by the Accept header")
async def metrics(request: Request, doors: Open) -> Response:
    """Every metric of the private registry; those of readiness as of now."""
    try:
        await doors.threads.call_within(READY_WITHIN_S, doors.readiness.measure)
    except ServiceError:
        doors.service.metrics.set("wa_ready", 0)
    encoder, content_type = choose_encoder(request.headers.get("accept", ""))
    return Response(encoder(doors.service.metrics.registry), headers={"content-type": content_type})


@router.get("/", include_in_schema=False)
async def console() -> Response:
    """The console page."""
    return page("console")


@router.get("/docs", include_in_schema=False)
async def reference() -> Response:
    """The routes, read from ``/openapi.json`` by our own page."""
    return page("reference")


@router.get("/graphiql", include_in_schema=False)
async def explorer() -> Response:
    """GraphiQL."""
    return page("graphiql")


@router.get("/favicon.ico", include_in_schema=False)
async def favicon() -> Response:
    """The same picture that the pages name."""
    return static_file("console/icon.svg")


@router.get("/static/{path:path}", include_in_schema=False)
async def static(path: str) -> Response:
    """A file of a page."""
    return static_file(path)
