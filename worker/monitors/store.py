"""Monitors and what is held of them, in the state store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from runtime.clock import Clock
from runtime.errors import Conflict, InvalidRequest, NotFound
from runtime.events import Event, event_id
from runtime.tenancy import Tenant
from search.ports import StateEntry, StateStore
from worker.monitors.machine import Standing, State, Transition, acknowledged
from worker.monitors.monitor import Monitor, monitor_as_json, monitor_from_json
from worker.monitors.retrying import repeated
from worker.monitors.standing import Held, held_as_json, held_from_json

KIND = "monitor"
HELD_KIND = "monitor_state"


@dataclass(frozen=True, slots=True)
class MonitorPage:
    """Some monitors, the newest first, and where to go on. ``unreadable`` are the ids of those that cannot be read."""

    monitors: tuple[Monitor, ...]
    cursor: str | None
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Monitors:
    """Keeps monitors. What evaluations change is an entry of its own, so that an edit and an evaluation never undo each other."""

    state: StateStore
    clock: Clock

    def save(self, tenant: Tenant, monitor: Monitor, expected: int | None = None) -> Monitor:
        """Create or replace; ``expected=0`` insists on creation, another number on that stored version. When what is asked has changed, it begins in
        ``ok`` again.

        Raises:
            Conflict: the stored version is not ``expected``.
        """
        return repeated(lambda: self._saved(tenant, monitor)) if expected is None else self._saved(tenant, monitor, expected)

    def get(self, tenant: Tenant, monitor_id: str) -> Monitor:
        """One monitor.

        Raises:
            NotFound: the tenant has none of that id.
            InvalidRequest: on ``monitor_id``; what is stored of it cannot be read.
        """
        entry = self.state.get(tenant, KIND, monitor_id)
        if entry is None:
            raise NotFound("no monitor with this id; list the monitors to see which there are")
        return _monitor(entry)

    def list(self, tenant: Tenant, *, first: int = 50, after: str | None = None) -> MonitorPage:
        """Monitors, the newest first; one that cannot be read hides no other."""
        entries, cursor = self.state.entries(tenant, KIND, first=first, after=after)
        monitors, unreadable = [], []
        for entry in entries:
            try:
                monitors.append(_monitor(entry))
            except InvalidRequest:
                unreadable.append(entry.entry_id)
        return MonitorPage(tuple(monitors), cursor, tuple(unreadable))

    def delete(self, tenant: Tenant, monitor_id: str) -> bool:
        """Remove it and what is held of it; one that fires ends in silence. Its digests stay. False when there was none."""
        removed = self.state.remove(tenant, KIND, [monitor_id])
        self.state.remove(tenant, HELD_KIND, [monitor_id])
        return removed > 0

    def pause(self, tenant: Tenant, monitor_id: str, paused: bool = True) -> Monitor:  # noqa: FBT001, FBT002 (it reads as the word it is)
        """Stop evaluating it, or go on; its state stays.

        Raises:
            NotFound: the tenant has none of that id.
        """
        return repeated(lambda: self._paused(self.get(tenant, monitor_id), tenant, paused=paused))

    def acknowledge(self, tenant: Tenant, monitor_id: str) -> Standing:
        """Take note that it has resolved: it is ``ok`` at once. One that is ``ok`` stays so.

        Raises:
            NotFound: the tenant has none of that id.
            Conflict: it is pending or firing, which nobody can wish away.
        """
        return repeated(lambda: self._acknowledged(tenant, self.get(tenant, monitor_id)))

    def held(self, tenant: Tenant, monitor: Monitor) -> Held:
        """What is held of a monitor; nothing yet where what it asks has changed since.

        Raises:
            InvalidRequest: on ``monitor_id``; what is stored of it cannot be read.
        """
        entry = self.state.get(tenant, HELD_KIND, monitor.monitor_id)
        if entry is None:
            return Held(monitor.revision)
        with _readable():
            held = held_from_json(entry.version, entry.body)
        return held if held.revision == monitor.revision else Held(monitor.revision, version=entry.version)

    def hold(self, tenant: Tenant, monitor: Monitor, held: Held, transition: Transition | None = None) -> Held:
        """Keep what is held, with the event of a transition.

        Raises:
            Conflict: somebody else has changed it since it was read.
        """
        event = None if transition is None else _transitioned(tenant, monitor, held, transition)
        entry = self.state.put(tenant, HELD_KIND, monitor.monitor_id, held_as_json(held), expected=held.version, event=event)
        return replace(held, version=entry.version)

    def hold_if_changed(self, tenant: Tenant, monitor: Monitor, held: Held) -> Held:
        """Keep what is held unless it is what was read.

        Raises:
            Conflict: somebody else has changed it since it was read.
        """
        return held if held == self.held(tenant, monitor) else self.hold(tenant, monitor, held)

    def amend(self, tenant: Tenant, monitor: Monitor, change: Callable[[Held], Held]) -> Held:
        """Change what is held without a transition; what ``change`` returns as it was stays."""
        return repeated(lambda: self._amended(tenant, monitor, change))

    def _amended(self, tenant: Tenant, monitor: Monitor, change: Callable[[Held], Held]) -> Held:
        held = self.held(tenant, monitor)
        changed = change(held)
        return held if changed == held else self.hold(tenant, monitor, changed)

    def _saved(self, tenant: Tenant, monitor: Monitor, expected: int | None = None) -> Monitor:
        entry = self.state.get(tenant, KIND, monitor.monitor_id)
        known = None if entry is None else _monitor(entry)
        if known is not None:
            monitor = replace(monitor, created_at=known.created_at)
        version = known.version if known else 0
        if expected is not None and expected != version:
            problem = f"is at version {version}, not {expected}; read it again, then repeat" if version else "does not exist"
            raise Conflict(
                f"the monitor {monitor.monitor_id} {problem}"
                if expected
                else f"a monitor {monitor.monitor_id} exists already; save it under its id to change it"
            )
        return self._put(tenant, monitor, version)

    def _paused(self, monitor: Monitor, tenant: Tenant, *, paused: bool) -> Monitor:
        return monitor if monitor.paused is paused else self._put(tenant, replace(monitor, paused=paused), monitor.version)

    def _put(self, tenant: Tenant, monitor: Monitor, expected: int) -> Monitor:
        labels = {"severity": monitor.severity}
        entry = self.state.put(tenant, KIND, monitor.monitor_id, monitor_as_json(monitor), labels=labels, expected=expected)
        return _monitor(entry)

    def _acknowledged(self, tenant: Tenant, monitor: Monitor) -> Standing:
        held = self.held(tenant, monitor)
        if held.standing.state in (State.PENDING, State.FIRING):
            raise Conflict(f"the monitor is {held.standing.state.value}; it can be acknowledged when it has resolved, or paused")
        step = acknowledged(held.standing, self.clock.now())
        return (
            self.hold(tenant, monitor, replace(held, standing=step.standing), step.transition).standing
            if step.transition
            else held.standing
        )


def _monitor(entry: StateEntry) -> Monitor:
    with _readable():
        return monitor_from_json(entry.entry_id, entry.version, entry.body)


@contextmanager
def _readable() -> Iterator[None]:
    """Whatever damaged an entry, its owner is told what to do about it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, InvalidRequest) as error:
        raise InvalidRequest("what is stored of this monitor cannot be read; delete it, and save it anew", field="monitor_id") from error


def _transitioned(tenant: Tenant, monitor: Monitor, held: Held, transition: Transition) -> Event:
    latest = held.standing.latest
    body = {
        "before": transition.before.value,
        "after": transition.after.value,
        "window_end": None if latest is None else latest.isoformat(),
        "severity": monitor.severity,
    }
    identifier = event_id("monitor.transitioned", tenant, monitor.monitor_id, monitor.revision, str(held.version))
    return Event(identifier, "monitor.transitioned", tenant, transition.at, monitor.monitor_id, body)
