"""What is due, over all duties."""

from collections.abc import Iterator
from datetime import datetime

from runtime.errors import Unavailable
from runtime.telemetry import Metrics, logger
from worker.duties import Duty, Work


def due_of(duty: Duty, now: datetime, metrics: Metrics) -> Iterator[Work]:
    """What a duty finds due; a duty that fails at that is its own loss, not that of the ones after it."""
    outcome = "done"
    try:
        yield from duty.due(now)
    except Exception as error:  # noqa: BLE001 (a task boundary)
        outcome = "unavailable" if isinstance(error, Unavailable) else "failed"
        logger("worker").error("what is due could not be found", duty=duty.name, error=type(error).__name__)
    metrics.count("wa_tasks_total", task=f"{duty.name}.due", outcome=outcome)
