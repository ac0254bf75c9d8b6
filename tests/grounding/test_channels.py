"""Sources that a question names, and verbs that only say that documents were sent."""

import pytest

from grounding.channels import sources_in, without
from grounding.sending import without_sending

SOURCES = ("app", "chat", "email", "support_ticket")


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("How many messages came by email?", ["email"]),
        ("How many messages came through the app?", ["app"]),
        ("How many messages were sent via our app?", ["app"]),
        ("How many messages in chat?", ["chat"]),
        ("How many customers complained in the app?", ["app"]),
        ("Did messages by email rise from July to October?", ["email"]),
        ("Is late delivery rising in the app?", ["app"]),
        ("How many chat messages mention the card?", ["chat"]),
        ("How many late delivery email messages came?", ["email"]),
        ("How many emails came in July?", ["email"]),
        ("How many documents of source chat are there?", ["chat"]),
        ("How many messages of the email channel are there?", ["email"]),
        ("How many support tickets are there?", ["support_ticket"]),
        ("How many messages came by chat or email?", ["chat", "email"]),
        ("How many messages came by chat or by email?", ["chat", "email"]),
    ],
)
def test_a_source_is_where_documents_come_from(question: str, sources: list[str]) -> None:
    assert [mention.name for mention in sources_in(question, SOURCES)] == sources


@pytest.mark.parametrize(
    "question",
    [
        "How many complaints about email notifications?",
        "How many messages are about the app?",
        "How many messages came by email address?",
        "How many email addresses are there?",
        "How many customers mention chat messages?",
        "How many customers report a crash in the app?",
        "How many problems in the app?",
        "How many app crashes are there?",
        'How many messages mention "by email"?',
    ],
)
def test_a_source_that_is_written_about_is_none(question: str) -> None:
    assert sources_in(question, SOURCES) == ()


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("Compare chat and email", ["chat", "email"]),
        ("Did more messages come by chat or app?", ["chat", "app"]),
        ("More crashes in chat messages than in app messages", ["chat", "app"]),
        ("Do more people complain about refunds by email or in the app?", ["email", "app"]),
        ("Compare the app and refunds", []),
    ],
)
def test_sources_set_against_one_another_need_no_more(question: str, sources: list[str]) -> None:
    assert [mention.name for mention in sources_in(question, SOURCES, compared=True)] == sources


def test_sources_leave_the_question() -> None:
    question = "How many emails came through the app?"
    assert without(question, sources_in(question, SOURCES)).split() == "How many documents came ?".split()


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How many messages came?", "How many messages ?"),
        ("How many tickets did our customers send us?", "How many tickets did our customers us?"),
        ("How many reviews were written about noise?", "How many reviews were about noise?"),
        ("How many messages about late parcels arrived?", "How many messages about late parcels ?"),
        ("How many messages say that the parcel came?", "How many messages say that the parcel came?"),
        ("How many messages are about a parcel that arrived?", "How many messages are about a parcel that arrived?"),
        ("How many messages about cards never sent?", "How many messages about cards never sent?"),
        ("How many messages did not arrive?", "How many messages did not arrive?"),
        ('How many messages with "came late"?', 'How many messages with "came late"?'),
        ("How many messages from people who left?", "How many messages from people who left?"),
    ],
)
def test_that_documents_came_is_no_topic(question: str, left: str) -> None:
    assert without_sending(question).split() == left.split()
