"""The steps of one run, each on record before it can fail."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from grounding.answers import Claim, Refusal, Step, Trace
from grounding.budget import Spending
from grounding.talk import Talk
from runtime.clock import Clock
from runtime.errors import BudgetExceeded
from runtime.tracing import span

STARTED, DONE, FAILED, STOPPED = "started", "done", "failed", "stopped"


@dataclass(slots=True)
class OpenStep:
    """A step that is still running. What it finds out goes into ``detail``; ``outcome`` stays ``started`` until it is known."""

    name: str
    started_ms: float
    ms: float = 0.0
    outcome: str = STARTED
    detail: dict[str, Any] = field(default_factory=dict)

    def closed(self) -> Step:
        """The step as it stands."""
        return Step(self.name, self.started_ms, self.ms, self.outcome, dict(self.detail))


@dataclass(slots=True)
class Recorder:
    """Keeps the steps of one run in order and counts them against its budget."""

    run_id: str
    question: str
    clock: Clock
    spending: Spending
    created_at: datetime
    plan: Mapping[str, Any] = field(default_factory=dict)
    steps: list[OpenStep] = field(default_factory=list)
    talk: Talk = field(init=False)

    def __post_init__(self) -> None:
        self.talk = Talk(self.run_id, self.spending)

    @contextmanager
    def step(self, name: str) -> Iterator[OpenStep]:
        """Put a step on record, then run it. Its outcome is ``done`` unless it says another, ``failed`` when it raises, ``stopped`` at a ceiling.

        Raises:
            BudgetExceeded: no step is left, or no time.
        """
        opened = OpenStep(name, self._ms())
        self.steps.append(opened)
        with span(f"step {name}", step=name) as told:
            try:
                self.spending.step(name)
                yield opened
            except BaseException as error:
                opened.outcome = STOPPED if isinstance(error, BudgetExceeded) else FAILED
                opened.detail["error"] = type(error).__name__
                raise
            else:
                opened.outcome = DONE if opened.outcome == STARTED else opened.outcome
            finally:
                opened.ms = round(self._ms() - opened.started_ms, 3)
                told.set(outcome=opened.outcome)
                told.numbers(opened.detail)

    def trace(self, outcome: str, claims: tuple[Claim, ...] = (), refusal: Refusal | None = None) -> Trace:
        """Everything on record so far."""
        return Trace(
            run_id=self.run_id,
            question=self.question,
            plan=dict(self.plan),
            steps=tuple(step.closed() for step in self.steps),
            budget=self.spending.as_json(),
            created_at=self.created_at,
            outcome=outcome,
            claims=claims,
            refusal=refusal,
        )

    def done(self) -> tuple[str, ...]:
        """Names of the steps that were completed."""
        return tuple(step.name for step in self.steps if step.outcome not in (STARTED, FAILED, STOPPED))

    def _ms(self) -> float:
        return round(self.spending.seconds() * 1000, 3)
