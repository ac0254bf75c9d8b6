"""A yes-or-no question is answered only by what takes a stance on what is asked."""

import pytest

from grounding.answers import RefusalReason
from grounding.predicates import takes_stance
from tests.grounding.desk import Desk, cited, record


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is the transfer fee too high?", "I was charged a transfer fee."),
        ("Is the transfer fee too high?", "I was charged a transfer fee of 2 EUR."),
        ("Is the transfer fee fair?", "The transfer fee is displayed in the app."),
        ("Is the pool clean?", "The hotel has a pool on the roof."),
        ("Is breakfast included?", "Breakfast was served until ten."),
        ("Is the battery good?", "I bought the battery in May."),
        ("Is Anna Smith the owner of the shop?", "Anna Smith works in the shop."),
        ("Is the app slow on Android?", "I use the app on Android."),
        ("Is the parking free?", "The wifi is free, the parking garage closes at ten."),
    ],
)
def test_the_topic_alone_is_no_stance(question: str, sentence: str) -> None:
    assert not takes_stance(question, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is the transfer fee too high?", "The transfer fee is far too high."),
        ("Is the transfer fee too high?", "The transfer fee is not high at all."),
        ("Is the transfer fee too high?", "The transfer fee is outrageous."),
        ("Is the transfer fee high?", "The transfer fee is 2 EUR."),
        ("Is it hard to cancel?", "Could not find where to stop my subscription."),
        ("Is delivery slow?", "Delivery took nine days."),
        ("Is delivery slow?", "Still waiting for the delivery."),
        ("Are transfers free?", "There is a fee for every transfer."),
        ("Is the battery good?", "The battery is always empty after an hour, very annoying."),
        ("Does login work after the update?", "Since the update nobody can sign in."),
        ("Did a loyalty card fail to arrive?", "The loyalty card never arrived."),
        ("Does it support SEPA?", "SEPA is missing as a payment method!!"),
        ("Does Apple Pay work?", "PayPal works fine, Apple Pay does not."),
        ("Is the service friendly?", "The service was great; friendly and attentive wait staff."),
        ("Is the pool on the roof?", "The hotel has a pool on the roof."),
        ("Is the app available in German?", "The app has a German version."),
        ("Is the manual missing?", "There was no manual in the box."),
        ("Is there a pool?", "The hotel has a pool."),
        ("Was I charged twice for the same invoice?", "I was charged two times for one invoice."),
        ("Was anyone charged twice?", "Me cobraron dos veces la misma factura."),
    ],
)
def test_the_quality_what_bears_on_it_or_measures_it_is_one(question: str, sentence: str) -> None:
    assert takes_stance(question, sentence)


def test_without_a_stance_the_question_is_not_answered(desk: Desk) -> None:
    desk.load([record("fee", "I was charged a transfer fee."), record("shown", "The transfer fee is shown in the app.")])
    refusal = desk.ask("Is the transfer fee too high?").refusal
    assert refusal is not None
    assert refusal.reason is RefusalReason.NOT_ANSWERED
    desk.load([record("high", "The transfer fee is much too high.")])
    assert cited(desk.ask("Is the transfer fee too high?")) == {"high"}


@pytest.mark.parametrize(
    ("question", "sentence", "told"),
    [
        ("Did Dr. Patel cancel the operation?", "Dr. Patel took time to listen.", False),
        ("Did Dr. Novak answer questions?", "Dr. Patel took time to answer all my questions.", False),
        ("Did Dr. Patel answer questions?", "Dr. Patel took time to answer all my questions.", True),
        ("Does the app work on Android?", "It crashes on Android.", True),
    ],
)
def test_what_somebody_did_is_no_word_on_another_or_on_something_else(question: str, sentence: str, *, told: bool) -> None:
    assert takes_stance(question, sentence) is told
