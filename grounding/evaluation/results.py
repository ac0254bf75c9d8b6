"""What came of one case: ids, numbers and the set's own words. Text of documents stays in traces, which withhold it once a document is deleted."""

from dataclasses import dataclass
from typing import Literal

from grounding.evaluation.cases import Expected

Ended = Literal["answered", "refused", "error"]

Check = Literal["error", "outcome", "reason", "fact", "absent", "count", "series", "documents", "quote", "uncited"]
"""What was looked at: how the run ended, why it refused, texts that must (not) be there, numbers, which documents, and whether quotes are true."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as expected, in a sentence. ``invented`` when the answer asserts what it must not."""

    check: Check
    message: str
    invented: bool = False


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case asked and graded. ``citations`` are the documents cited, one entry per citation; ``ranking`` the documents found, best first.

    ``count`` is the first number the answer proves. ``groundedness`` is the verifier's report; ``supports`` the support of each claim that left.
    """

    case_id: str
    question: str
    kind: str
    language: str
    difficulty: str
    expected: Expected
    ended: Ended
    problems: tuple[Problem, ...] = ()
    reason: str | None = None
    citations: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    count: int | None = None
    groundedness: float | None = None
    supports: tuple[float, ...] = ()
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    model: str | None = None
    run_id: str | None = None

    @property
    def exact(self) -> bool:
        """Everything expected holds."""
        return not self.problems

    @property
    def invented(self) -> bool:
        """The answer asserts what it must not."""
        return any(problem.invented for problem in self.problems)
