"""Every error this service raises on purpose, sorted by what the caller should do next.

ServiceError
├─ InvalidRequest    fix the request
├─ Unauthenticated   say who you are
├─ Forbidden         ask for the right
├─ NotFound          look for something else
├─ Conflict          read again, then repeat
├─ BudgetExceeded    raise a stated ceiling (a refusal inside ``ask``)
├─ RateLimited       wait as long as it says
├─ Unavailable       try later; the only family that is ever retried
│  ├─ DeadlineExceeded
│  └─ CircuitOpen
└─ Misconfigured     raised at start; names the variable or the way out
"""


class ServiceError(Exception):
    """Root of the tree; ``str(error)`` is safe to show to the caller."""


class InvalidRequest(ServiceError):
    """The request cannot be served as it is. ``field`` is the name the caller used, in snake_case."""

    def __init__(self, message: str, *, field: str = "") -> None:
        self.field = field
        self.reason = message
        super().__init__(f"{field}: {message}" if field else message)


class Unauthenticated(ServiceError):
    """No usable credential came with the request."""


class Forbidden(ServiceError):
    """The credential is good and does not cover this."""


class NotFound(ServiceError):
    """No such thing for this tenant; the text is the same whether or not another tenant has it."""


class Conflict(ServiceError):
    """The stored version is not the one the caller read."""


class BudgetExceeded(ServiceError):
    """A stated ceiling was reached. ``ceiling`` names it: steps, calls, tokens or seconds."""

    def __init__(self, message: str, *, ceiling: str) -> None:
        self.ceiling = ceiling
        super().__init__(message)


class RateLimited(ServiceError):
    """The credential calls too often; nothing was done. It may call again after ``retry_after_s``."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)


class Unavailable(ServiceError):
    """A dependency did not serve the call. ``dependency`` names it; repeating later makes sense."""

    def __init__(self, message: str, *, dependency: str = "", retry_after_s: float | None = None) -> None:
        self.dependency = dependency
        self.retry_after_s = retry_after_s
        super().__init__(message)


class DeadlineExceeded(Unavailable):
    """The time given to the call is spent."""


class CircuitOpen(Unavailable):
    """The dependency failed too often lately; it is not being called for a while."""


class Misconfigured(ServiceError):
    """The service cannot start, or this store cannot be opened, with these settings. Says what to change."""
