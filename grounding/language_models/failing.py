"""The ways in which a language model gives no usable answer, and the one place where the driver's exceptions become ours.

``timeout``, ``rate_limited``, ``unavailable`` and ``cut`` are a server's fault and may be repeated; the rest is an answer that is of no use.
"""

from typing import Literal

from runtime.errors import CircuitOpen, DeadlineExceeded, Unavailable
from runtime.resilience import asked_wait_s

DEPENDENCY = "llm"

Why = Literal[
    "timeout", "rate_limited", "unavailable", "cut", "circuit_open", "misconfigured", "rejected", "malformed", "wrong_schema", "empty", "refused",
    "too_long", "no_budget",
]  # fmt: skip

SAID = {
    "timeout": "did not answer in time",
    "rate_limited": "takes no more requests for now",
    "unavailable": "did not answer",
    "cut": "stopped in the middle of its answer",
    "circuit_open": "failed too often lately and is not being asked",
    "misconfigured": "refused the key or does not know the model",
    "rejected": "refused the request",
    "malformed": "did not answer with JSON",
    "wrong_schema": "answered with JSON of another shape",
    "empty": "answered nothing",
    "refused": "declined to answer",
    "too_long": "answered far too much",
    "no_budget": "was not asked, since the budget of the run is spent",
}
"""How each is said to people."""


class NotServed(Unavailable):
    """The server's fault: the guard repeats the call and its circuit counts the failure."""

    def __init__(self, why: Why, message: str, *, retry_after_s: float | None = None) -> None:
        self.why: Why = why
        super().__init__(message, dependency=DEPENDENCY, retry_after_s=retry_after_s)


class NotUsable(Exception):
    """The server answered, and the answer is of no use. Never leaves this package."""

    def __init__(self, why: Why, message: str, *, input_tokens: int = 0, output_tokens: int = 0) -> None:
        self.why: Why = why
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        super().__init__(message)


def why_of(error: Unavailable | NotUsable) -> Why:
    """The class of a failed attempt."""
    if isinstance(error, NotServed | NotUsable):
        return error.why
    if isinstance(error, CircuitOpen):
        return "circuit_open"
    return "timeout" if isinstance(error, DeadlineExceeded) else "unavailable"


def translated(error: Exception, shown: str) -> NotServed | NotUsable:
    """Ours for any exception of the driver or of the transport below it; ``shown`` is its text, safe to pass on."""
    import httpx2
    import openai

    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return NotServed("timeout", shown)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, shown, error.response.headers.get("retry-after"))
    if isinstance(error, openai.LengthFinishReasonError):
        return NotUsable("too_long", shown)
    if isinstance(error, openai.ContentFilterFinishReasonError):
        return NotUsable("refused", shown)
    if isinstance(error, openai.APIResponseValidationError):
        return NotUsable("malformed", shown)
    return NotServed("unavailable", shown)


def _of_status(status: int, shown: str, retry_after: str | None) -> NotServed | NotUsable:
    if status == 429:
        return NotServed("rate_limited", shown, retry_after_s=asked_wait_s(retry_after))
    if status in (408, 409, 425) or status >= 500:
        return NotServed("unavailable", shown, retry_after_s=asked_wait_s(retry_after))
    if status in (401, 403, 404) or 300 <= status < 400:
        return NotUsable("misconfigured", shown)
    return NotUsable("rejected", shown)
