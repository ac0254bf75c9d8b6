"""Logs, the correlation id that ties them to a request, and every metric in one table."""

import logging
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics

from runtime.guard_metrics import GuardCollector, GuardNotes
from runtime.log_sampling import SampledHandler
from runtime.resilience import Guarded
from runtime.settings import Settings
from runtime.tracing import ids

AUDIT = "audit"
"""Name of the logger of :func:`audit_logger`."""

_CORRELATION = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")

Instrument = Counter | Gauge | Histogram


def correlation_id(asked: str | None = None) -> str:
    """The id asked for when it is 1 to 64 letters, digits, ``.``, ``_`` or ``-``; otherwise a new one of 16 hexadecimal digits."""
    return asked if asked and _CORRELATION.match(asked) else secrets.token_hex(8)


@contextmanager
def correlated(identifier: str, **labels: str) -> Iterator[str]:
    """Every line logged inside carries this correlation id and these labels."""
    with structlog.contextvars.bound_contextvars(correlation_id=identifier, **labels):
        yield identifier


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Send all logs of this process, libraries included, to ``stream`` (standard error): JSON lines, or pretty ones on a terminal."""
    stream = stream or sys.stderr
    pretty = settings.log_format == "pretty" or (settings.log_format == "auto" and stream.isatty())
    renderer: Any = structlog.dev.ConsoleRenderer(colors=stream.isatty()) if pretty else structlog.processors.JSONRenderer()
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        _traced,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _environment(settings.environment),
    ]
    level = logging.getLevelNamesMapping()[settings.log_level]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    _take_over_stdlib(SampledHandler(stream, settings.log_sample, unsampled=(AUDIT,)), level, shared, renderer)


def _take_over_stdlib(handler: logging.Handler, level: int, shared: list[Any], renderer: Any) -> None:
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.EventRenamer("event"),
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.INFO))
    for noisy in ("httpx", "httpcore", "httpx2", "httpcore2", "openai", "urllib3", "mcp", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(max(level, logging.WARNING))
    logging.getLogger(AUDIT).setLevel(logging.INFO if level < logging.ERROR else level)
    logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # it logs a traceback for each failed call, which we translate and count


def _traced(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Which span was going on, where spans are recorded."""
    if (place := ids()) is not None:
        event["trace_id"], event["span_id"] = place
    return event


