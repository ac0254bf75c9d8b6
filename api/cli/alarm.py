"""A monitor of the demo that fires on the sample corpus, as on the day after its newest message."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rich.console import Group, RenderableType
from rich.text import Text

from api import monitor_operations, operations
from api.cli.calling import Calling
from api.cli.session import Session
from api.cli.views.monitors import STYLES, condition_words, digest_view, duration
from api.monitor_operations import Watched
from runtime.clock import SettableClock
from search.documents import Document
from worker.monitors.digest import Digest
from worker.monitors.opening import evaluator_over

MONITOR = {
    "id": "transfers",
    "name": "Transfers",
    "question": "What do customers say about transfers?",
    "condition": {"countAtLeast": 50},
    "windowDays": 30,
    "cadenceDays": 1,
}


@dataclass(frozen=True, slots=True)
class Alarm:
    """A monitor, its digest, and the documents that are cited; no digest where other documents in the store keep it from firing."""

    watched: Watched
    digest: Digest | None
    documents: tuple[Document, ...]


def raised(opened: Session) -> Alarm:
    """Save the monitor and evaluate it once. In a store where it fired before, the digest is the one that is there."""
    service, tenant = opened.service, opened.tenant
    saved = monitor_operations.save_monitor(service, tenant, MONITOR).monitor
    evaluator = evaluator_over(
        service.engine, service.state, service.answerer, service.embedder, _day_after(opened), service.metrics, service.settings
    )
    evaluator.evaluate_latest(tenant, saved.monitor_id)
    digest = next(iter(monitor_operations.digests(service, tenant, monitor_id=saved.monitor_id, first=1, after=None).digests), None)
    documents = operations.documents_of(service, tenant, monitor_operations.cited_ids(digest) if digest else ())
    return Alarm(monitor_operations.monitor(service, tenant, saved.monitor_id), digest, documents)


def _day_after(opened: Session) -> SettableClock:
    """The sample ends on a day of its own, whatever day it is here."""
    newest = opened.service.engine.corpus(opened.tenant).last_occurred_at
    assert newest is not None
    midnight = datetime(newest.year, newest.month, newest.day, tzinfo=UTC)
    return SettableClock(midnight + timedelta(days=1))


def alarm_view(alarm: Alarm, number: int, line: Calling) -> RenderableType:
    """The monitor, then its digest."""
    monitor, state = alarm.watched.monitor, alarm.watched.held.standing.state.value
    head = Text(f"{number}. A monitor that fires, and the proven digest it publishes once", style="bold cyan")
    about = f"monitor {monitor.monitor_id}: fires at {condition_words(monitor)} in {duration(monitor.window_s)}, looks every "
    told = Text(f"{about}{duration(monitor.cadence_s)}: ").append(state, style=STYLES[state])
    if alarm.digest is None:
        return Group(head, told)
    return Group(head, told, Text(""), digest_view(alarm.digest, {document.doc_id: document for document in alarm.documents}, line))
