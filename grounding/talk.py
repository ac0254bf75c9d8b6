"""What one run said to language models, what it cost, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grounding.budget import Spending
from runtime.clock import Deadline

SHARE_OF_TIME = 0.5
"""Of the time that is left, what one answer may take: the run must still be able to go on without it."""


@dataclass(slots=True)
class Talk:
    """One per run. ``lost`` says by role what failed and what that changed; ``attempts`` are those since the last step took them."""

    run_id: str
    spending: Spending
    lost: dict[str, list[str]] = field(default_factory=dict)
    attempts: list[Mapping[str, Any]] = field(default_factory=list)

    def deadline(self, timeout_s: float) -> Deadline:
        """For one answer: at most ``timeout_s``, and never all that is left of the run."""
        left = self.spending.deadline.remaining_s()
        return Deadline.after(min(timeout_s, left * SHARE_OF_TIME), self.spending.clock)

    def lose(self, role: str, what: str) -> None:
        """Say once that something was lost."""
        told = self.lost.setdefault(role, [])
        if what not in told:
            told.append(what)

    def note(self, **found: object) -> None:
        """Add what became of the latest answer to its attempt."""
        self.attempts[-1] = {**self.attempts[-1], **found}

    def taken(self) -> dict[str, Any]:
        """The attempts as detail of the step they belong to; nothing when nobody was asked."""
        attempts, self.attempts = self.attempts, []
        return {"llm": attempts} if attempts else {}

    @property
    def degraded(self) -> dict[str, str]:
        """What an answer says about it; empty when all went well."""
        told = [what for role in self.lost.values() for what in role]
        return {"llm": "; ".join(told)} if told else {}
