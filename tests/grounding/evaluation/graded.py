"""Short ways to graded cases for tests."""

from dataclasses import replace
from typing import Any

from grounding.evaluation.cases import Case, Expected
from grounding.evaluation.results import CaseResult, Problem

ANSWER = Expected(answered=True)
REFUSAL = Expected(answered=False)


def result(case_id: str = "c-1", expected: Expected = ANSWER, ended: Any = "answered", **fields: Any) -> CaseResult:
    """One graded case; exact unless told otherwise."""
    plain = CaseResult(case_id, f"question {case_id}?", "fact", "en", "medium", expected, ended, seconds=1.0)
    return replace(plain, **fields)


def wrong(check: Any = "fact", *, invented: bool = False) -> tuple[Problem, ...]:
    """One problem."""
    return (Problem(check, f"{check} is wrong", invented),)


def case(case_id: str, question: str, expected: Expected = ANSWER, **fields: Any) -> Case:
    """One case."""
    return Case(case_id, question, expected, **fields)
