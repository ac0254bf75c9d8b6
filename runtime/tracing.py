"""Spans of what is done, for an OpenTelemetry collector: off unless one is named, and then nothing but a cheap no is left of it.

A span tells ids, counts, names of the code's own and numbers; never a word of a document, a question or a credential. :data:`ATTRIBUTES` lists all it may
tell, and a value that does not look like a name is left out, so that a careless caller cannot leak a text. What records spans is the one module that knows
the library, :mod:`runtime.recorded_spans`, loaded when tracing is on.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, Self, TypeVar

from runtime.settings import Settings

if TYPE_CHECKING:
    from runtime.clock import Clock
    from runtime.resilience import Guard

P = ParamSpec("P")
T = TypeVar("T")

Value = str | int | float | bool
Kind = Literal["internal", "server", "client", "producer", "consumer"]
Carrier = Mapping[str, str]
"""A place in a trace, as it travels in headers: ``traceparent`` (W3C), and ``tracehops``, how often work was handed over on the way."""
Told = Callable[[str, int], None]
"""Told what became of how many spans: ``exported``, ``failed`` or ``dropped``."""

PLACE = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})\Z")
"""What ``traceparent`` looks like."""

ROOT: Carrier = {}
"""The parent of a span that begins a trace whatever goes on around it."""

ATTRIBUTES: Mapping[str, tuple[str, str]] = {
    "attempt": ("wa.attempt", "which attempt this is, from 1"),
    "attempts": ("wa.attempts", "attempts one call took"),
    "channel": ("wa.channel", "channel of a delivery"),
    "citations": ("wa.citations", "citations that left with an answer"),
    "citation_precision": ("wa.citation_precision", "share of drafted citations that support their claim"),
    "claims": ("wa.claims", "claims that left with an answer"),
    "command": ("wa.command", "command of the command line"),
    "correlation_id": ("wa.correlation_id", "the id in the log lines of the request"),
    "coverage": ("wa.coverage", "share of the question's parts that claims bear on"),
    "degraded": ("wa.degraded", "parts the answer lost"),
    "delivery_id": ("wa.delivery_id", "delivery of a digest"),
    "dependency": ("wa.dependency", "what was called, as in wa_breaker_state"),
    "duty": ("wa.duty", "what kind of work a worker did"),
    "error": ("error.type", "class of the error, without its message"),
    "groundedness": ("wa.groundedness", "share of drafted claims that were supported"),
    "http_method": ("http.request.method", "method of a request"),
    "http_route": ("http.route", "route template of a request"),
    "http_status": ("http.response.status_code", "status of the response"),
    "intent": ("wa.intent", "what kind of answer a question asks for"),
    "operation": ("wa.operation", "what of a dependency was called, or what a caller asked for"),
    "outcome": ("wa.outcome", "how it ended"),
    "parts": ("wa.parts", "parts of a question"),
    "queue": ("messaging.destination.name", "queue a task was put into"),
    "reason": ("wa.refusal_reason", "why a question was refused"),
    "refused": ("wa.refused", "whether a question was refused; a refusal is no error"),
    "run_id": ("wa.run_id", "run of a question, as in wisdom traces show"),
    "step": ("wa.step", "step of a run"),
    "steps": ("wa.steps", "steps of a run"),
    "system": ("db.system.name", "kind of the store that was called"),
    "task": ("wa.task", "task on the broker"),
    "tenant": ("wa.tenant", "keyed hash of the tenant, with WA_OTLP_TENANT=hash only"),
    "tokens": ("wa.tokens", "tokens of evidence a run read"),
    "tool": ("wa.tool", "MCP tool"),
}
"""What spans may say: argument of :func:`span`, attribute and meaning. The numbers of a step are told as ``wa.step.NAME`` besides."""


class Span(Protocol):
    """Something that takes a while, from entering it to leaving it. An error that leaves it is told by its class."""

    def __enter__(self) -> Self:
        """Begin; spans begun inside are its children."""
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        """End."""
        ...

    def set(self, **attributes: Value | None) -> None:
        """Say more about it; None says nothing. Names are those of :data:`ATTRIBUTES`."""
        ...

    def numbers(self, detail: Mapping[str, object], /) -> None:
        """Tell the numbers of a step as ``wa.step.NAME``, lists by their length; texts are left out."""
        ...

    def rename(self, name: str, /) -> None:
        """Call it otherwise, now that more is known."""
        ...

    def failed(self, kind: str, /) -> None:
        """It ended in an error of this kind, although none is raised."""
        ...


class Tracer(Protocol):
    """What records spans."""

    def begin(
        self, name: str, kind: Kind, parent: Carrier | None, links: tuple[Carrier, ...], attributes: Mapping[str, Value | None]
    ) -> Span:
        """A span that was begun."""
        ...

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """See :func:`note`."""
        ...

    def carrier(self, *, apart: bool) -> Carrier:
        """See :func:`carrier`."""
        ...

    def ids(self) -> tuple[str, str] | None:
        """See :func:`ids`."""
        ...


class _Nothing:
    """The span of a process that does not trace."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def set(self, **_: Value | None) -> None:
        return

    def numbers(self, _: Mapping[str, object], /) -> None:
        return

    def rename(self, _: str, /) -> None:
        return

    def failed(self, _: str, /) -> None:
        return


