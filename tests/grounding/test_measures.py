"""What a trend, a peak and the sides of a comparison are counted over: the theme a question names, or every document with its words."""

import pytest

from grounding.answers import ClaimKind
from grounding.intents import Intent
from tests.grounding.desk import Desk, record
from tests.grounding.test_planning import part

MONTHS = ("2026-09-05", "2026-10-05", "2026-11-05")


def written(text: str, counts: tuple[int, int, int], theme: str | None = None) -> list[dict[str, object]]:
    """So many documents of one text in September, October and November."""
    labelled = {"theme_id": theme} if theme else {}
    return [
        record(f"{theme}-{text[:3]}-{day}-{n}", f"{text} {n}.", day, **labelled)
        for day, count in zip(MONTHS, counts, strict=True)
        for n in range(count)
    ]


def transfers() -> list[dict[str, object]]:
    return [
        *written("A transfer into my account", (1, 2, 5), "transfer_into_account"),
        *written("The transfer was declined", (2, 9, 1), "declined_transfer"),
        *written("My card is gone", (3, 3, 3), "lost_card"),
    ]


def texts(desk: Desk, question: str) -> list[str]:
    outcome = desk.ask(question)
    assert outcome.answer is not None, outcome.refusal
    return [claim.text for claim in outcome.answer.claims]


@pytest.mark.parametrize(
    "question", ["In which month were there most messages about transfers?", "Which month had most transfer messages?"]
)
def test_a_word_of_several_themes_peaks_over_every_document_that_has_it(desk: Desk, question: str) -> None:
    desk.load(transfers())
    trend, peak = texts(desk, question)
    assert "contain “transfer" in trend
    assert "3, 11, 6 per month" in trend
    assert peak == "The peak is the month of 2026-10: 11 of 20 documents."


def test_a_theme_that_is_meant_is_not_taken_for_documents_beyond_it(desk: Desk) -> None:
    desk.load([*written("I want a refund", (2, 2, 2), "request_refund"), *written("Refund of a fee", (0, 4, 0), "fees")])
    trend, peak = texts(desk, "Which month had most refund messages?")
    assert "contain “refund”" in trend
    assert "2, 6, 2 per month" in trend
    assert "2026-10" in peak


def test_a_theme_that_is_named_is_counted_whatever_words_its_documents_use(desk: Desk) -> None:
    desk.load(
        [*written("Money left twice", (1, 2, 5), "transaction_charged_twice"), *written("Charged twice, and rude", (4, 1, 1), "staff")]
    )
    assert "have the theme “transaction_charged_twice”" in texts(desk, "Is the number of customers charged twice rising?")[0]


def test_sides_of_a_comparison_are_counted_in_the_same_way(desk: Desk) -> None:
    desk.load(
        [
            *written("I want a refund", (2, 2, 2), "request_refund"),
            *written("Refund of a fee", (0, 4, 0), "fees"),
            *written("A cash withdrawal failed", (1, 2, 1), "declined_cash_withdrawal"),
            *written("Cash withdrawal is pending", (1, 1, 1), "pending_cash_withdrawal"),
        ]
    )
    assert (
        texts(desk, "Compare refunds and cash withdrawals")[0]
        == "“refunds” has more documents than “cash” and “withdrawals”: 10 against 7."
    )


def test_counts_of_unlike_kinds_are_told_and_not_compared(desk: Desk) -> None:
    desk.load([*written("The parcel came behind time", (3, 3, 3), "late_delivery"), *written("The wifi is slow", (1, 1, 1))])
    outcome = desk.ask("Compare late delivery and wifi")
    assert outcome.answer is not None
    assert {claim.kind for claim in outcome.answer.claims} == {ClaimKind.COUNT}
    assert [claim.text for claim in outcome.answer.claims] == [
        "9 of 12 documents have the theme “late_delivery”.",
        "3 of 12 documents contain “wifi”.",
    ]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Are crashes rising?", Intent.TREND),
        ("Is late delivery rising?", Intent.TREND),
        ("Are crashes becoming more common?", Intent.TREND),
        ("Have crashes increased since March?", Intent.TREND),
        ("Did login failures go up in October 2026?", Intent.TREND),
        ("Are failed payments still increasing by email?", Intent.TREND),
        ("When did complaints about transfers peak?", Intent.TREND),
        ("When did the refund questions peak?", Intent.TREND),
        ("When did crashes peak?", Intent.TREND),
        ("When were there most complaints about transfers?", Intent.TREND),
        ("What do customers write about more, refunds or cash withdrawals?", Intent.COMPARE),
        ("What is mentioned more often, refunds or transfers?", Intent.COMPARE),
        ("Do customers complain more about refunds than about transfers?", Intent.COMPARE),
        ("How many have a rating of 4 or more?", Intent.COUNT),
        ("How many are from email?", Intent.COUNT),
        ("Is the river rising?", Intent.EVIDENCE),
        ("Are prices rising?", Intent.EVIDENCE),
        ("Is it going up?", Intent.EVIDENCE),
        ("Did Rome fall?", Intent.EVIDENCE),
        ("When did the price peak?", Intent.EVIDENCE),
        ("When was the most recent message from north?", Intent.EVIDENCE),
        ("Is the bus more often late than the train?", Intent.EVIDENCE),
        ("Did anyone ask for more time or money?", Intent.EVIDENCE),
        ("How many have died?", Intent.EVIDENCE),
        ("How many are there in the family?", Intent.EVIDENCE),
    ],
)
def test_a_topic_rises_and_peaks_by_what_is_written_about_it(question: str, intent: Intent) -> None:
    assert part(question).intent is intent


def test_a_word_that_rises_is_counted_as_reviews_about_it_are(desk: Desk) -> None:
    desk.load([*written("The app crashes", (1, 3, 9)), *written("My card is gone", (3, 3, 3), "lost_card")])
    assert texts(desk, "Are crashes rising?") == texts(desk, "Is the number of reviews about crashes rising?")
    assert texts(desk, "When did crashes peak?")[-1] == "The peak is the week of 2026-11-02: 9 of 13 documents."


def test_what_a_refusal_of_no_question_suggests_is_answered(desk: Desk) -> None:
    desk.load([record(f"r-{stars}-{n}", f"Review {n} of {stars}", rating=stars) for stars in (1, 4, 5) for n in range(3)])
    assert texts(desk, "How many have a rating of 4 or more?")[0].startswith("There are 6 documents with a rating of 4 or more")


@pytest.mark.parametrize(("question", "gate"), [("Is the gym clean?", "statement"), ("Who owns the gym?", "answerability")])
def test_a_refusal_gives_the_numbers_of_the_gate_that_refused(desk: Desk, question: str, gate: str) -> None:
    desk.load([record("g-1", "The gym of the house is on the roof."), record("g-2", "The gym membership renews every month.")])
    refusal = desk.ask(question).refusal
    assert refusal is not None
    assert refusal.gate == gate
    assert refusal.score is not None
    assert refusal.threshold is not None
    assert refusal.score < refusal.threshold
