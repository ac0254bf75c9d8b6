"""Amounts by a measure."""

import pytest

from grounding.answer_types import keeps_demands
from grounding.answers import RefusalReason
from grounding.rates import rates
from tests.grounding.desk import Desk, cited, record


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("3 EUR per hour", {"hour"}),
        ("12 EUR/month, or an annual fee", {"month", "year"}),
        ("What does a day cost?", {"day"}),
        ("The yearly plan", {"year"}),
        ("It costs 3 EUR.", set()),
    ],
)
def test_measures_are_read(text: str, measures: set[str]) -> None:
    assert rates(text) == measures


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("How much does parking cost per week?", "Parking is 3 EUR per hour."),
        ("How much does parking cost?", "Wifi in the lounge is free, the parking garage closes at ten."),
        ("When does the gym close?", "The gym opens at 6am on weekdays."),
        ("How many cards may I make per day?", "I need to make several cards per day."),
    ],
)
def test_another_measure_another_clause_and_the_opposite_are_no_answer(question: str, sentence: str) -> None:
    assert not keeps_demands(question, sentence, 0.9)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("How much does parking cost per hour?", "Parking is 3 EUR per hour, 15 EUR per day."),
        ("How much does parking cost per day?", "Parking is 15 EUR."),
        ("How much does parking cost?", "Parking is free, the gate closes at ten."),
        ("When does the gym close?", "The gym opens at 6am and closes at 10pm."),
    ],
)
def test_what_is_asked_for_stays(question: str, sentence: str) -> None:
    assert keeps_demands(question, sentence, 0.9)


def test_prices_by_the_hour_answer_no_question_by_the_week(desk: Desk) -> None:
    desk.load(
        [record("lot", "parking is 3 EUR per hour at the harbour lot"), record("wifi", "wifi is free, the parking garage closes at 22:00")]
    )
    assert "lot" in cited(desk.ask("How much does parking cost per hour?"))
    refusal = desk.ask("How much does parking cost per week?").refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.NOT_ANSWERED
    assert cited(desk.ask("Is the parking free?")) == {"lot"}
