"""Ceilings of a run."""

from datetime import UTC, datetime

import pytest

from grounding.budget import Budget, Spending, budget_of, tokens_in
from runtime.clock import SettableClock
from runtime.errors import BudgetExceeded, InvalidRequest
from runtime.settings import read_settings

SMALL = Budget(max_steps=2, max_calls_per_tool=1, max_tokens=10, timeout_s=5.0)


def spending(clock: SettableClock | None = None) -> Spending:
    return Spending.start(SMALL, clock or SettableClock(datetime(2026, 11, 30, tzinfo=UTC)))


def test_a_request_lowers_ceilings_and_never_raises_them() -> None:
    settings = read_settings({})
    assert budget_of(settings) == Budget(
        settings.ask_max_steps, settings.ask_max_calls_per_tool, settings.ask_max_tokens, settings.ask_timeout_s
    )
    lowered = budget_of(settings, max_steps=2, max_tokens=10**9, timeout_s=0.5)
    assert (lowered.max_steps, lowered.max_tokens, lowered.timeout_s) == (2, settings.ask_max_tokens, 0.5)


@pytest.mark.parametrize("field", ["max_steps", "max_calls_per_tool", "max_tokens", "timeout_s"])
@pytest.mark.parametrize("value", [0, -1, True, float("nan")])
def test_a_ceiling_that_is_no_positive_number_is_named(field: str, value: float) -> None:
    with pytest.raises(InvalidRequest) as raised:
        budget_of(read_settings({}), **{field: value})  # type: ignore[arg-type]
    assert raised.value.field == field


def test_the_step_too_many_names_its_ceiling() -> None:
    spent = spending()
    spent.step("plan")
    spent.step("retrieve")
    with pytest.raises(BudgetExceeded) as raised:
        spent.step("draft")
    assert raised.value.ceiling == "steps"
    assert spent.steps == 2


def test_each_tool_has_calls_of_its_own() -> None:
    spent = spending()
    spent.call("search")
    spent.call("aggregate")
    with pytest.raises(BudgetExceeded) as raised:
        spent.call("search")
    assert raised.value.ceiling == "calls"
    assert "search" in str(raised.value)


def test_tokens_are_counted_before_they_are_read() -> None:
    spent = spending()
    spent.read(8)
    with pytest.raises(BudgetExceeded) as raised:
        spent.read(3)
    assert raised.value.ceiling == "tokens"
    assert (spent.tokens, spent.tokens_left()) == (8, 2)


def test_time_is_checked_before_each_step_and_call() -> None:
    clock = SettableClock(datetime(2026, 11, 30, tzinfo=UTC))
    spent = spending(clock)
    clock.elapsed_s = 5.0
    for attempt in (lambda: spent.step("draft"), lambda: spent.call("search")):
        with pytest.raises(BudgetExceeded) as raised:
            attempt()
        assert raised.value.ceiling == "seconds"


def test_what_was_used_stands_beside_what_was_allowed() -> None:
    spent = spending()
    spent.step("plan")
    spent.call("search")
    assert spent.as_json() == {
        "used": {"steps": 1, "calls": {"search": 1}, "tokens": 0, "seconds": 0.0},
        "limits": {"steps": 2, "callsPerTool": 1, "tokens": 10, "seconds": 5.0},
    }


@pytest.mark.parametrize(("text", "tokens"), [("", 1), ("abcd", 1), ("abcde", 2), ("x" * 400, 100)])
def test_four_characters_are_about_one_token(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens
