"""Ranges of time in questions, seen from Monday 30 November 2026."""

from datetime import date

import pytest

from grounding.periods import period_in, periods_in

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("How many complaints since March?", date(2026, 3, 1), None),
        ("How many since December?", date(2025, 12, 1), None),
        ("since 2025", date(2025, 1, 1), None),
        ("since Oct. 2025 please", date(2025, 10, 1), None),
        ("since last month", date(2026, 10, 1), None),
        ("What happened last week?", date(2026, 11, 23), date(2026, 11, 29)),
        ("What happened last month?", date(2026, 10, 1), date(2026, 10, 31)),
        ("How many documents are from October 2026?", date(2026, 10, 1), date(2026, 10, 31)),
        ("How many from 5 November?", date(2026, 11, 5), date(2026, 11, 5)),
        ("from October on chat", date(2026, 10, 1), date(2026, 10, 31)),
        ("from March on, how many", date(2026, 3, 1), None),
        ("complaints from March onwards", date(2026, 3, 1), None),
        ("from 1 March until now", date(2026, 3, 1), None),
        ("starting from March", date(2026, 3, 1), None),
        ("last quarter", date(2026, 7, 1), date(2026, 9, 30)),
        ("last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("in the last 7 days", date(2026, 11, 24), date(2026, 11, 30)),
        ("over the past two weeks", date(2026, 11, 17), date(2026, 11, 30)),
        ("this month about login", date(2026, 11, 1), date(2026, 11, 30)),
        ("this week", date(2026, 11, 30), date(2026, 11, 30)),
        ("in September 2026 customers said", date(2026, 9, 1), date(2026, 9, 30)),
        ("on 2026-05-03", date(2026, 5, 3), date(2026, 5, 3)),
        ("on 3rd of March 2026", date(2026, 3, 3), date(2026, 3, 3)),
        ("on March 3, 2026", date(2026, 3, 3), date(2026, 3, 3)),
        ("in Q3", date(2026, 7, 1), date(2026, 9, 30)),
        ("in Q4 2025", date(2025, 10, 1), date(2025, 12, 31)),
        ("between 1 March and 5 April", date(2026, 3, 1), date(2026, 4, 5)),
        ("from January to March 2026", date(2026, 1, 1), date(2026, 3, 31)),
        ("between November and February", date(2025, 11, 1), date(2026, 2, 28)),
        ("before June", None, date(2026, 5, 31)),
        ("until 2026-06-30", None, date(2026, 6, 30)),
        ("after 3 June", date(2026, 6, 4), None),
        ("yesterday", date(2026, 11, 29), date(2026, 11, 29)),
    ],
)
def test_a_range_is_read(question: str, since: date | None, until: date | None) -> None:
    found = period_in(question, TODAY)
    assert found is not None
    assert (found.since, found.until) == (since, until)
    assert found.text in question


@pytest.mark.parametrize(
    "question",
    [
        "Does login work after the October update?",
        "Since the October update nobody can sign in",
        "since October update",
        "May I ask something?",
        "today's update is slow",
        "the marching band",
        "on 31 February",
        "in 4012 cases",
        "How many days did it take?",
        "Does the battery last two days?",
    ],
)
def test_what_is_no_range_is_left_alone(question: str) -> None:
    assert period_in(question, TODAY) is None


def test_the_first_of_two_ranges_counts() -> None:
    found = period_in("since March or in June", TODAY)
    assert found is not None
    assert found.text == "since March"


def test_a_leap_day_back_a_year_stays_in_february() -> None:
    found = period_in("in the last 1 year", date(2028, 2, 29))
    assert found is not None
    assert found.since == date(2027, 3, 1)


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("more in June than in July", [(2026, 6), (2026, 7)]),
        ("Compare June and July", [(2026, 6), (2026, 7)]),
        ("in June or in July 2025", [(2025, 6), (2025, 7)]),
        ("this month and last month", [(2026, 11), (2026, 10)]),
        ("more or less", []),
    ],
)
def test_several_ranges_are_read_in_their_order(question: str, months: list[tuple[int, int]]) -> None:
    since = [period.since for period in periods_in(question, TODAY)]
    assert [(day.year, day.month) for day in since if day] == months
