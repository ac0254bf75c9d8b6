"""One evaluation of one monitor and window, safe to repeat: by a second scheduler, after a redelivery, or after a death at any point.

What was seen decides once, by compare-and-set: the new standing, the event of its transition and the digest it wants are one entry. Publishing that
digest follows, under an id everybody arrives at; whoever finds a digest wanted and not published publishes it.
"""

import contextlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from grounding.answers import Outcome
from runtime.clock import Clock
from runtime.errors import ServiceError
from runtime.telemetry import Metrics
from runtime.tenancy import Tenant
from search.ports import Engine
from worker.monitors.conditions import Answered
from worker.monitors.digest import Digest, digest_id_of
from worker.monitors.digests import Digests
from worker.monitors.machine import Look, Policy, Sighting, State, Step, Transition, rebased, step
from worker.monitors.monitor import Monitor
from worker.monitors.observing import Asking, NoObservation, Observation, Observer
from worker.monitors.retrying import repeated
from worker.monitors.standing import Held, Wanted, numbers_of
from worker.monitors.store import Monitors
from worker.monitors.telling import blank_digest, told
from worker.monitors.window import Window, grid, latest_window, window_ending, window_starting


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found and did. ``observation`` is None when nothing could be seen (``problem`` says why) or nothing was to be done
    (``repeated``: the window had been evaluated). ``digest`` is the one that this call published, which may be one that another evaluation wanted
    and left; of a dry run the one that would be, without its text."""

    monitor: Monitor
    window: Window
    observation: Observation | None
    before: State
    after: State
    transition: Transition | None = None
    digest: Digest | None = None
    digest_wanted: bool = False
    problem: str = ""
    repeated: bool = False
    dry_run: bool = False

    @property
    def outcome(self) -> str:
        """``clear``, ``breached``, ``no_observation`` or ``repeated``."""
        if self.observation is not None:
            return "breached" if self.observation.breached else "clear"
        return "repeated" if self.repeated else "no_observation"

    @property
    def because(self) -> str:
        """What was seen, or why nothing was, in one sentence."""
        if self.observation is not None:
            return self.observation.because
        return "This window was evaluated before." if self.repeated else f"Nothing could be seen: {self.problem}"


class Evaluator:
    """Evaluates monitors."""

    def __init__(
        self,
        engine: Engine,
        monitors: Monitors,
        digests: Digests,
        observer: Observer,
        asking: Asking,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._engine = engine
        self._monitors = monitors
        self._digests = digests
        self._observer = observer
        self._asking = asking
        self._clock = clock
        self._metrics = metrics

    def evaluate(self, tenant: Tenant, monitor_id: str, window_start: datetime, *, dry_run: bool = False) -> Evaluation:
        """Evaluate the window that starts there, and again those before it that documents have come late for.

        Doing it twice changes nothing. A dry run changes nothing at all: it tells what would happen.

        Raises:
            NotFound: the tenant has no such monitor.
            InvalidRequest: on ``window_start``, or the monitor's question cannot be counted.
            Unavailable: the state store cannot be reached.
        """
        monitor = self._monitors.get(tenant, monitor_id)
        window = window_starting(window_start, self._clock.now(), monitor.window_s, monitor.cadence_s)
        return self._evaluated(tenant, monitor, window, dry_run=dry_run)

    def evaluate_ending(self, tenant: Tenant, monitor_id: str, window_end: datetime) -> Evaluation:
        """Evaluate the window that ends there, as whoever found it due says: their clock may be a little ahead of this one. See :meth:`evaluate`."""
        monitor = self._monitors.get(tenant, monitor_id)
        window = window_ending(grid(window_end, monitor.cadence_s), monitor.window_s)
        return self._evaluated(tenant, monitor, window, dry_run=False)

    def evaluate_latest(self, tenant: Tenant, monitor_id: str, *, dry_run: bool = False) -> Evaluation:
        """Evaluate the newest window that is over; see :meth:`evaluate`."""
        monitor = self._monitors.get(tenant, monitor_id)
        window = latest_window(self._clock.now(), monitor.window_s, monitor.cadence_s)
        return self._evaluated(tenant, monitor, window, dry_run=dry_run)

    def counted(self, tenant: Tenant, monitor: Monitor) -> str:
        """Which documents the monitor counts, in words; to be asked before it is saved.

        Raises:
            InvalidRequest: its question cannot be counted.
        """
        return self._observer.describe(tenant, monitor)

    def _evaluated(self, tenant: Tenant, monitor: Monitor, window: Window, *, dry_run: bool) -> Evaluation:
        if dry_run:
            return self._tried(tenant, monitor, window)
        left_by_another = self._finish(tenant, monitor)
        done = repeated(lambda: self._once(tenant, monitor.monitor_id, window))
        published = self._finish(tenant, done.monitor)
        self._count(done)
        return replace(done, digest=published or left_by_another)

    def _tried(self, tenant: Tenant, monitor: Monitor, window: Window) -> Evaluation:
        held = self._monitors.held(tenant, monitor)
        seen = self._observer.observe(tenant, monitor, window)
        state = held.standing.state
        if isinstance(seen, NoObservation):
            return Evaluation(monitor, window, None, state, state, problem=seen.problem, dry_run=True)
        would = step(held.standing, _sighting(seen, window), self._clock.now(), _policy(monitor))
        digest = None
        if would.digest_for is not None:
            identifier = digest_id_of(tenant, monitor.monitor_id, monitor.revision, window.end)
            digest = told(self._blank(monitor, identifier, window), seen, "a dry run does not ask")
        after, wanted = would.standing.state, digest is not None
        return Evaluation(monitor, window, seen, state, after, would.transition, digest, digest_wanted=wanted, dry_run=True)

    def _once(self, tenant: Tenant, monitor_id: str, window: Window) -> Evaluation:
        """Read, look, decide, write; ``Conflict`` when somebody else wrote meanwhile."""
        monitor = self._monitors.get(tenant, monitor_id)
        held = self._monitors.held(tenant, monitor)
        held = replace(held, standing=rebased(held.standing, self._clock.now()))
        before, latest = held.standing.state, held.standing.latest
        newer = latest is None or window.end > latest
        generation = self._engine.generation(tenant)
        if held.generation != generation:
            held = self._relooked(tenant, monitor, held, generation)
        if not newer:
            self._monitors.hold_if_changed(tenant, monitor, held)
            return Evaluation(monitor, window, None, before, held.standing.state, repeated=True)
        seen = self._observer.observe(tenant, monitor, window)
        if isinstance(seen, NoObservation):
            self._note(tenant, monitor, seen.problem)
            state = held.standing.state
            return Evaluation(monitor, window, None, state, state, problem=seen.problem)
        return self._stepped(tenant, monitor, held, seen, window)

    def _stepped(self, tenant: Tenant, monitor: Monitor, held: Held, seen: Observation, window: Window) -> Evaluation:
        now, before = self._clock.now(), held.standing.state
        stepped = step(held.standing, _sighting(seen, window), now, _policy(monitor))
        held = replace(held, numbers=numbers_of(seen), problem="", problem_at=None)
        wrote = self._write(tenant, monitor, held, stepped, {window.end: seen})
        if wrote.standing.state is State.FIRING and wrote.digest_id and not wrote.wanted:
            self._digests.still_seen(tenant, wrote.digest_id, window.end)
        return Evaluation(
            monitor, window, seen, before, wrote.standing.state, stepped.transition, digest_wanted=stepped.digest_for is not None
        )

    def _write(self, tenant: Tenant, monitor: Monitor, held: Held, stepped: Step, seen: dict[datetime, Observation]) -> Held:
        standing, end = stepped.standing, stepped.digest_for
        if end is not None:
            digest_id = digest_id_of(tenant, monitor.monitor_id, monitor.revision, end)
            looks = tuple(replace(look, digest_id=digest_id) if look.seen.window_end == end else look for look in standing.looks)
            wanted = Wanted(digest_id, end, self._clock.now(), seen[end])
            held = replace(held, digest_id=digest_id, wanted=wanted)
            standing = replace(standing, looks=looks)
        wrote = self._monitors.hold(tenant, monitor, replace(held, standing=standing), stepped.transition)
        if stepped.transition:
            self._metrics.count("wa_monitor_transitions_total", transition=_named(stepped.transition))
        return wrote

    def _relooked(self, tenant: Tenant, monitor: Monitor, held: Held, generation: int) -> Held:
        """Look again at the remembered windows: documents have come or gone since. What is the same costs one count and no write of its own."""
        looks = held.standing.looks[-1:] if isinstance(monitor.condition, Answered) else held.standing.looks
        certain = True
        for look in looks:
            window = window_ending(look.seen.window_end, monitor.window_s)
            seen = self._observer.observe(tenant, monitor, window)
            if isinstance(seen, NoObservation):
                certain = False
            elif _sighting(seen, window) != look.seen:
                held = self._corrected(tenant, monitor, held, look, window, seen)
        return replace(held, generation=generation, checked_at=self._clock.now()) if certain else held

    def _corrected(self, tenant: Tenant, monitor: Monitor, held: Held, look: Look, window: Window, seen: Observation) -> Held:
        """A window that looks different now: its digest is updated in place, and the machine goes through the windows since once more."""
        if look.digest_id is not None and not (held.wanted and held.wanted.digest_id == look.digest_id):
            self._update(tenant, monitor, look.digest_id, window, seen)
        stepped = step(held.standing, _sighting(seen, window), self._clock.now(), _policy(monitor))
        observed = {window.end: seen}
        if stepped.digest_for is not None and stepped.digest_for != window.end:
            later = window_ending(stepped.digest_for, monitor.window_s)
            found = self._observer.observe(tenant, monitor, later)
            if isinstance(found, NoObservation):
                return held
            observed[later.end] = found
        if window.end == held.standing.latest:
            held = replace(held, numbers=numbers_of(seen))
        wrote = self._write(tenant, monitor, held, stepped, observed)
        if wrote.wanted is not None:
            self._finish(tenant, monitor)
            wrote = self._monitors.held(tenant, monitor)
        return wrote

    def _finish(self, tenant: Tenant, monitor: Monitor) -> Digest | None:
        """Publish the digest that is wanted, if one is; returns it when this call made it."""
        wanted = self._monitors.held(tenant, monitor).wanted
        if wanted is None:
            return None
        published = None
        if not self._digests.exists(tenant, wanted.digest_id):
            digest = self._digest(tenant, monitor, wanted)
            if (
                self._monitors.held(tenant, monitor).wanted != wanted
            ):  # its text took a while: published by another, or its tenant was erased
                return None
            published = digest if self._digests.publish(tenant, digest) else None
        else:
            self._digests.enlist(tenant, wanted.digest_id)
        self._monitors.amend(tenant, monitor, lambda held: replace(held, wanted=None) if held.wanted == wanted else held)
        if published is not None:
            self._metrics.count("wa_digests_published_total", severity=published.severity)
        return published

    def _digest(self, tenant: Tenant, monitor: Monitor, wanted: Wanted) -> Digest:
        window = window_ending(wanted.window_end, monitor.window_s)
        return told(self._blank(monitor, wanted.digest_id, window), wanted.observation, self._asked(tenant, monitor, window))

    def _blank(self, monitor: Monitor, digest_id: str, window: Window) -> Digest:
        return blank_digest(monitor, digest_id, window, self._clock.now())

    def _update(self, tenant: Tenant, monitor: Monitor, digest_id: str, window: Window, seen: Observation) -> None:
        asked = self._asked(tenant, monitor, window)

        def changed(digest: Digest) -> Digest:
            same = (digest.fingerprint, digest.breached, digest.n) == (seen.fingerprint, seen.breached, seen.n)
            return digest if same else told(digest, seen, asked)

        self._digests.update(tenant, digest_id, changed)

    def _asked(self, tenant: Tenant, monitor: Monitor, window: Window) -> Outcome | str:
        """The verified answer to the monitor's question; where it cannot be had, why. An alert does not wait for its text."""
        try:
            return self._asking.ask(tenant, monitor, window)
        except ServiceError as error:
            return str(error)

    def _note(self, tenant: Tenant, monitor: Monitor, problem: str) -> None:
        """Keep why nothing was seen, for whoever looks at the monitor; it changes nothing else, and may fail."""
        now = self._clock.now()
        with contextlib.suppress(ServiceError):
            self._monitors.amend(tenant, monitor, lambda held: replace(held, problem=problem, problem_at=held.problem_at or now))

    def _count(self, done: Evaluation) -> None:
        if not done.repeated:
            self._metrics.count("wa_monitors_evaluated_total", outcome=done.outcome)
            self._metrics.set("wa_monitor_lag_seconds", max(0.0, (self._clock.now() - done.window.end).total_seconds()))


def _sighting(seen: Observation, window: Window) -> Sighting:
    return Sighting(window.end, seen.breached, seen.fingerprint)


def _policy(monitor: Monitor) -> Policy:
    return Policy(monitor.consecutive_breaches, timedelta(seconds=monitor.cooldown_s))


def _named(transition: Transition) -> str:
    return f"{transition.before.value}_to_{transition.after.value}"
