"""What the doors of one application share: the service, its worker threads, and who is asking."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from api.readiness import Readiness
from api.tenancy import Authenticate, Principal
from api.threads import Threads
from worker.opening import Service


@dataclass(frozen=True, slots=True)
class Doors:
    """Made once per application."""

    service: Service
    threads: Threads
    authenticate: Authenticate
    readiness: Readiness


def doors_of(request: Request) -> Doors:
    """The doors of the application that serves this request."""
    doors = request.app.state.doors
    assert isinstance(doors, Doors)
    return doors


def principal_of(request: Request) -> Principal:
    """Who is asking.

    Raises:
        InvalidRequest: on ``tenant``.
    """
    return doors_of(request).authenticate(request.headers)


Open = Annotated[Doors, Depends(doors_of)]
Who = Annotated[Principal, Depends(principal_of)]
"""To be named before a body, so that nobody learns anything about bodies without saying who they are."""


def correlation_of(request: Request) -> str:
    """The id that the response and every log line of this request carry."""
    return str(request.scope.get("state", {}).get("correlation_id", ""))