NOTHING: Span = _Nothing()
"""A span that is not recorded."""
_tracer: Tracer | None = None
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def span(
    name: str, *, kind: Kind = "internal", parent: Carrier | None = None, links: tuple[Carrier, ...] = (), **attributes: Value | None
) -> Span:
    """A span to be entered at once. ``name`` has no ids, so that spans can be counted by it. Without ``parent`` it belongs to what goes on around it;
    with one that names no place (:data:`ROOT`) it begins a trace."""
    if _tracer is None or _quiet.get():
        return NOTHING
    return _tracer.begin(name, kind, parent, links, attributes)


def note(**attributes: Value | None) -> None:
    """Say more about the span that goes on, whoever began it."""
    if _tracer is not None and not _quiet.get():
        _tracer.note(attributes)


def traced(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Every call of the function is a span."""

    def wrapped(fn: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(fn)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            with span(name):
                return fn(*args, **kwargs)

        return call

    return wrapped


def carrier(*, apart: bool = False) -> Carrier:
    """Where we are, for whoever goes on with the work elsewhere; empty when nothing is traced. ``apart`` has it begin a trace of its own with a link to
    here, where one piece of work leads to very many."""
    return _tracer.carrier(apart=apart) if _tracer is not None else ROOT


def asked_in(given: Mapping[str, object] | None) -> Carrier:
    """The place that headers or other members name by ``traceparent``, :data:`ROOT` when they name none. Nothing else of them is taken: ``tracestate`` and
    ``baggage`` would be exported as they came."""
    named = (given or {}).get("traceparent")
    return {"traceparent": named} if isinstance(named, str) and PLACE.match(named) else ROOT


def ids() -> tuple[str, str] | None:
    """Trace and span that go on, 32 and 16 hexadecimal digits; None when nothing is traced."""
    return _tracer.ids() if _tracer is not None else None


@contextmanager
def quiet() -> Iterator[None]:
    """No spans inside: what exports them is not traced itself."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


class Exporting:
    """What watches exports: the guard they go through, none while tracing is off."""

    def __init__(self, *guards: "Guard") -> None:
        self.guards = guards


@contextmanager
def open_tracing(settings: Settings, role: str, clock: "Clock", told: Told) -> Iterator[Exporting]:
    """Record spans of this process as service ``wisdomagent-ROLE`` while the body lasts, if a collector is named; at the end those that wait are sent,
    within a few seconds. In a process that forks, open it in the children."""
    global _tracer  # noqa: PLW0603 (there is one per process, as with logs: whoever is deep inside must find it without being handed it)
    if not settings.otlp_endpoint:
        yield Exporting()
        return
    from runtime.recorded_spans import open_recording

    with open_recording(settings, role, clock, told) as recording:
        before, _tracer = _tracer, recording.tracer
        try:
            yield Exporting(recording.guard)
        finally:
            _tracer = before
