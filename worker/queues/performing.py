"""One attempt at one piece of work, whoever asked for it: done, to be tried again, or given up as a dead letter."""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from runtime.clock import Clock, Stopwatch
from runtime.errors import ServiceError, Unavailable
from runtime.settings import Settings
from runtime.telemetry import Metrics, correlated, correlation_id, logger
from runtime.tracing import Carrier, carrier, span
from search.ports import StateStore
from worker.duties import Duty, Work
from worker.queues.attempts import Again, Attempt, GivenUp, patience
from worker.queues.dead_letters import DeadLetters


class Working(Protocol):
    """What running duties needs of the service."""

    @property
    def settings(self) -> Settings:
        """As read at start."""
        ...

    @property
    def clock(self) -> Clock:
        """Time."""
        ...

    @property
    def metrics(self) -> Metrics:
        """Where work is counted."""
        ...

    @property
    def state(self) -> StateStore:
        """The truth about what is due."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """What is done inside is done with one embedder and its engine."""
        ...

    @property
    def duties(self) -> Mapping[str, Duty]:
        """Every duty by its name."""
        ...


Opening = Callable[[Settings], AbstractContextManager[Working]]
"""Opens the service in a process of its own, and closes it at the end."""


@dataclass(frozen=True, slots=True)
class Done:
    """Done, or not to be done; what follows is to be done at once, and belongs to the trace of ``origin``."""

    following: tuple[Work, ...] = ()
    origin: Carrier = field(default_factory=dict)


Ending = Done | Again | GivenUp


@dataclass(frozen=True, slots=True)
class Performer:
    """Makes attempts. Raises nothing: this is the task boundary, and one piece's failure is its own."""

    working: Working
    randomness: random.Random = field(default_factory=random.Random)

    def perform(self, work: Work, attempt: Attempt, parent: Carrier | None = None) -> Ending:
        """One attempt, counted and logged. Work that has a dead letter is left alone. ``parent`` is where in a trace it was asked for."""
        with (
            correlated(correlation_id(), duty=work.duty, tenant=work.tenant),
            span(f"work {work.duty}", kind="consumer", parent=parent, duty=work.duty, tenant=work.tenant, attempt=attempt.number) as told,
        ):
            watch = Stopwatch.start(self.working.clock)
            ending: Ending
            try:
                ending, outcome = self._attempted(work), "done"
            except Exception as error:  # noqa: BLE001 (the task boundary; a soft time limit arrives here too)
                ending, outcome = self._after(error, work, attempt)
                told.failed(type(error).__name__)
            told.set(outcome=outcome)
            self.working.metrics.count("wa_tasks_total", task=work.duty, outcome=outcome)
            self.working.metrics.observe("wa_task_duration_seconds", watch.elapsed_s(), task=work.duty)
        return ending

    def lost(self, work: Work, attempts: int) -> GivenUp:
        """Give up a piece that ends its process each time, so that nothing was raised."""
        given_up = GivenUp("its process ended before the work was done, each time", attempts)
        self._give_up(work, given_up)
        return given_up

    def _attempted(self, work: Work) -> Done:
        if DeadLetters(self.working.state, self.working.clock).silences(work):
            return Done()
        duty = self.working.duties.get(work.duty)
        if duty is None:  # an older worker during an upgrade, most likely: a newer one may take it
            raise LookupError(work.duty)
        with self.working.held():
            return Done(tuple(duty.do(work)), carrier())

    def _after(self, error: Exception, work: Work, attempt: Attempt) -> tuple[Ending, str]:
        ending = patience(self.working.settings).after(error, attempt, self.randomness)
        log = logger("worker").bind(key=work.key, attempt=attempt.number, outages=attempt.outages)
        if isinstance(ending, GivenUp):
            self._give_up(work, ending)
            return ending, "dead"
        log.warning("work will be tried again", error=type(error).__name__, wait_s=round(ending.wait_s, 3))
        return ending, "unavailable" if isinstance(error, Unavailable) else "failed"

    def _give_up(self, work: Work, given_up: GivenUp) -> None:
        """A letter that cannot be written is no loss: as long as there is none, the next tick finds the work again."""
        try:
            DeadLetters(self.working.state, self.working.clock).write(work, given_up.error, given_up.attempts)
            self.working.metrics.count("wa_dead_letters_total", task=work.duty)
            logger("worker").error("work was given up", duty=work.duty, key=work.key, error=given_up.error, attempts=given_up.attempts)
        except ServiceError as error:
            logger("worker").error("a dead letter could not be written", duty=work.duty, key=work.key, error=type(error).__name__)
