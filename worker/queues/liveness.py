"""Whether workers work, told by a round trip: a tick asks for a heartbeat, a pool process notes the time, whoever wants to know reads its age.

A worker that answers pings while every process hangs would not be found out otherwise.
"""

from collections.abc import Callable
from datetime import datetime

from runtime.errors import Unavailable
from runtime.settings import Settings
from worker.duties import WorkerHealth

TICKS_MISSED = 3
"""Heartbeats that may be missing before work is late: one lost tick says nothing, and a long piece may hold up one more."""


def health(settings: Settings, now: datetime, last_beat: Callable[[], datetime | None]) -> WorkerHealth:
    """What is known of the workers behind a broker."""
    try:
        last = last_beat()
    except Unavailable as error:
        return WorkerHealth("unavailable", None, f"monitors are late: {error}")
    if last is None:
        return WorkerHealth("late", None, "monitors are late: no worker has been seen yet; wisdom worker starts one")
    age_s = max(0.0, (now - last).total_seconds())
    if age_s > TICKS_MISSED * settings.monitor_interval_s:
        return WorkerHealth(
            "late", age_s, f"monitors are late: no worker has finished a round trip for {age_s:.0f} s; wisdom worker starts one"
        )
    return WorkerHealth("ok", age_s, "")
