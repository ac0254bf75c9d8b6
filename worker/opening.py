"""The whole service, wired in one visible place: each part is built from the ones above it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from grounding.answer_cache import AnswerCache
from grounding.answering import Answerer
from grounding.drafting import ExtractiveDrafter
from grounding.language_models.opening import open_language_models
from grounding.traces import TraceStore
from grounding.vector_memory import RememberedVectors
from grounding.verification import FeatureVerifier
from runtime.clock import Clock, SystemClock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from runtime.tracing import open_tracing
from search.caching.opening import Caching, open_caching
from search.engines.opening import open_store
from search.engines.store import Store
from search.ingest.pipeline import Ingester
from search.ingest.receipts import Receipts
from search.ingest.records import IngestRecords
from search.ports import Counts, Embedder, Engine, Months, StateStore
from search.retrieval import Retriever
from worker.deliveries.duty import DeliverDuty
from worker.deliveries.sending import Sender
from worker.deliveries.store import Deliveries
from worker.duties import Duty, NoQueue, WorkQueue
from worker.evaluations.duty import ScheduledEvaluations
from worker.evaluations.evaluating import Evaluations
from worker.evaluations.schedules import Schedules
from worker.events.opening import Events, open_events
from worker.jobs.duty import IngestJobs
from worker.jobs.handing_in import HandingIn
from worker.jobs.store import Jobs
from worker.monitors.digests import Digests
from worker.monitors.duty import MonitorDuty
from worker.monitors.evaluating import Evaluator
from worker.monitors.opening import evaluator_over
from worker.monitors.saving import Saving
from worker.monitors.store import Monitors
from worker.queues.dead_letters import DeadLetters
from worker.queues.opening import open_queue
from worker.scrubbing import ScrubTraces
from worker.shelves import shelves

Opening = Callable[[Settings, Clock, Metrics], AbstractContextManager[Store]]


@dataclass(frozen=True, slots=True)
class Service:
    """Everything a door may call."""

    settings: Settings
    clock: Clock
    metrics: Metrics
    embedder: Embedder
    engine: Engine
    state: StateStore
    months: Months
    retriever: Retriever
    ingester: Ingester
    answerer: Answerer
    caching: Caching
    traces: TraceStore
    evaluator: Evaluator
    events: Events
    held: Callable[[], AbstractContextManager[None]]
    """What is done inside is done with one embedder and its engine."""
    duties: Mapping[str, Duty] = field(default_factory=dict)
    queue: WorkQueue = field(default_factory=NoQueue)

    @property
    def counts(self) -> Counts:
        """What doors count with; those of a moment ago are given again."""
        return self.caching.counts(self.engine, self.clock)

    @property
    def monitors(self) -> Monitors:
        """Saved questions with a condition."""
        return Monitors(self.state, self.clock)

    @property
    def saving(self) -> Saving:
        """Takes monitors as callers write them."""
        return Saving(self.monitors, self.evaluator, self.clock)

    @property
    def digests(self) -> Digests:
        """What monitors published."""
        return Digests(self.state, self.clock, self.engine)

    @property
    def deliveries(self) -> Deliveries:
        """Digests on their way to receivers."""
        return Deliveries(self.state, self.clock)

    @property
    def dead_letters(self) -> DeadLetters:
        """Work that was given up."""
        return DeadLetters(self.state, self.clock)

    @property
    def jobs(self) -> Jobs:
        """Ingest jobs."""
        return Jobs(self.state, self.clock, self.metrics)

    @property
    def handing_in(self) -> HandingIn:
        """Takes rows in as ingest jobs."""
        return HandingIn(self.jobs, self.clock, self.settings, self.queue)

    @property
    def scrubbing(self) -> ScrubTraces:
        """Takes what was erased out of everything that was kept of it."""
        kept = shelves(self.state, self.traces, self.jobs)
        return ScrubTraces(self.state, self.engine, kept, self.clock, timedelta(seconds=self.settings.ask_timeout_s))

    @property
    def receipts(self) -> Receipts:
        """Receipts of erasures."""
        return Receipts(self.state)

    @property
    def evaluations(self) -> Evaluations:
        """Evaluations of this answerer."""
        return Evaluations.over(self.answerer, self.engine, self.state, self.clock, self.metrics)

    @property
    def eval_schedules(self) -> Schedules:
        """Evaluations that the worker runs."""
        return Schedules(self.state, self.clock)


@contextmanager
def open_service(settings: Settings, clock: Clock | None = None, *, role: str = "cli", opening: Opening = open_store) -> Iterator[Service]:
    """The service of these settings; engine and embedder are closed at the end. ``role`` is what this process is called in spans, ``opening`` opens its
    store.

    Raises:
        Misconfigured: what is wrong and which setting changes it.
        Unavailable: a dependency that must answer at start does not.
    """
    clock, metrics = clock or SystemClock(), Metrics()
    with (
        open_tracing(settings, role, clock, lambda outcome, spans: metrics.count("wa_spans_total", spans, outcome=outcome)) as tracing,
        opening(settings, clock, metrics) as store,
        open_language_models(settings, clock, metrics) as models,
        open_events(settings, store.engine, store.state, clock, metrics) as events,
        open_caching(settings, store.engine, store.state, store.embedder, clock, metrics) as caching,
    ):
        retriever = Retriever(store.engine, store.embedder, settings, clock)
        reader = RememberedVectors(store.embedder)
        verifier = FeatureVerifier(reader, min_support=settings.min_support)
        drafter = ExtractiveDrafter(reader, settings)
        cache = None if caching.entries is None else AnswerCache(store.engine, caching.entries, caching.settled)
        answerer = Answerer(store.engine, store.state, retriever, drafter, verifier, reader, clock, settings, models=models, cache=cache)
        service = Service(
            settings=settings,
            clock=clock,
            metrics=metrics,
            embedder=store.embedder,
            engine=store.engine,
            state=store.state,
            months=store.months,
            retriever=retriever,
            ingester=Ingester(store.engine, store.embedder, clock, settings, records=IngestRecords(store.state)),
            answerer=answerer,
            caching=caching,
            traces=TraceStore(store.state, store.engine),
            evaluator=evaluator_over(store.engine, store.state, answerer, reader, clock, metrics, settings),
            events=events,
            held=store.held,
        )
        for guarded in (store, store.embedder, tracing):
            metrics.watch(guarded)
        duties = {duty.name: duty for duty in duties_of(service)}
        with open_queue(settings, clock, duties) as queue:
            metrics.watch(queue)
            yield replace(service, duties=duties, queue=queue)


def duties_of(service: Service) -> tuple[Duty, ...]:
    """Everything the worker does, most urgent first. The service's ``queue`` is not there yet: what should follow at once, a duty returns."""
    lease_s = 2 * service.settings.worker_time_limit_s
    return (
        MonitorDuty(service.state, service.engine, service.monitors, service.evaluator, service.metrics),
        _deliver(service),
        IngestJobs(service.jobs, service.ingester, service.engine, service.state, service.clock, service.dead_letters),
        ScheduledEvaluations(service.eval_schedules, service.evaluations, service.state, busy_s=lease_s),
        *service.events.duties,
        service.scrubbing,
    )


def _deliver(service: Service) -> DeliverDuty:
    sender = Sender(service.settings, service.clock)
    service.metrics.watch(sender)
    return DeliverDuty(service.deliveries, service.digests, service.monitors, sender, service.clock, service.metrics, service.settings)
