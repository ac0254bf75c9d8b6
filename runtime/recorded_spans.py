"""Spans as OpenTelemetry knows them. The only module that touches its library; its provider is ours alone and never the process-wide one.

With the process-wide one, the web framework would record query strings and the MCP library the messages of errors: both hold what people wrote.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Self, cast

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from runtime.clock import Clock
from runtime.errors import BudgetExceeded, Conflict, Forbidden, InvalidRequest, NotFound, RateLimited, Unauthenticated
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.span_export import SpanSender, collector_guard, traces_url
from runtime.tracing import ATTRIBUTES, PLACE, Carrier, Kind, Span, Told, Value

MOST_HOPS = 5
"""After so many hand-overs work begins a trace of its own, linked to the one before: a job of a thousand chunks would make one that nobody can open."""
APART = MOST_HOPS + 1

PLANNED = (InvalidRequest, Unauthenticated, Forbidden, NotFound, Conflict, BudgetExceeded, RateLimited)
"""Errors that say something about the request, not about us: spans tell them, and are none the worse for it."""

_KINDS: Mapping[str, SpanKind] = {kind.name.lower(): kind for kind in SpanKind}
_NAME_LIKE = re.compile(r"[A-Za-z0-9_.:/{}*,-]{1,128}\Z")
_NUMBER_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_hops: ContextVar[int] = ContextVar("hops", default=0)


class RecordedSpan:
    """Implements :class:`runtime.tracing.Span`."""

    __slots__ = ("_hop", "_hops", "_span", "_tenant_key", "_token")

    def __init__(self, begun: trace.Span, hops: int | None, tenant_key: bytes | None) -> None:
        self._span = begun
        self._hops = hops
        self._tenant_key = tenant_key
        self._token: Token[Context] | None = None
        self._hop: Token[int] | None = None

    def __enter__(self) -> Self:
        """See :class:`runtime.tracing.Span`."""
        self._token = otel_context.attach(trace.set_span_in_context(self._span))
        if self._hops is not None:
            self._hop = _hops.set(self._hops)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        """See :class:`runtime.tracing.Span`."""
        if isinstance(error, Exception):
            self.set(error=type(error).__name__)
            if not isinstance(error, PLANNED):
                self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
        if self._hop is not None:
            _hops.reset(self._hop)
        if self._token is not None:
            otel_context.detach(self._token)

    def set(self, **attributes: Value | None) -> None:
        """See :class:`runtime.tracing.Span`."""
        for name, value in attributes.items():
            if name == "tenant":
                value = _hashed(value, self._tenant_key)  # noqa: PLW2901 (from here on it is the hash)
            if value is not None and _tellable(value):
                self._span.set_attribute(ATTRIBUTES[name][0], value)

    def numbers(self, detail: Mapping[str, object]) -> None:
        """See :class:`runtime.tracing.Span`."""
        for name, value in detail.items():
            if _NUMBER_NAME.match(name) and (number := _number(value)) is not None:
                self._span.set_attribute(f"wa.step.{name}", number)

    def rename(self, name: str) -> None:
        """See :class:`runtime.tracing.Span`."""
        self._span.update_name(name)

    def failed(self, kind: str) -> None:
        """See :class:`runtime.tracing.Span`."""
        self.set(error=kind)
        self._span.set_status(Status(StatusCode.ERROR))


def _hashed(value: Value | None, key: bytes | None) -> str | None:
    return None if key is None or value is None else hashlib.blake2b(str(value).encode(), key=key, digest_size=8).hexdigest()


def _tellable(value: Value) -> bool:
    """Numbers, and names of the code's own: a text has blanks, and is left out."""
    return not isinstance(value, str) or _NAME_LIKE.match(value) is not None


def _number(value: object) -> int | float | None:
    if isinstance(value, int | float):
        return value
    return len(value) if isinstance(value, Sequence | Mapping) and not isinstance(value, str | bytes) else None


