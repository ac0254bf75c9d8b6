"""The duty ``evaluate_monitor``: which monitors are due, fairly over all tenants, and the evaluation of one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from runtime.errors import NotFound, ServiceError, Unavailable
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from search.ports import Engine, StateEntry, StateStore
from worker.deliveries.duty import planning
from worker.duties import Queue, Work, in_turn
from worker.monitors.evaluating import Evaluation, Evaluator
from worker.monitors.machine import CLOCK_SLACK
from worker.monitors.monitor import Monitor
from worker.monitors.store import HELD_KIND, KIND, Monitors
from worker.monitors.window import grid, latest_window

NAME = "evaluate_monitor"
LATE_CHECKS = 12
"""How often within a cadence the remembered windows are looked at again, when documents have come."""


@dataclass(frozen=True, slots=True)
class MonitorDuty:
    """Implements :class:`worker.duties.Duty`. Work ``(monitor, end of window)`` evaluates a window; ``(monitor, end of window, generation)`` looks
    again at windows that documents may have come late for."""

    state: StateStore
    engine: Engine
    monitors: Monitors
    evaluator: Evaluator
    metrics: Metrics
    name: str = NAME
    queue: Queue = "monitors"

    def due(self, now: datetime) -> Iterable[Work]:
        """See :class:`worker.duties.Duty`. Only what is due is kept in memory; a monitor that cannot be read is counted and passed over."""
        due: list[Work] = []
        generations, ends = _Generations(self.engine), _Ends(now)
        for tenant, monitor, held in self._pairs():
            try:
                key = _due(tenant, monitor.body, held, ends, generations)
            except (KeyError, TypeError, ValueError):
                self.metrics.count("wa_monitors_evaluated_total", outcome="error")
                logger(__name__).error("a monitor cannot be read", tenant=tenant, monitor=monitor.entry_id)
                continue
            if key is not None:
                due.append(Work(self.name, tenant, (monitor.entry_id, *key)))
        return in_turn(due)

    def do(self, work: Work) -> Iterable[Work]:
        """See :class:`worker.duties.Duty`. A monitor that was deleted or paused meanwhile is no failure. A digest is followed by its deliveries."""
        done = self.evaluated(work)
        return () if done is None or done.digest is None else (planning(work.tenant, done.digest.digest_id),)

    def evaluated(self, work: Work) -> Evaluation | None:
        """Do one piece and tell what came of it; None when there was nothing to do any more."""
        monitor_id, end = work.key[0], datetime.fromisoformat(work.key[1])
        try:
            if self.monitors.get(work.tenant, monitor_id).paused:
                return None
            return self.evaluator.evaluate_ending(work.tenant, monitor_id, end)
        except NotFound:
            return None
        except ServiceError:
            self.metrics.count("wa_monitors_evaluated_total", outcome="error")
            raise

    def _pairs(self) -> Iterator[tuple[Tenant, StateEntry, StateEntry | None]]:
        """Every monitor with what is held of it: both are read in the order of tenant and id, side by side."""
        held = self.state.scan(HELD_KIND)
        other = next(held, None)
        for tenant, monitor in self.state.scan(KIND):
            place = (tenant, monitor.entry_id)
            while other is not None and (other[0], other[1].entry_id) < place:
                other = next(held, None)
            found = other is not None and (other[0], other[1].entry_id) == place
            yield tenant, monitor, other[1] if other is not None and found else None


def looking(tenant: Tenant, monitor: Monitor, now: datetime) -> Work:
    """The work that looks at the newest window of a monitor, for whoever does not want to wait for the next tick."""
    return Work(NAME, tenant, (monitor.monitor_id, latest_window(now, monitor.window_s, monitor.cadence_s).end.isoformat()))


class _Generations:
    """The engine's generation of each tenant, asked for once; None when the engine does not answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[Tenant, int | None] = {}

    def of(self, tenant: Tenant) -> int | None:
        if tenant not in self._known:
            try:
                self._known[tenant] = self._engine.generation(tenant)
            except Unavailable:
                self._known[tenant] = None
        return self._known[tenant]


class _Ends:
    """The ends of the newest windows, worked out once for each cadence; as texts, which compare as the instants do."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.far_ahead = (now + CLOCK_SLACK).replace(microsecond=0).isoformat()
        self._known: dict[int, str] = {}

    def of(self, cadence_s: int) -> str:
        if cadence_s not in self._known:
            self._known[cadence_s] = grid(self.now, cadence_s).isoformat()
        return self._known[cadence_s]


def _due(
    tenant: Tenant, monitor: Mapping[str, Any], held: StateEntry | None, ends: _Ends, generations: _Generations
) -> tuple[str, ...] | None:
    """The rest of the key of what is due for a monitor, None when nothing is."""
    if monitor["paused"]:
        return None
    end = ends.of(monitor["cadence_s"])
    looks = held.body["standing"]["looks"] if held is not None else ()
    latest: str = looks[-1]["end"] if looks else ""
    edited = held is not None and held.body["revision"] != monitor["revision"]
    if held is None or edited or latest < end or latest > ends.far_ahead:
        return (end,)
    if held.body["wanted"] is not None:
        return latest, held.body["wanted"]["digest_id"]
    if latest != end or not _rested(held.body, monitor["cadence_s"], ends.now):
        return None
    generation = generations.of(tenant)
    return None if generation in (None, held.body["generation"]) else (latest, f"late-{generation}")


def _rested(held: Mapping[str, Any], cadence_s: int, now: datetime) -> bool:
    """Whether it is long enough since the windows were last looked at."""
    checked_at = held["checked_at"]
    return checked_at is None or now - datetime.fromisoformat(checked_at) >= timedelta(seconds=cadence_s / LATE_CHECKS)
