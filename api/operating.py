"""Routes for those who run the service, and its pages."""

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import choose_encoder

from api.doors import Open
from api.errors import fault_of
from api.identity.challenge import MCP_METADATA_PATH, METADATA_PATH, base_url, metadata
from api.json_text import write_json
from api.pages import page, static_file
from api.readiness import READY_WITHIN_S
from runtime.errors import DeadlineExceeded, NotFound, ServiceError
from runtime.tenancy import tenant_named

router = APIRouter()

OF_TENANT = frozenset({"corpus", "documents", "passages", "vectors"})
"""What of readiness is about one tenant."""


@router.get("/health", summary="The process lives; touches nothing")
@router.get("/livez", include_in_schema=False)
async def health() -> dict[str, str]:
    """Always 200 while the event loop turns."""
    return {"status": "ok"}


@router.get("/ready", summary="Questions can be answered")
@router.get("/readyz", include_in_schema=False)
async def ready(request: Request, doors: Open) -> Response:
    """503 when the engine does not answer; an empty corpus is ready. Probes have no credential: where callers need one, no tenant's numbers are told."""
    settings = doors.service.settings
    anybody = settings.auth != "none"
    tenant = tenant_named(settings.default_tenant) if anybody else (await doors.identify(request.headers)).tenant
    try:
        status, body = await doors.threads.call_within(READY_WITHIN_S, doors.readiness.of, tenant)
    except DeadlineExceeded as error:
        status, body = 503, {"status": "unavailable", "error": fault_of(error).message}
    if anybody:
        body = {name: value for name, value in body.items() if name not in OF_TENANT}
    return Response(write_json(body), status, media_type="application/json")


@router.get(METADATA_PATH, include_in_schema=False)
@router.get(MCP_METADATA_PATH, summary="Where tokens for /mcp come from (RFC 9728)")
async def protected_resource(request: Request, doors: Open) -> Response:
    """404 in development mode, where no credential is needed."""
    settings = doors.service.settings
    if settings.auth == "none":
        raise NotFound("no credential is needed here")
    where = base_url(settings, request.url.scheme, request.headers.get("host", ""))
    return Response(write_json(metadata(settings, where)), media_type="application/json")


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
