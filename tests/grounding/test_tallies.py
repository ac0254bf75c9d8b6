"""Which questions count documents, and which ask for a number that a text may state."""

import pytest

from grounding.answers import RefusalReason
from grounding.intents import Intent
from tests.grounding.desk import Desk, cited, record
from tests.grounding.test_planning import part


@pytest.mark.parametrize(
    "question",
    [
        "How many people live in Lyon?",
        "What did most people vote for?",
        "Did most people vote for independence?",
        "What percentage of efficiency does the engine have?",
        "What percentage of customers are women?",
        "How many rooms does the hotel have?",
        "How many rooms does the customer have?",
        "How many reviews does the hotel have?",
        "How many customers does the bank have?",
        "How many records did the band sell?",
        "How many cases of measles were there in 2019?",
        "How many members does the parliament have?",
        "How many people died in 1348?",
        "How many items are in the box?",
        "How many text fields are on the form?",
        "How many messages can I send per month on the free plan?",
        "What was the number of people who lived in the city?",
        "What part of the app do users complain about?",
        "How often do people visit the tower?",
        "Do more people live in Lyon than in Nice?",
        "What is the most common blood type?",
        "What are the top three floors used for?",
        "Why did the car break down?",
        "Where is the Count of Monte Cristo kept?",
    ],
)
def test_a_number_of_the_world_is_a_question_of_fact(question: str) -> None:
    assert part(question).intent is Intent.EVIDENCE


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("How many customers complain about the fee?", Intent.COUNT),
        ("How many reviews complain about noise?", Intent.COUNT),
        ("How many tickets complain about noise?", Intent.COUNT),
        ("How many people complain about the pool?", Intent.COUNT),
        ("How many users have trouble with the login?", Intent.COUNT),
        ("How many customers cannot log in?", Intent.COUNT),
        ("How many customers lost their phone?", Intent.COUNT),
        ("How many customers are unhappy?", Intent.COUNT),
        ("How many guests mention the pool?", Intent.COUNT),
        ("How many people are waiting for card arrival?", Intent.COUNT),
        ("What share of tickets mention crashes?", Intent.COUNT),
        ("What percentage of complaints is about billing?", Intent.COUNT),
        ("What proportion of customers ask for a refund?", Intent.COUNT),
        ("Do most customers complain about the fee?", Intent.COUNT),
        ("How many tickets arrived in May?", Intent.COUNT),
        ("How many tickets did north write?", Intent.COUNT),
        ("How many tickets do we have about refunds?", Intent.COUNT),
        ("How many reviews praise the camera?", Intent.COUNT),
        ("How many records are there?", Intent.COUNT),
        ("How many cases since March 2026?", Intent.COUNT),
        ("How many customers do we have?", Intent.COUNT),
        ("How many?", Intent.COUNT),
        ("How many messages per week mention delivery?", Intent.TREND),
        ("How many mention refunds?", Intent.COUNT),
        ("How often do customers complain about billing?", Intent.COUNT),
        ("Count the messages about billing", Intent.COUNT),
        ("What do most users complain about?", Intent.TOP),
        ("What did most people say in the reviews?", Intent.TOP),
        ("What is the most common problem?", Intent.TOP),
        ("What is mentioned most often?", Intent.TOP),
        ("top 5", Intent.TOP),
        ("Give me a breakdown by theme", Intent.TOP),
        ("Do more customers complain about late delivery than about billing?", Intent.COMPARE),
    ],
)
def test_documents_and_what_their_writers_say_are_counted(question: str, intent: Intent) -> None:
    assert part(question).intent is intent


def test_a_number_that_a_text_states_is_quoted(desk: Desk) -> None:
    desk.load(
        [
            record("lyon", "About 520,000 people live in Lyon, on two rivers."),
            record("hotel", "The hotel has 42 rooms and a small garden."),
            record("noise", "The lift of the hotel is noisy."),
        ]
    )
    assert cited(desk.ask("How many people live in Lyon?")) == {"lyon"}
    assert cited(desk.ask("How many rooms does the hotel have?")) == {"hotel"}
    refusal = desk.ask("How many people live in Marseille?").refusal
    assert refusal is not None


def test_a_year_of_the_past_is_looked_for_in_the_text(desk: Desk) -> None:
    desk.load([record("chief", "General Moreau led the army in 1979."), record("later", "General Brun led the army in 1985.")])
    assert cited(desk.ask("Who led the army in 1979?")) == {"chief"}
    assert cited(desk.ask("What happened to the army in 1979?")) <= {"chief"}
    refusal = desk.ask("Who led the army in 1990?").refusal
    assert refusal is not None
    assert refusal.reason is not RefusalReason.NO_DOCUMENTS
