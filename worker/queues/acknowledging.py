"""What a worker's parent keeps of a piece of work it was given, so that an acknowledgement that fails is not only logged."""

from typing import Any

from celery.worker.request import Request


class ReconnectingRequest(Request):  # type: ignore[misc]  # the library has no types
    """An acknowledgement that cannot be made means that the connection is lost: the error is let through, and the worker connects anew.

    The library would log it and go on, with the piece counted as running for ever. After as many of those as there are processes the worker fetches
    nothing more and looks alive: a broker that restarts within a moment is enough.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._connection_errors = ()