def _environment(name: str) -> Callable[[Any, str, dict[str, Any]], dict[str, Any]]:
    def add(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
        event.setdefault("environment", name)
        return event

    return add


def logger(name: str) -> Any:
    """A structured logger; never pass it the text of a document or a question."""
    return structlog.get_logger(name)


def audit_logger() -> Any:
    """The logger of who did what; it writes below ``WA_LOG_LEVEL=ERROR`` too, so that quiet logs do not lose it. Ids only, never text."""
    return structlog.wrap_logger(logging.getLogger(AUDIT), wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One row of the table: name, kind, what it counts, its labels and, for histograms, its buckets. ``read``: nobody tells of it, it is read from the
    guards when it is asked for. ``values`` are all that its one label can have; each is told from the start, as a counter that appears with its first
    event does not seem to rise."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    read: bool = False
    values: tuple[str, ...] = ()


_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_COUNTS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_STEPS = (2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 100.0)
_TOKENS = (0.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0, 16000.0, 64000.0)
_REASONS = (
    "NOT_A_QUESTION", "NO_DOCUMENTS", "OFF_TOPIC", "NOT_ANSWERED", "UNSUPPORTED", "CONFLICTING", "TOO_FEW", "BUDGET_EXCEEDED",
)  # fmt: skip
_LOOKS = ("clear", "breached", "no_observation", "error")
_SPANS = ("exported", "failed", "dropped")
_RECEIVED = ("indexed", "updated", "unchanged", "duplicate", "rejected")
_GATED = ("passed", "failed", "ungated", "error")

METRICS: tuple[MetricSpec, ...] = (
    MetricSpec("wa_requests_total", "counter", "Requests by route template and outcome", ("operation", "outcome")),
    MetricSpec("wa_request_duration_seconds", "histogram", "Time to answer a request", ("operation",), _SECONDS),
    MetricSpec("wa_rate_limited_total", "counter", "Calls that were refused because their credential called too often", ("operation",)),
    MetricSpec(
        "wa_rate_checks_total",
        "counter",
        "Checks of rate limits, by whose bucket was asked: the shared one, or the process's own where that cannot be had",
        ("bucket",),
        values=("shared", "local"),
    ),
    MetricSpec("wa_ready", "gauge", "1 when questions can be answered, 0 when not, as of the latest look"),
    MetricSpec(
        "wa_questions_total",
        "counter",
        "Questions asked, by outcome: answered, refused or error",
        ("outcome",),
        values=("answered", "refused", "error"),
    ),
    MetricSpec("wa_refusals_total", "counter", "Refusals by reason", ("reason",), values=_REASONS),
    MetricSpec("wa_ask_duration_seconds", "histogram", "Time of one run of ask", (), _SECONDS),
    MetricSpec("wa_ask_steps_total", "counter", "Steps of runs, by name and outcome", ("step", "outcome")),
    MetricSpec("wa_ask_step_duration_seconds", "histogram", "Time of one step of a run, by name", ("step",), _SECONDS),
    MetricSpec("wa_tool_calls_total", "counter", "Calls of tools by runs", ("tool",)),
    MetricSpec("wa_run_steps", "histogram", "Steps of one run", (), _STEPS),
    MetricSpec("wa_run_tokens", "histogram", "Tokens of evidence one run read", (), _TOKENS),
    MetricSpec(
        "wa_repairs_total",
        "counter",
        "Runs whose draft was pruned and verified again, by what came of them",
        ("outcome",),
        values=("answered", "refused"),
    ),
    MetricSpec("wa_groundedness_ratio", "histogram", "Share of drafted claims that were supported", (), _RATIOS),
    MetricSpec("wa_citation_precision_ratio", "histogram", "Share of drafted citations that support their claim", (), _RATIOS),
    MetricSpec("wa_unsupported_claims_total", "counter", "Claims pruned, by class of reason", ("because",)),
    MetricSpec("wa_degraded_total", "counter", "Answers that lost a part, by part", ("part",)),
    MetricSpec("wa_searches_total", "counter", "Searches by fusion", ("fusion",)),
    MetricSpec("wa_search_hits", "histogram", "Hits per search", (), _COUNTS),
    MetricSpec(
        "wa_foreign_hits_total", "counter", "Answers of OpenSearch that held something of another tenant or index; none of them was used"
    ),
    MetricSpec("wa_cache_total", "counter", "Looks into the cache, by what was looked for and outcome", ("kind", "outcome")),
    MetricSpec("wa_documents_total", "counter", "Documents received, by what became of them", ("outcome",), values=_RECEIVED),
    MetricSpec("wa_documents_rejected_total", "counter", "Documents rejected, by the field that was wrong", ("field",)),
    MetricSpec("wa_documents_deleted_total", "counter", "Documents deleted"),
    MetricSpec("wa_corpus_documents", "gauge", "Documents of the default tenant, as of the latest look"),
    MetricSpec("wa_corpus_passages", "gauge", "Passages of the default tenant, as of the latest look"),
    MetricSpec("wa_mcp_calls_total", "counter", "MCP tool calls by tool and outcome", ("tool", "outcome")),
    MetricSpec("wa_tasks_total", "counter", "Pieces of work of the worker, by duty and outcome", ("task", "outcome")),
    MetricSpec("wa_task_duration_seconds", "histogram", "Time of one piece of work", ("task",), _SECONDS),
    MetricSpec("wa_dead_letters_total", "counter", "Work given up after bounded attempts, by duty", ("task",)),
    MetricSpec("wa_worker_heartbeat_age_seconds", "gauge", "Time since a worker last finished a round trip of a task"),
    MetricSpec("wa_monitors_evaluated_total", "counter", "Evaluations of monitors, by outcome", ("outcome",), values=_LOOKS),
    MetricSpec("wa_monitor_transitions_total", "counter", "Changes of a monitor's state", ("transition",)),
    MetricSpec("wa_monitor_lag_seconds", "gauge", "How late the latest evaluation of a due monitor was"),
    MetricSpec(
        "wa_digests_published_total", "counter", "Digests published, by severity", ("severity",), values=("info", "warning", "critical")
    ),
    MetricSpec("wa_deliveries_total", "counter", "Attempts to deliver a digest, by channel and outcome", ("channel", "outcome")),
    MetricSpec("wa_events_published_total", "counter", "Events relayed to the bus, by type and outcome", ("event_type", "outcome")),
    MetricSpec("wa_events_consumed_total", "counter", "Events applied to projections, by type and outcome", ("event_type", "outcome")),
    MetricSpec("wa_events_lag", "gauge", "Events in the stream that no projection has seen yet"),
    MetricSpec("wa_outbox_events", "gauge", "Events that are kept and not yet relayed"),
    MetricSpec("wa_jobs_total", "counter", "Ingest jobs ended, by outcome", ("outcome",), values=("done", "failed", "cancelled")),
    MetricSpec(
        "wa_llm_calls_total", "counter", "Calls to a language model, by role, endpoint and outcome", ("role", "endpoint", "outcome")
    ),
    MetricSpec("wa_llm_duration_seconds", "histogram", "Time of one call to a language model", ("role",), _SECONDS),
    MetricSpec("wa_llm_tokens_total", "counter", "Tokens sent to and received from language models", ("role", "direction")),
    MetricSpec("wa_eval_runs_total", "counter", "Evaluation runs, by result of the gate", ("result",), values=_GATED),
    MetricSpec("wa_eval_score_ratio", "gauge", "Latest score of an evaluation, by metric", ("metric",)),
    MetricSpec("wa_spans_total", "counter", "Spans that ended, by what became of them", ("outcome",), values=_SPANS),
    MetricSpec("wa_breaker_state", "gauge", "Circuit of a dependency: 0 closed, 1 half open, 2 open", ("dependency",), read=True),
    MetricSpec("wa_bulkhead_in_flight", "gauge", "Calls to a dependency in progress", ("dependency",), read=True),
    MetricSpec("wa_retries_total", "counter", "Repeated calls to a dependency", ("dependency",), read=True),
)

PROCESS_METRICS = (
    "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_start_time_seconds", "process_open_fds",
    "process_max_fds",
)  # fmt: skip
"""What the client library tells of a process that serves its own metrics, on Linux."""


def _exemplar() -> dict[str, str] | None:
    """The trace of what is being done, else its correlation id: both are in every log line of it too."""
    if (place := ids()) is not None:
        return {"trace_id": place[0]}
    known = structlog.contextvars.get_contextvars().get("correlation_id")
    return {"correlation_id": str(known)} if known else None


class Metrics:
    """Every instrument of :data:`METRICS` on a registry of its own, so that two services in one process do not collide."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._instruments: dict[str, Instrument] = {spec.name: self._made(spec) for spec in METRICS if not spec.read}
        helps = {spec.name: spec.help for spec in METRICS if spec.read}
        self._guards = GuardCollector(helps)
        self._notes = GuardNotes(helps)
        self.registry.register(self._guards)
        ProcessCollector(registry=self.registry)

    def watch(self, guarded: object) -> None:
        """Read the guards of whatever has some, whenever metrics are asked for; anything else is left alone."""
        if isinstance(guarded, Guarded):
            self._guards.watch(lambda: guarded.guards)

    def note_guards(self) -> None:
        """Write down what the guards know, for the process that serves the metrics of several; only one thread may."""
        self._notes.write(self._guards.figures())

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        instrument = self._labelled(name, labels)
        assert isinstance(instrument, Counter)
        instrument.inc(amount)

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram, with the trace it belongs to as an exemplar, where one is known; OpenMetrics alone shows those."""
        instrument = self._labelled(name, labels)
        assert isinstance(instrument, Histogram)
        instrument.observe(value, _exemplar())

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        instrument = self._labelled(name, labels)
        assert isinstance(instrument, Gauge)
        instrument.set(value)

    def _labelled(self, name: str, labels: dict[str, str]) -> Instrument:
        instrument = self._instruments[name]
        return instrument.labels(**labels) if labels else instrument

    def _made(self, spec: MetricSpec) -> Instrument:
        if spec.kind == "counter":
            counter = Counter(spec.name, spec.help, spec.labels, registry=self.registry)
            for value in spec.values:
                counter.labels(value)
            return counter
        if spec.kind == "gauge":
            return Gauge(spec.name, spec.help, spec.labels, registry=self.registry, multiprocess_mode="mostrecent")
        return Histogram(spec.name, spec.help, spec.labels, buckets=spec.buckets, registry=self.registry)
