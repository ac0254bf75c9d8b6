"""How often work is tried: the policy alone."""

import random

import pytest

from runtime.errors import CircuitOpen, InvalidRequest, NotFound, Unavailable
from runtime.settings import read_settings
from worker.queues.attempts import MOST_OUTAGES, Again, Attempt, GivenUp, Patience, patience, told

PATIENCE = Patience(most=3, longest_wait_s=60.0)
SECRET = "the words of a customer"


def after(error: Exception, attempt: Attempt, *, seed: int = 1) -> Again | GivenUp:
    return PATIENCE.after(error, attempt, random.Random(seed))


def test_an_accident_is_tried_again_until_attempts_are_spent() -> None:
    assert isinstance(after(RuntimeError(), Attempt(1)), Again)
    assert isinstance(after(RuntimeError(), Attempt(2)), Again)
    assert after(RuntimeError(), Attempt(3)) == GivenUp("RuntimeError", 3)


@pytest.mark.parametrize("error", [InvalidRequest("is no number", field="threshold"), NotFound("no monitor m1")])
def test_an_error_raised_on_purpose_is_given_up_at_once(error: Exception) -> None:
    assert after(error, Attempt(1)) == GivenUp(f"{type(error).__name__}: {error}", 1)


@pytest.mark.parametrize("error", [Unavailable("down"), CircuitOpen("open")])
def test_an_outage_is_no_attempt_and_is_waited_for_longer(error: Exception) -> None:
    for outages in range(MOST_OUTAGES - 1):
        ending = after(error, Attempt(1, outages))
        assert isinstance(ending, Again)
        assert ending.outage
    assert isinstance(after(error, Attempt(1, MOST_OUTAGES - 1)), GivenUp)


def test_waits_grow_with_full_jitter_and_are_capped() -> None:
    waits = [[after(Unavailable("down"), Attempt(1, outages), seed=seed) for seed in range(200)] for outages in (0, 2, 6)]
    longest = [max(each.wait_s for each in these if isinstance(each, Again)) for these in waits]
    assert longest[0] <= 2.0 < longest[1] <= 8.0 < longest[2] <= 60.0
    assert min(each.wait_s for each in waits[2] if isinstance(each, Again)) < 5.0


def test_what_the_dependency_asked_for_is_respected_up_to_the_cap() -> None:
    asked = [after(Unavailable("down", retry_after_s=seconds), Attempt(1)) for seconds in (30.0, 600.0)]
    assert [each.wait_s for each in asked if isinstance(each, Again)] == [30.0, 60.0]


def test_nothing_waits_longer_than_a_tick() -> None:
    assert patience(read_settings({}, monitor_interval_s=5)).longest_wait_s == 5.0
    assert patience(read_settings({}, monitor_interval_s=3600)).longest_wait_s == 60.0


def test_a_dead_letter_shows_kind_and_place_of_an_accident_and_never_its_text() -> None:
    with pytest.raises(ValueError) as raised:
        int(SECRET)
    assert told(raised.value).startswith("ValueError at test_attempts.py:")
    assert SECRET not in told(raised.value)
    assert len(told(InvalidRequest("x" * 10_000))) <= 300
