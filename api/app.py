"""The web application: every door on one service, and the process that serves it."""

import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from http import HTTPStatus

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from graphql import GraphQLSchema
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route, WebSocketRoute

from api import delivery_operations, operating, rest, rest_jobs
from api.digest_feed import DigestFeed
from api.doors import Doors, Identify, correlation_of, doors_of
from api.edge import Edge, problem_response
from api.errors import fault_of, http_fault
from api.graphql_http import METHODS, respond
from api.graphql_schema import Request as GraphRequest
from api.graphql_schema import executable_schema
from api.graphql_ws import INIT_WAIT_S, RECOGNISE_S, WS_MAX_BYTES, Conversations
from api.identity.challenge import challenge
from api.identity.gate import Gate
from api.mcp_http import McpEndpoint
from api.mcp_server import mcp_server
from api.openapi import describe
from api.pages import page
from api.readiness import Readiness, release
from api.tenancy import authenticator, check_binding, check_credentials, credentials_of
from api.threads import Threads
from runtime.errors import ServiceError
from runtime.settings import Settings
from runtime.telemetry import configure_logging, logger
from runtime.tenancy import Tenant
from worker.monitors.digest import Digest
from worker.opening import Service, open_service

NO_SPANS: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
"""The framework's own telemetry would tell query strings and the messages of errors, which hold what people wrote."""
DRAIN_S = 20
"""How long requests in progress may take to finish when the process is asked to stop."""

ROUTERS = (operating.router, rest.router, rest_jobs.router)


def create_app(service: Service, *, init_wait_s: float = INIT_WAIT_S, recognise_s: float = RECOGNISE_S) -> FastAPI:
    """All web doors onto ``service``, which must stay open for as long as the application serves."""
    doors = _doors(service)
    feed = _feed(doors)
    endpoint = McpEndpoint(mcp_server(service, doors.threads), service.settings, doors.identify, doors.gate)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with endpoint.run(), feed.run():
            yield
        doors.gate.close()

    app = FastAPI(
        title="WisdomAgent", version=release(), docs_url=None, redoc_url=None, lifespan=lifespan, redirect_slashes=False, telemetry=NO_SPANS
    )
    app.state.doors = doors
    schema = executable_schema()
    app.router.routes.append(_graphql_route(schema, doors))
    conversations = Conversations(schema, doors, feed, init_wait_s=init_wait_s, recognise_s=recognise_s)
    app.router.routes.append(WebSocketRoute("/graphql", conversations.converse))
    app.router.routes.append(Route("/mcp", endpoint, methods=None))
    for router in ROUTERS:
        app.include_router(router)
    describe(app, schema)
    _handle_errors(app)
    app.add_middleware(Edge, settings=service.settings, metrics=service.metrics)
    return app


def serve(settings: Settings) -> None:
    """Serve until the process is asked to stop, then let requests in progress finish.

    Raises:
        Misconfigured: development mode would be open to a network, or the store cannot be opened.
    """
    configure_logging(settings)
    check_binding(settings)
    check_credentials(settings)
    signal.signal(signal.SIGTERM, _stopped)
    with open_service(settings, role="api") as service:
        if settings.auth == "none":
            logger(__name__).warning(
                "development mode: anybody on this machine may name any tenant", auth=settings.auth, host=settings.host
            )
        config = uvicorn.Config(
            create_app(service),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=DRAIN_S,
            ws_max_size=WS_MAX_BYTES,
        )
        uvicorn.Server(config).run()
    sys.stderr.flush()


def _stopped(_number: int, _frame: object) -> None:
    """The server passes a signal on once requests are done: the process then ends by itself, and what it opened is closed before."""
    sys.exit(0)


def _doors(service: Service) -> Doors:
    settings = service.settings
    credentials = credentials_of(settings, service.state, service.clock)
    service.metrics.watch(credentials)
    identify = Identify(authenticator(settings, credentials), waits=settings.auth != "none")
    gate = Gate(settings, service.clock, service.metrics)
    return Doors(service, Threads(settings.bulkhead_calls, around=service.held), identify, gate, Readiness(service))


def _feed(doors: Doors) -> DigestFeed:
    async def since(tenant: Tenant, after: str | None, first: int) -> tuple[Digest, ...]:
        return await doors.threads.call(delivery_operations.digests_since, doors.service, tenant, after, first)

    async def newest(tenant: Tenant) -> str | None:
        return await doors.threads.call(delivery_operations.newest_digest_id, doors.service, tenant)

    return DigestFeed(since, newest)


def _graphql_route(schema: GraphQLSchema, doors: Doors) -> Route:
    async def graphql(request: Request) -> Response:
        if request.method in ("GET", "HEAD") and "query" not in request.query_params and "text/html" in request.headers.get("accept", ""):
            return page("graphiql")
        context = GraphRequest(doors.service, await doors.identify(request.headers), doors.threads, doors.gate)
        return await respond(schema, request, context, correlation_of(request))

    return Route("/graphql", graphql, methods=list(METHODS))


def _methods(app: FastAPI, request: Request) -> list[str]:
    """What a path may be called with, by all routes that have it: the router would name those of the first."""
    routes = (*app.router.routes, *(route for router in ROUTERS for route in router.routes))
    matching = (route for route in routes if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in route.methods or ()})


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(ServiceError)
    async def planned(request: Request, error: ServiceError) -> Response:
        challenged = challenge(error, doors_of(request).service.settings)
        return problem_response(fault_of(error), request.url.path, correlation_of(request), challenged)

    @app.exception_handler(HTTPException)
    async def routed(request: Request, error: HTTPException) -> Response:
        response = problem_response(http_fault(error.status_code, str(error.detail)), request.url.path, correlation_of(request))
        response.headers.update(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            response.headers["allow"] = ", ".join(_methods(app, request))
        return response

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, _error: RequestValidationError) -> Response:
        return problem_response(http_fault(400, "the request cannot be read"), request.url.path, correlation_of(request))
