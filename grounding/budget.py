"""The ceilings of one run: steps, calls of each tool, tokens of evidence and wall clock, checked before every step."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from runtime.clock import Clock, Deadline
from runtime.errors import BudgetExceeded, InvalidRequest
from runtime.settings import Settings

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Budget:
    """Ceilings. ``max_tokens`` counts about four characters of evidence as one, and holds once more for what language models read and write;
    ``timeout_s`` is wall clock."""

    max_steps: int
    max_calls_per_tool: int
    max_tokens: int
    timeout_s: float


def budget_of(
    settings: Settings,
    *,
    max_steps: int | None = None,
    max_calls_per_tool: int | None = None,
    max_tokens: int | None = None,
    timeout_s: float | None = None,
) -> Budget:
    """The settings' ceilings, lowered where a request asks for less. A request can never raise them.

    Raises:
        InvalidRequest: names the ceiling that is not a positive number.
    """
    return Budget(
        max_steps=_whole(max_steps, settings.ask_max_steps, "max_steps"),
        max_calls_per_tool=_whole(max_calls_per_tool, settings.ask_max_calls_per_tool, "max_calls_per_tool"),
        max_tokens=_whole(max_tokens, settings.ask_max_tokens, "max_tokens"),
        timeout_s=_seconds(timeout_s, settings.ask_timeout_s),
    )


@dataclass(slots=True)
class Spending:
    """What one run has used of its budget so far."""

    budget: Budget
    clock: Clock
    deadline: Deadline
    started_s: float
    steps: int = 0
    tokens: int = 0
    llm_tokens: int = 0
    calls: Counter[str] = field(default_factory=Counter)

    @classmethod
    def start(cls, budget: Budget, clock: Clock) -> "Spending":
        """Nothing used, and the clock running."""
        return cls(budget, clock, Deadline.after(budget.timeout_s, clock), clock.seconds())

    def step(self, name: str) -> None:
        """Count a step before it begins.

        Raises:
            BudgetExceeded: no step is left, or no time.
        """
        if self.steps >= self.budget.max_steps:
            raise BudgetExceeded(f"the step “{name}” would be one more than the {self.budget.max_steps} allowed", ceiling="steps")
        self.check_time(name)
        self.steps += 1

    def call(self, tool: str) -> None:
        """Count a call of a tool before it is made.

        Raises:
            BudgetExceeded: no call of this tool is left, or no time.
        """
        if self.calls[tool] >= self.budget.max_calls_per_tool:
            limit = self.budget.max_calls_per_tool
            raise BudgetExceeded(f"{tool} would be called more than the {limit} times allowed", ceiling="calls")
        self.check_time(tool)
        self.calls[tool] += 1

    def read(self, tokens: int) -> None:
        """Count evidence before it is read.

        Raises:
            BudgetExceeded: it is more than what is left.
        """
        if self.tokens + tokens > self.budget.max_tokens:
            raise BudgetExceeded(
                f"reading {tokens} more tokens of evidence would exceed the {self.budget.max_tokens} allowed", ceiling="tokens"
            )
        self.tokens += tokens

    def about_to_say(self, tokens: int) -> None:
        """Before a prompt is sent.

        Raises:
            BudgetExceeded: it is more than what language models have left.
        """
        if tokens > self.llm_tokens_left():
            raise BudgetExceeded(f"a prompt of {tokens} tokens would exceed the {self.budget.max_tokens} allowed", ceiling="tokens")

    def said(self, tokens: int) -> None:
        """Count what a language model read and wrote. It has an account of its own under the same ceiling, so that it takes nothing from evidence."""
        self.llm_tokens += tokens

    def llm_tokens_left(self) -> int:
        """How many tokens may still go to and come from language models; never negative."""
        return max(0, self.budget.max_tokens - self.llm_tokens)

    def tokens_left(self) -> int:
        """How many tokens of evidence may still be read."""
        return self.budget.max_tokens - self.tokens

    def check_time(self, doing: str) -> None:
        """Stop before ``doing`` when the time is over.

        Raises:
            BudgetExceeded: the wall clock is spent.
        """
        if self.deadline.remaining_s() <= 0.0:
            raise BudgetExceeded(f"the {self.budget.timeout_s:g} seconds allowed were over before “{doing}”", ceiling="seconds")

    def seconds(self) -> float:
        """Wall clock used."""
        return self.clock.seconds() - self.started_s

    def as_json(self) -> Mapping[str, Any]:
        """What was used beside what was allowed, for the trace."""
        limits = self.budget
        spoken = {"llmTokens": self.llm_tokens} if self.llm_tokens else {}
        return {
            "used": {
                "steps": self.steps,
                "calls": dict(sorted(self.calls.items())),
                "tokens": self.tokens,
                **spoken,
                "seconds": self.seconds(),
            },
            "limits": {
                "steps": limits.max_steps,
                "callsPerTool": limits.max_calls_per_tool,
                "tokens": limits.max_tokens,
                "seconds": limits.timeout_s,
            },
        }


def tokens_in(text: str) -> int:
    """About how many tokens a language model would count in ``text``; at least 1."""
    return max(1, -(-len(text) // CHARS_PER_TOKEN))


def _whole(asked: int | None, ceiling: int, field_name: str) -> int:
    if asked is None:
        return ceiling
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise InvalidRequest("must be a whole number of at least 1", field=field_name)
    return min(asked, ceiling)


def _seconds(asked: float | None, ceiling: float) -> float:
    if asked is None:
        return ceiling
    if isinstance(asked, bool) or not isinstance(asked, int | float) or not isfinite(asked) or asked <= 0:
        raise InvalidRequest("must be a positive number of seconds", field="timeout_s")
    return min(float(asked), ceiling)
