"""Conditions: what is compared with what, and when too little is known to conclude anything."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.answers import Proof
from grounding.intents import Form, Intent
from grounding.question_parts import Part, Side
from grounding.topics import Topic
from search.documents import EVERYTHING
from worker.monitors.conditions import Baseline, Change, Condition, Count, Share, judged
from worker.monitors.sentences import because
from worker.monitors.window import window_ending


def proof(value: int, denominator: int = 1000) -> Proof:
    return Proof("documents", EVERYTHING, None, "UTC", value, denominator, (), None, 1)


@pytest.mark.parametrize(
    ("condition", "value", "breached"),
    [
        (Count(at_least=10), 9, False),
        (Count(at_least=10), 10, True),
        (Count(at_most=3), 4, False),
        (Count(at_most=3), 3, True),
        (Count(at_most=0), 0, True),
    ],
)
def test_counts(condition: Count, value: int, breached: bool) -> None:
    found = judged(condition, proof(value))
    assert (found.breached, found.observed, found.unit) == (breached, float(value), "documents")


@pytest.mark.parametrize(
    ("condition", "value", "whole", "breached", "caveat"),
    [
        (Share(at_least=0.2), 20, 100, True, False),
        (Share(at_least=0.2), 19, 100, False, False),
        (Share(at_most=0.2), 20, 100, True, False),
        (Share(at_least=0.2), 19, 19, False, True),
        (Share(at_least=0.2, min_documents=5), 5, 5, True, False),
        (Share(at_most=0.2), 0, 0, False, True),
    ],
)
def test_shares(condition: Share, value: int, whole: int, breached: bool, caveat: bool) -> None:
    found = judged(condition, proof(value, whole))
    assert (found.breached, bool(found.caveat)) == (breached, caveat)


@pytest.mark.parametrize(
    ("condition", "value", "before", "windows", "breached", "caveat"),
    [
        (Change(0.5), 100, 50, 1, True, ""),
        (Change(0.5), 74, 50, 1, False, ""),
        (Change(0.5), 21, 14, 1, False, "chance"),
        (Change(0.5), 12, 4, 1, False, "documents"),
        (Change(0.5), 40, 0, 1, True, ""),
        (Change(0.5), 100, 350, 7, True, ""),
        (Change(0.5), 60, 350, 7, False, ""),
        (Change(0.5, "down"), 25, 100, 1, True, ""),
        (Change(0.5, "down"), 60, 100, 1, False, ""),
        (Change(1.0, "down"), 0, 100, 1, True, ""),
        (Change(0.5), 0, 0, 1, False, "documents"),
    ],
)
def test_changes_of_counts(condition: Change, value: int, before: int, windows: int, breached: bool, caveat: str) -> None:
    found = judged(condition, proof(value), Baseline(proof(before), windows))
    assert found.breached is breached
    assert caveat in found.caveat
    assert bool(found.caveat) is bool(caveat)
    assert found.baseline == before / windows


def test_a_share_does_not_rise_because_there_is_more_of_everything() -> None:
    doubled = Baseline(proof(50, 500), 1)
    assert judged(Change(0.5, of="count"), proof(100, 1000), doubled).breached
    assert not judged(Change(0.5, of="share"), proof(100, 1000), doubled).breached
    assert judged(Change(0.5, of="share"), proof(200, 1000), doubled).breached
    assert "chance" in judged(Change(0.5, of="share"), proof(4, 20), Baseline(proof(2, 20), 1)).caveat


def test_without_a_time_before_nothing_has_changed() -> None:
    found = judged(Change(0.5), proof(1000), None)
    assert not found.breached
    assert "no whole window before" in found.caveat


@settings(deadline=None)
@given(
    st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 60), st.sampled_from(["up", "down"]), st.sampled_from(["count", "share"])
)
def test_changes_are_finite_and_never_rest_on_too_few(value: int, before: int, windows: int, direction: str, of: str) -> None:
    condition = Change(0.3, direction, of, windows)  # type: ignore[arg-type]
    found = judged(condition, proof(value, 20_000), Baseline(proof(before, 20_000), windows))
    numbers = (found.observed, found.threshold, found.baseline)
    assert all(number is not None and abs(number) < 1e9 for number in numbers)
    if found.breached and of == "count":
        assert max(value, before / windows) >= condition.min_documents


@pytest.mark.parametrize(
    ("condition", "value", "whole", "baseline", "told"),
    [
        (Share(at_least=0.01), 4, 491, None, "(0.8 %); the monitor fires at 1 % or more."),
        (Share(at_least=0.125), 124, 1000, None, "(12.4 %); the monitor fires at 12.5 % or more."),
        (Share(at_least=0.2), 200, 1000, None, "(20 %); the monitor fires at 20 % or more."),
        (Share(at_least=0.2), 499, 2500, None, "(19.96 %); the monitor fires at 20 % or more."),
        (Share(at_least=0.005), 100, 1000, None, "(10 %); the monitor fires at 0.5 % or more."),
        (Change(0.5, of="share"), 40, 10_000, (20, 10_000), "(0.4 % against 0.2 % before); the monitor fires at 50 % more than before"),
        (Change(0.015), 100, 1000, (50, 1000), "(100 against 50 before); the monitor fires at 1.5 % more than before"),
    ],
)
def test_what_was_seen_and_what_was_asked_for_are_told_apart(
    condition: Condition, value: int, whole: int, baseline: tuple[int, int] | None, told: str
) -> None:
    counted = proof(value, whole)
    judgement = judged(condition, counted, Baseline(proof(*baseline), 1) if baseline else None)  # type: ignore[arg-type]
    topic = Topic(Part("", Intent.COUNT, Form.FACT, EVERYTHING), Side(None, "crash", "crash"))
    assert told in because(condition, judgement, topic, (counted,), window_ending(datetime.fromisoformat("2026-11-30T00:00Z"), 86_400))
