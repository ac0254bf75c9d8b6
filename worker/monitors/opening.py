"""An evaluator over the parts of a service."""

from grounding.answering import Answerer
from grounding.budget import budget_of
from grounding.topics import Topics
from runtime.clock import Clock
from runtime.settings import Settings
from runtime.telemetry import Metrics
from search.ports import Embedder, Engine, StateStore
from worker.monitors.digests import Digests
from worker.monitors.evaluating import Evaluator
from worker.monitors.observing import Asking, CorpusObserver
from worker.monitors.store import Monitors


def evaluator_over(
    engine: Engine, state: StateStore, answerer: Answerer, embedder: Embedder, clock: Clock, metrics: Metrics, settings: Settings
) -> Evaluator:
    """The evaluator of these settings. A question may take no longer than an evaluation may."""
    asking = Asking(answerer, budget_of(settings, timeout_s=settings.monitor_timeout_s))
    observer = CorpusObserver(engine, Topics(engine, embedder, clock, settings), asking)
    return Evaluator(engine, Monitors(state, clock), Digests(state, clock, engine), observer, asking, clock, metrics)
