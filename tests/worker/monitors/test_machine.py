"""The machine: every arrow of the diagram, and what must hold whatever comes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.monitors.machine import (
    ALLOWED,
    REMEMBERED_WINDOWS,
    Place,
    Policy,
    Sighting,
    Standing,
    State,
    Step,
    acknowledged,
    advanced,
    step,
)

T0 = datetime(2026, 11, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
OK, PENDING, FIRING, RESOLVED = State


def at(hours: float) -> datetime:
    return T0 + hours * HOUR


def seen(hour: float, breached: bool, fingerprint: str = "") -> Sighting:
    return Sighting(at(hour), breached, (fingerprint or f"f{hour}") if breached else "")


def run(breaches: str, policy: Policy) -> list[Step]:
    """One step an hour: ``#`` breaches, ``.`` is clear, ``?`` is no observation."""
    steps, standing = [], Standing()
    for hour, sign in enumerate(breaches):
        done = step(standing, None if sign == "?" else seen(hour, sign == "#"), at(hour), policy)
        steps.append(done)
        standing = done.standing
    return steps


def states(steps: list[Step]) -> str:
    return " ".join(done.standing.state.value for done in steps)


def digests(steps: list[Step]) -> list[int]:
    return [hour for hour, done in enumerate(steps) if done.digest_for is not None]


@pytest.mark.parametrize(
    ("before", "breached", "needed", "after"),
    [
        (Place(OK), False, 1, Place(OK)),
        (Place(OK), True, 1, Place(FIRING, 1)),
        (Place(OK), True, 2, Place(PENDING, 1)),
        (Place(PENDING, 1), False, 2, Place(OK)),
        (Place(PENDING, 1), True, 2, Place(FIRING, 2)),
        (Place(PENDING, 1), True, 3, Place(PENDING, 2)),
        (Place(FIRING, 2), True, 2, Place(FIRING, 2)),
        (Place(FIRING, 2), False, 2, Place(RESOLVED)),
        (Place(RESOLVED), False, 2, Place(OK)),
        (Place(RESOLVED), True, 2, Place(PENDING, 1)),
        (Place(RESOLVED), True, 1, Place(FIRING, 1)),
    ],
)
def test_every_arrow_of_the_diagram(before: Place, breached: bool, needed: int, after: Place) -> None:
    assert advanced(before, Policy(needed), breached=breached) == after


@pytest.mark.parametrize(
    ("looks", "needed", "expected", "told"),
    [
        ("#.#.#.", 2, "pending ok pending ok pending ok", []),
        ("##.##.", 2, "pending firing resolved pending firing resolved", [1]),
        ("######", 2, "pending firing firing firing firing firing", [1]),
        ("#####", 1, "firing firing firing firing firing", [0]),
        ("#?#", 2, "pending pending firing", [2]),
        ("#?.", 1, "firing firing resolved", [0]),
        ("#..", 1, "firing resolved ok", [0]),
        ("...", 1, "ok ok ok", []),
        ("#########", 1, "firing firing firing firing firing firing firing firing firing", [0, 6]),
        ("#.......#", 1, "firing resolved ok ok ok ok ok ok firing", [0, 8]),
    ],
)
def test_a_series_of_looks(looks: str, needed: int, expected: str, told: list[int]) -> None:
    steps = run(looks, Policy(needed, 6 * HOUR))
    assert states(steps) == expected
    assert digests(steps) == told


def test_no_observation_changes_nothing() -> None:
    firing = run("##", Policy(2))[-1].standing
    assert step(firing, None, at(9), Policy(2)) == Step(firing)


def test_a_transition_tells_both_states_and_when() -> None:
    transition = run("#", Policy(1))[0].transition
    assert transition is not None
    assert (transition.before, transition.after, transition.at) == (OK, FIRING, T0)


def test_the_same_documents_are_told_of_once_however_long_it_lasts() -> None:
    standing, policy, told = Standing(), Policy(1, HOUR), 0
    for hour in range(20):
        done = step(standing, seen(hour, True, "same"), at(hour), policy)
        standing, told = done.standing, told + (done.digest_for is not None)
    assert told == 1


def test_the_same_window_seen_twice_counts_once() -> None:
    policy = Policy(2)
    once = step(Standing(), seen(0, True), at(0), policy).standing
    again = step(once, seen(0, True), at(0.5), policy)
    assert again == Step(once)
    assert again.standing.state is PENDING


def test_acknowledging_takes_resolved_to_ok_and_nothing_else() -> None:
    policy = Policy(2)
    by_state = {s.state: s for s in (done.standing for done in run("##.", policy))} | {OK: Standing()}
    for state, standing in by_state.items():
        step_made = acknowledged(standing, at(9))
        assert step_made.standing.state is (OK if state is RESOLVED else state)
        assert (step_made.transition is not None) is (state is RESOLVED)