class RecordingTracer:
    """Implements :class:`runtime.tracing.Tracer`."""

    def __init__(self, tracer: trace.Tracer, tenant_key: bytes | None) -> None:
        self._tracer = tracer
        self._tenant_key = tenant_key

    def begin(
        self, name: str, kind: Kind, parent: Carrier | None, links: tuple[Carrier, ...], attributes: Mapping[str, Value | None]
    ) -> Span:
        """See :class:`runtime.tracing.Tracer`."""
        around, linked, hops = self._place(parent, links)
        begun = self._tracer.start_span(name, around, _KINDS[kind], links=linked, record_exception=False, set_status_on_exception=False)
        made = RecordedSpan(begun, hops, self._tenant_key)
        made.set(**attributes)
        return made

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """See :func:`runtime.tracing.note`."""
        RecordedSpan(trace.get_current_span(), None, self._tenant_key).set(**attributes)

    def carrier(self, *, apart: bool) -> Carrier:
        """See :class:`runtime.tracing.Tracer`."""
        place = trace.get_current_span().get_span_context()
        if not place.is_valid:
            return {}
        parent = f"00-{place.trace_id:032x}-{place.span_id:016x}-{int(place.trace_flags):02x}"
        return {"traceparent": parent, "tracehops": str(APART if apart else _hops.get() + 1)}

    def ids(self) -> tuple[str, str] | None:
        """See :class:`runtime.tracing.Tracer`."""
        place = trace.get_current_span().get_span_context()
        return (f"{place.trace_id:032x}", f"{place.span_id:016x}") if place.is_valid else None

    def _place(self, parent: Carrier | None, links: tuple[Carrier, ...]) -> tuple[Context | None, list[Link], int | None]:
        linked = [Link(found) for each in links if (found := _named(each)) is not None]
        if parent is None:
            return None, linked, None
        found, hops = _named(parent), _hops_of(parent)
        if found is None or hops > MOST_HOPS:
            return Context(), linked + ([Link(found)] if found else []), 0
        return trace.set_span_in_context(NonRecordingSpan(found), Context()), linked, hops


def _named(carrier: Carrier) -> SpanContext | None:
    """The place a carrier names."""
    found = PLACE.match(str(carrier.get("traceparent", "")))
    if found is None:
        return None
    trace_id, span_id, flags = found.groups()
    sampled = TraceFlags(int(flags, 16) & TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=sampled)


def _hops_of(carrier: Carrier) -> int:
    told = str(carrier.get("tracehops", "0"))
    return int(told) if told.isdecimal() and len(told) < 3 else 0


class _Ended(SpanProcessor):
    """Hands spans that ended to the sender."""

    def __init__(self, sender: SpanSender) -> None:
        self._sender = sender

    def on_end(self, span: ReadableSpan) -> None:
        """See the library."""
        if span.context is not None and span.context.trace_flags.sampled:
            self._sender.put(span)


@dataclass(frozen=True, slots=True)
class Recording:
    """An open recording."""

    tracer: RecordingTracer
    guard: Guard


@contextmanager
def open_recording(settings: Settings, role: str, clock: Clock, told: Told) -> Iterator[Recording]:
    """Record, and send to the collector, until the end of the body; then send what waits, for a few seconds at most."""
    guard = collector_guard(settings, clock)
    sender = SpanSender(traces_url(settings.otlp_endpoint), guard, _encoded, told, _log)
    provider = TracerProvider(
        sampler=ParentBased(ALWAYS_ON),
        resource=_resource(settings, role),
        shutdown_on_exit=False,
        span_limits=SpanLimits(max_span_attributes=64, max_links=8, max_events=0),
    )
    provider.add_span_processor(_Ended(sender))
    key = settings.environment.encode() if settings.otlp_tenant == "hash" else None
    try:
        yield Recording(RecordingTracer(provider.get_tracer("wisdomagent"), key), guard)
    finally:
        sender.close()


def _encoded(spans: Sequence[object]) -> bytes:
    body: bytes = encode_spans(cast("Sequence[ReadableSpan]", spans)).SerializeToString()
    return body


def _resource(settings: Settings, role: str) -> Resource:
    """Not what the environment of the process adds to it: a variable may hold anything."""
    try:
        release = version("wisdomagent")
    except PackageNotFoundError:
        release = "0"
    return Resource(
        {
            "service.name": f"wisdomagent-{role}",
            "service.version": release,
            "service.instance.id": f"{os.getpid()}-{secrets.token_hex(4)}",
            "deployment.environment.name": settings.environment,
        }
    )


def _log(why: str) -> None:
    import structlog

    log = structlog.get_logger(__name__)
    if not why:
        log.info("spans arrive at the collector again")
    else:
        log.warning("spans do not arrive at the collector; they are counted in wa_spans_total until they do", error=why)
