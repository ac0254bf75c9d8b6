"""Sentences that ask, and sentences that tell."""

import pytest

from grounding.asking import asks


@pytest.mark.parametrize(
    "sentence",
    [
        "How much does a transfer cost?",
        "when should I receive my refund",
        "Why my card declined?",
        "what is the fee",
        "how to top up",
        "Can I get a virtual card",
        "Hi, do you ship to Norway",
        "Please tell me how to get a refund",
        "Please list the countries you support.",
        "Explain the extra ATM fees.",
        "I would like to know which countries are supported",
        "I was wondering if I could pay later",
        "Let me know when it ships",
        "返金はいつ届きますか？",
    ],
)
def test_this_asks(sentence: str) -> None:
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "My card was declined and I don't know why.",
        "When I open the app it crashes.",
        "What a great app!",
        "Which was annoying.",
        "Is broken.",
        "Has a nice camera.",
        "Does not work.",
        "Was charged twice.",
        "What happened was awful.",
        "Please cancel our subscription.",
        "I want to return the lamp.",
        "Could not find where to stop my subscription.",
        "Nobody told me that delivery was moved.",
    ],
)
def test_this_tells(sentence: str) -> None:
    assert not asks(sentence)