@pytest.mark.parametrize(
    ("looks", "hour", "breached", "needed", "expected", "told"),
    [
        ("..", 1, True, 1, FIRING, 1),  # the latest window, whose documents came late
        ("..", 0, True, 1, OK, 0),  # it fired and ended before anybody saw it, and is told of all the same
        (".#", 0, True, 2, FIRING, 1),  # the second of two breaches is found to be one
        ("#", 0, False, 2, OK, None),  # its documents were deleted
        ("##", 1, False, 2, RESOLVED, None),  # what was announced never ends in silence
        ("##", 0, False, 2, RESOLVED, None),
        ("#.", 1, True, 1, FIRING, None),  # it never stopped; its digest is out already
        (".", 0, False, 1, OK, None),
    ],
)
def test_late_documents_change_a_window(looks: str, hour: int, breached: bool, needed: int, expected: State, told: int | None) -> None:
    policy = Policy(needed, 6 * HOUR)
    standing = run(looks, policy)[-1].standing
    late = step(standing, seen(hour, breached, "late"), at(len(looks)), policy)
    assert late.standing.state is expected
    assert late.digest_for == (None if told is None else at(told))
    assert late.transition is None or (late.transition.before, late.transition.after) in ALLOWED
    assert step(late.standing, seen(hour, breached, "late"), at(9), policy) == Step(late.standing)


def test_more_documents_in_a_window_that_breached_are_no_second_digest() -> None:
    policy = Policy(1, timedelta(0))
    done = step(Standing(), seen(0, True, "ten"), at(0), policy)
    standing = replace(done.standing, looks=(replace(done.standing.looks[0], digest_id="dig_1"),))
    late = step(standing, seen(0, True, "eleven"), at(5), policy)
    assert late.digest_for is None
    assert step(late.standing, seen(1, True, "eleven"), at(6), policy).digest_for is None


def test_a_window_older_than_all_that_are_remembered_changes_nothing() -> None:
    policy = Policy(1)
    standing = run("." * (REMEMBERED_WINDOWS + 3), policy)[-1].standing
    assert step(standing, seen(0, True), at(20), policy) == Step(standing)


def test_a_clock_that_steps_back_fires_nothing_twice() -> None:
    policy = Policy(1, 6 * HOUR)
    standing = run("....#", policy)[-1].standing
    for hour in (1, 2, 3, 4):
        done = step(standing, seen(hour, True, "again"), at(hour), policy)
        assert done.digest_for is None
        standing = done.standing
    assert standing.state is FIRING


def test_a_clock_that_was_years_ahead_does_not_silence_a_monitor_for_years() -> None:
    policy = Policy(1, 6 * HOUR)
    ahead = step(Standing(), seen(50_000, True, "ahead"), at(50_000), policy).standing
    back = step(ahead, seen(0, True, "back"), at(0), policy)
    assert back.digest_for is None, "the cooldown begins again at the step"
    later = step(back.standing, seen(7, True, "later"), at(7), policy)
    assert later.digest_for == at(7)


looks = st.lists(
    st.tuples(
        st.integers(0, 40),  # which window
        st.one_of(st.none(), st.booleans()),  # no observation, clear, breached
        st.integers(0, 5),  # which documents
        st.integers(-1, 6),  # hours the clock moves, backwards too
    ),
    max_size=60,
)
policies = st.builds(Policy, st.integers(1, 4), st.integers(0, 12).map(lambda hours: hours * HOUR))


@settings(max_examples=400, deadline=None)
@given(looks, policies)
def test_whatever_comes_states_are_legal_and_no_documents_are_told_of_twice(
    series: list[tuple[int, bool | None, int, int]], policy: Policy
) -> None:
    standing, now, told = Standing(), at(100), list[tuple[datetime, str]]()
    for window, breached, documents, moved in series:
        now += moved * HOUR
        sighting = None if breached is None else seen(window, breached, f"d{documents}")
        done = step(standing, sighting, now, policy)
        assert done.standing.state in set(State)
        assert (done.transition is not None) == (done.standing.state is not standing.state)
        if done.transition is not None:
            assert (done.transition.before, done.transition.after) in ALLOWED
            assert done.transition.before is standing.state
        if done.digest_for is not None:
            look = done.standing.look(done.digest_for)
            assert look is not None
            assert look.seen.breached
            told.append((now, look.seen.fingerprint))
        standing = done.standing
    assert len({fingerprint for _, fingerprint in told}) == len(told)
    for (earlier, _), (later, _) in pairwise(told):
        assert later - earlier >= policy.cooldown


@settings(max_examples=300, deadline=None)
@given(st.lists(st.booleans(), max_size=40), policies)
def test_it_fires_only_after_enough_breaches_in_a_row(series: list[bool], policy: Policy) -> None:
    standing, in_a_row = Standing(), 0
    for hour, breached in enumerate(series):
        before = standing.state
        in_a_row = in_a_row + 1 if breached else 0
        standing = step(standing, seen(hour, breached), at(hour), policy).standing
        if standing.state is FIRING and before is not FIRING:
            assert in_a_row >= policy.consecutive_breaches
        if in_a_row >= policy.consecutive_breaches:
            assert standing.state is FIRING
        if not breached:
            assert standing.state in (OK, RESOLVED)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=8), policies, st.randoms(use_true_random=False))
def test_windows_delivered_any_number_of_times_are_as_delivered_once(series: list[bool], policy: Policy, randomness: object) -> None:
    once = Standing()
    often = Standing()
    for hour, breached in enumerate(series):
        once = step(once, seen(hour, breached), at(hour), policy).standing
        often = step(often, seen(hour, breached), at(hour), policy).standing
        for earlier in range(hour + 1):
            again = step(often, seen(earlier, series[earlier]), at(hour), policy)
            assert again.digest_for is None
            often = again.standing
    assert once == often
