"""What the doors of one application share: the service, its worker threads, and who is asking."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers

from api.identity.gate import Gate
from api.identity.principal import Principal
from api.identity.rights import ROUTES
from api.identity.tokens import Door
from api.readiness import Readiness
from api.tenancy import Authenticate
from api.threads import Threads
from runtime.clock import Deadline, within
from worker.opening import Service

IDENTIFYING_THREADS = 16
"""Of their own, so that slow questions keep nobody from being recognised, and a slow identity provider keeps nobody's question waiting."""


GRACE_S = 2.0
"""How much longer than its caller a call may go on, for keeping what it did."""


def in_time(service: Service) -> AbstractContextManager[None]:
    """Everything the body reads is read within the time of a run, and a moment more for keeping its trace; a slow store ends it as ``DeadlineExceeded``
    or ``Unavailable``. What stores or deletes is left to its own time limits, so that nothing is given up half-way that could go on."""
    return within(Deadline.after(service.settings.ask_timeout_s + GRACE_S, service.clock))


class Identify:
    """Finds out who sends a request. ``waits``: it may take a while, and so is done in a thread."""

    def __init__(self, authenticate: Authenticate, *, waits: bool) -> None:
        self._authenticate = authenticate
        self._threads = Threads(IDENTIFYING_THREADS) if waits else None

    async def __call__(self, headers: Headers, door: Door = "web") -> Principal:
        """See :class:`api.tenancy.Authenticate`."""
        if self._threads is None:
            return self._authenticate(headers, door)
        return await self._threads.call(self._authenticate, headers, door)


@dataclass(frozen=True, slots=True)
class Doors:
    """Made once per application."""

    service: Service
    threads: Threads
    identify: Identify
    gate: Gate
    readiness: Readiness


def doors_of(request: Request) -> Doors:
    """The doors of the application that serves this request."""
    doors = request.app.state.doors
    assert isinstance(doors, Doors)
    return doors


async def caller_of(request: Request) -> Principal:
    """Who is asking, and may do what the route does.

    Raises:
        ServiceError: see :class:`api.tenancy.Authenticate` and :meth:`api.identity.gate.Gate.admit`.
    """
    doors = doors_of(request)
    principal = await doors.identify(request.headers)
    template = str(getattr(request.scope.get("route"), "path", ""))
    await doors.gate.admitted(principal, [ROUTES.get((request.method, template), template)])
    return principal


Open = Annotated[Doors, Depends(doors_of)]
Who = Annotated[Principal, Depends(caller_of)]
"""To be named before a body, so that nobody learns anything about bodies without saying who they are."""


def correlation_of(request: Request) -> str:
    """The id that the response and every log line of this request carry."""
    return str(request.scope.get("state", {}).get("correlation_id", ""))
