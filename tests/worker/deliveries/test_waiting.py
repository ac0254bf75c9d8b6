"""The wait between attempts: grown, jittered downwards, never sooner than was asked, never longer than six hours."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.deliveries.waiting import LONGEST_WAIT_S, wait_s


@pytest.mark.parametrize(("attempts", "longest_s"), [(1, 60), (2, 240), (3, 960), (4, 3840), (5, 15_360), (6, 21_600), (50, 21_600)])
def test_it_grows_fourfold_up_to_a_limit(attempts: int, longest_s: float) -> None:
    waits = [wait_s(attempts, random.Random(seed)) for seed in range(50)]
    assert all(longest_s / 2 <= wait <= longest_s for wait in waits)
    assert len(set(waits)) > 40


@given(st.integers(1, 100), st.integers(), st.none() | st.floats(0, 1e12))
def test_what_was_asked_for_is_kept_to_within_the_limit(attempts: int, seed: int, asked_s: float | None) -> None:
    wait = wait_s(attempts, random.Random(seed), asked_s)
    assert min(asked_s or 0.0, LONGEST_WAIT_S) <= wait <= LONGEST_WAIT_S
