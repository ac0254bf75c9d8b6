"""Ratings in questions."""

import pytest

from grounding.ratings import ratings_in
from tests.grounding.desk import Desk, record


@pytest.mark.parametrize(
    ("question", "worded"),
    [
        ("How many reviews have a rating below 3?", "a rating below 3"),
        ("How many reviews are rated 2 or less?", "a rating of 2 or less"),
        ("How many with a rating of at least 4", "a rating of 4 or more"),
        ("How many 1-star reviews are there?", "a rating of 1"),
        ("How many reviews with 5 stars?", "a rating of 5"),
        ("reviews with a rating between 2 and 4", "a rating from 2 to 4"),
        ("rating of 3", "a rating of 3"),
    ],
)
def test_a_range_of_ratings_is_read(question: str, worded: str) -> None:
    found = ratings_in(question)
    assert found is not None
    assert found.worded == worded


@pytest.mark.parametrize("question", ["How many reviews mention stars?", "How is it rated?", "How many messages since 2025?"])
def test_what_names_no_rating_is_left_alone(question: str) -> None:
    assert ratings_in(question) is None


def test_documents_are_counted_by_their_rating(desk: Desk) -> None:
    desk.load([record(f"r{n}", f"Review number {n} about wifi", rating=n) for n in range(1, 6)])
    outcome = desk.ask("How many reviews have a rating below 3?")
    assert outcome.answer is not None
    assert outcome.answer.text == "There are 2 documents with a rating below 3."
    outcome = desk.ask("How many 5-star reviews mention wifi?")
    assert outcome.answer is not None
    assert outcome.answer.text == "1 of 1 document with a rating of 5 contains “wifi”."


def test_feelings_are_not_counted(desk: Desk) -> None:
    desk.load([record(f"r{n}", f"Review number {n} about wifi", rating=n) for n in range(1, 6)])
    outcome = desk.ask("How many customers are unhappy?")
    assert outcome.refusal is not None
    assert "rating" in outcome.refusal.hint


def test_accounts_and_themes_are_counted_as_such(desk: Desk) -> None:
    desk.load([record(f"r{n}", f"Review number {n}", account_id=f"a{n % 2}", theme_id=f"t{n % 3}") for n in range(6)])
    answers = [desk.ask(question).answer for question in ("How many accounts are there?", "How many themes are there?")]
    assert [answer.text for answer in answers if answer] == ["There are 2 accounts in 6 documents.", "There are 3 themes in 6 documents."]
