"""Ratings in questions."""

import pytest

from grounding.ratings import ratings_in
from tests.grounding.desk import Desk, record

STARS = [1] * 6 + [2] * 3 + [3] * 2 + [4] * 4 + [5] * 5


@pytest.fixture
def rated(desk: Desk) -> Desk:
    """Twenty reviews: 6, 3, 2, 4 and 5 of one to five stars."""
    texts = ("Shipping took long", "Support never replied", "The fees are high", "Angry about fees")
    desk.load([record(f"r{n}", f"{texts[n % 4]}, number {n}", rating=stars, account_id=f"c{n % 8}") for n, stars in enumerate(STARS)])
    return desk


def texts(desk: Desk, question: str) -> list[str]:
    answer = desk.ask(question).answer
    return [claim.text for claim in answer.claims] if answer else []


@pytest.mark.parametrize(
    ("said", "worded"),
    [
        ("have a rating below 3", ["a rating below 3"]),
        ("are rated 2 or less", ["a rating of 2 or less"]),
        ("with a rating of at least 4", ["a rating of 4 or more"]),
        ("have 4 or more stars", ["a rating of 4 or more"]),
        ("with 3 stars or fewer", ["a rating of 3 or less"]),
        ("have 3 stars or less", ["a rating of 3 or less"]),
        ("with fewer than 3 stars", ["a rating below 3"]),
        ("with no more than two stars", ["a rating of 2 or less"]),
        ("with not more than two stars", ["a rating of 2 or less"]),
        ("with no fewer than four stars", ["a rating of 4 or more"]),
        ("with up to three stars", ["a rating of 3 or less"]),
        ("under 3 stars", ["a rating below 3"]),
        ("over 3 stars", ["a rating above 3"]),
        ("exceeding 3 stars", ["a rating above 3"]),
        ("with a minimum of 4 stars", ["a rating of 4 or more"]),
        ("with a maximum of 2 stars", ["a rating of 2 or less"]),
        ("with less than or equal to 3 stars", ["a rating of 3 or less"]),
        ("with 4+ stars", ["a rating of 4 or more"]),
        ("with four stars and up", ["a rating of 4 or more"]),
        ("with exactly 4 stars", ["a rating of 4"]),
        ("of 4 out of 5 stars", ["a rating of 4"]),
        ("rated 4/5", ["a rating of 4"]),
        ("with one star", ["a rating of 1"]),
        ("with a rating of five", ["a rating of 5"]),
        ("between 2 and 4 stars", ["a rating from 2 to 4"]),
        ("with 2-4 stars", ["a rating from 2 to 4"]),
        ("with more than 2 and less than 5 stars", ["a rating above 2 and below 5"]),
        ("with at least 2 but no more than 4 stars", ["a rating from 2 to 4"]),
        ("with 1 or 2 stars", ["a rating of 1", "a rating of 2"]),
        ("with 1, 2 or 4 stars", ["a rating of 1", "a rating of 2", "a rating of 4"]),
        ("with a rating of 1 or a rating of 2", ["a rating of 1", "a rating of 2"]),
        ("that are not 5 stars", ["a rating below 5", "a rating above 5"]),
        ("without a rating of 5", ["a rating below 5", "a rating above 5"]),
        ("that don't have 3 stars", ["a rating below 3", "a rating above 3"]),
        ("other than 3 stars", ["a rating below 3", "a rating above 3"]),
        ("that are not rated at least 4", ["a rating below 4"]),
        ("not between 2 and 4 stars", ["a rating below 2", "a rating above 4"]),
        ("with a minimum rating of 4", ["a rating of 4 or more"]),
        ("with a maximum rating of 2", ["a rating of 2 or less"]),
        ("with a star rating of 4 or higher", ["a rating of 4 or more"]),
        ("that lack 5 stars", ["a rating below 5", "a rating above 5"]),
        ("with anything but 5 stars", ["a rating below 5", "a rating above 5"]),
        ("that fell short of 4 stars", []),
        ("with nearly 5 stars", []),
        ("that are not 1 or 2 stars", []),
        ("with 3 stars or no comment", []),
    ],
)
def test_the_ratings_of_a_question_are_read(said: str, worded: list[str]) -> None:
    found = ratings_in(f"How many reviews {said}?")
    assert found is not None
    assert [one.worded for one in found.ranges] == worded


@pytest.mark.parametrize(
    ("question", "counts"),
    [
        ("How many reviews with 3 stars or fewer?", [11]),
        ("How many customers gave us no more than two stars?", [9]),
        ("How many reviews have at least four stars?", [9]),
        ("How many reviews have more than 3 stars?", [9]),
        ("How many reviews have between 2 and 4 stars?", [9]),
        ("How many one star reviews were written in November?", [6]),
        ("How many five-star reviews are there?", [5]),
        ("How many reviews are not 5 stars?", [15]),
        ("How many reviews are without a rating of 3?", [9, 9]),
        ("How many reviews have 1 or 2 stars?", [6, 3]),
    ],
)
def test_bounds_alternatives_and_denials_of_ratings_are_counted_exactly(rated: Desk, question: str, counts: list[int]) -> None:
    answer = rated.ask(question).answer
    assert answer is not None
    assert [claim.proof.value for claim in answer.claims if claim.proof] == counts


@pytest.mark.parametrize(
    "question",
    [
        "How many reviews have nearly 5 stars?",
        "How many reviews have 3 stars or mention fees?",
        "How many reviews have not only 5 stars?",
        "How many reviews have a rating?",
        "What are the top themes in reviews with 1 or 2 stars?",
        "How many customers do not get a reply from support?",
        "How many customers never got a refund?",
        "How many reviews lack a mention of shipping?",
        "How many customers fail to get a refund?",
        "How many customers can't pay the fees?",
        "How many customers got no answer about fees?",
        "How many angry people complain about fees?",
        "How many people are frustrated about fees?",
        "How many disappointed customers mention shipping?",
        "How many people like the shipping?",
        "How many reviews mention more than 3 fees?",
    ],
)
def test_what_no_filter_can_say_is_refused_rather_than_counted_by_words(rated: Desk, question: str) -> None:
    refusal = rated.ask(question).refusal
    assert refusal is not None
    assert refusal.gate == "counting"


def test_a_feeling_is_counted_where_its_word_is_asked_for(rated: Desk) -> None:
    assert texts(rated, 'How many reviews mention "angry"?') == ["5 of 20 documents contain “angry”."]


def test_shares_and_majorities_of_ratings_are_those_of_all_documents(rated: Desk) -> None:
    assert texts(rated, "What share of reviews have 1 star?") == [
        "6 of 20 documents have a rating of 1 (30 %, 95 % interval 15 % to 52 %)."
    ]
    assert texts(rated, "Do most reviews have 5 stars?")[0].startswith("No, not more than half: 5 of 20 documents have a rating of 5")
    assert texts(rated, "Do most reviews have 3 stars or less?")[0].startswith("Yes, more than half: 11 of 20")


def test_those_who_wrote_are_counted_where_they_are_asked_for(rated: Desk) -> None:
    assert texts(rated, "How many different customers mention shipping?") == [
        "There are 2 accounts in 5 documents that contain “shipping”."
    ]
    assert texts(rated, "How many accounts wrote with 1 star?") == ["There are 6 accounts in 6 documents with a rating of 1."]


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
