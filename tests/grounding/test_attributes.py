"""Attributes of documents that a question names: they limit what is counted, and words of the text are something else."""

import pytest

from grounding.attribute_names import attributes_in, key_in
from grounding.attributes import Attribute, Attributes, attributes_of
from grounding.intents import Intent
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING, Scalar
from search.ingest.rows import rows_of
from tests.grounding.desk import ACME, Desk, cited, record

KNOWN = Attributes(
    (
        Attribute("city", "Berlin", 5),
        Attribute("city", "Hamburg", 3),
        Attribute("region", "US", 3),
        Attribute("plan", "free", 3),
        Attribute("severity", "critical", 2),
        Attribute("severity", "high", 2),
        Attribute("version", "5.3.1", 2),
        Attribute("age_group", "18-39", 1),
        Attribute("age_group", "60+", 1),
        Attribute("floor", 3, 1),
        Attribute("kind", "complaint", 1),
    )
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many reviews are from Berlin?", [("city", "Berlin")]),
        ("how many users in berlin complain", [("city", "Berlin")]),
        ("How many Berlin reviews are there?", [("city", "Berlin")]),
        ("How many tickets are from the US?", [("region", "US")]),
        ("How many tickets are on the free plan?", [("plan", "free")]),
        ("How many free users wrote?", [("plan", "free")]),
        ("How many tickets are critical?", [("severity", "critical")]),
        ("How many tickets of high severity?", [("severity", "high")]),
        ("How many tickets have severity: high", [("severity", "high")]),
        ("How many reviews are about version 5.3.1?", [("version", "5.3.1")]),
        ("How many answers in the 18-39 age group?", [("age_group", "18-39")]),
        ("How many answers of age group 60+?", [("age_group", "60+")]),
        ("How many answers from floor 3?", [("floor", 3)]),
        ("Compare Berlin and Hamburg", [("city", "Berlin"), ("city", "Hamburg")]),
        ("How many reviews from Berlin or Hamburg?", [("city", "Berlin"), ("city", "Hamburg")]),
        ("How many free users in Berlin?", [("plan", "free"), ("city", "Berlin")]),
    ],
)
def test_an_attribute_is_named_by_where_documents_come_from_or_what_they_are(question: str, named: list[tuple[str, Scalar]]) -> None:
    assert [(one.attribute.key, one.attribute.value) for one in attributes_in(question, KNOWN)] == named


@pytest.mark.parametrize(
    "question",
    [
        "How many reviews mention Berlin?",
        "How many reviews contain the word free?",
        'How many reviews are from "Berlin"?',
        "How many tickets are for us?",
        "How many complaints are there?",
        "How many reviews praise the free trial?",
        "How many reviews are about Berliner pastries?",
        "How many reviews of 3 or more?",
    ],
)
def test_a_word_that_is_written_about_or_says_something_else_is_no_attribute(question: str) -> None:
    assert attributes_in(question, KNOWN) == ()


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("How many reviews per city?", "city"),
        ("Which city complains the most?", "city"),
        ("Top 3 cities", "city"),
        ("How many answers for each age group?", "age_group"),
        ("How many reviews are from Berlin?", None),
        ("How many reviews mention the city?", None),
    ],
)
def test_documents_are_told_apart_by_the_name_of_an_attribute(question: str, key: str | None) -> None:
    assert key_in(question, KNOWN) == key


REVIEWS = [
    record("r1", "The app crashes when I attach a photo.", attributes={"city": "Berlin", "plan": "free"}, theme_id="crash", rating=1),
    record("r2", "It crashes at start.", attributes={"city": "Berlin", "plan": "pro"}, theme_id="crash", rating=1),
    record("r3", "Sync is slow between my devices.", attributes={"city": "Berlin", "plan": "pro"}, theme_id="sync", rating=2),
    record("r4", "Crashes after every update.", attributes={"city": "Hamburg", "plan": "free"}, theme_id="crash", rating=2),
    record("r5", "The Berlin meetup of the team was fun.", attributes={"city": "Hamburg", "plan": "pro"}, rating=5),
    record("r6", "Search is lightning fast.", attributes={"city": "Munich", "plan": "pro"}, theme_id="search", rating=5),
]


def first(desk: Desk, question: str) -> str:
    outcome = desk.ask(question)
    assert outcome.answer is not None, outcome.refusal
    return outcome.answer.claims[0].text


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("How many reviews are from Berlin?", "There are 3 documents with city “Berlin”."),
        ("How many Berlin users report a crash?", "2 of 3 documents with city “Berlin” have the theme “crash”."),
        ("How many free users wrote a review?", "There are 2 documents with plan “free”."),
        ("How many reviews from Berlin have 1 star?", "There are 2 documents with a rating of 1 with city “Berlin”."),
        ("How many reviews mention Berlin?", "1 of 6 documents contains “berlin”."),
        ("Which city has the most crashes?", "“Berlin” has more documents that have the theme “crash” than “Hamburg”: 2 against 1."),
        ("How many reviews per city?", "There are 3 documents with city “Berlin”."),
        ("Are there more reviews from Hamburg or from Berlin?", "“Berlin” has more documents than “Hamburg”: 3 against 2."),
        ("How many reviews from Berlin or Hamburg?", "There are 3 documents with city “Berlin”."),
    ],
)
def test_a_count_uses_the_attribute_and_says_so(desk: Desk, question: str, claim: str) -> None:
    desk.load(REVIEWS)
    assert first(desk, question) == claim


def test_a_share_by_attribute_shows_the_part_and_the_whole(desk: Desk) -> None:
    desk.load(REVIEWS)
    outcome = desk.ask("What share of reviews is from Berlin?")
    assert outcome.answer is not None
    assert [claim.text for claim in outcome.answer.claims] == ["There are 3 documents with city “Berlin”.", "There are 6 documents."]


def test_two_spellings_of_a_value_are_counted_apart(desk: Desk) -> None:
    desk.load([*REVIEWS, record("r7", "Great.", attributes={"city": "berlin"})])
    outcome = desk.ask("How many reviews are from Berlin?")
    assert outcome.answer is not None
    assert {claim.text for claim in outcome.answer.claims} == {
        "There are 3 documents with city “Berlin”.",
        "There is 1 document with city “berlin”.",
    }


def test_the_attributes_of_deleted_documents_and_of_other_tenants_are_named_by_nothing(desk: Desk) -> None:
    desk.load(REVIEWS)
    other = tenant_named("other")
    desk.service.ingester.ingest(other, rows_of([record("o1", "Fine.", attributes={"city": "Vienna"})]))
    assert first(desk, "How many reviews are from Munich?") == "There is 1 document with city “Munich”."
    assert "contain “vienna”" in first(desk, "How many reviews are from Vienna?")
    desk.service.engine.delete(ACME, ["r6"])
    desk.service.engine.refresh(ACME)
    assert "contain “munich”" in first(desk, "How many reviews are from Munich?")


def test_attributes_are_the_most_frequent_first_and_without_truth_values_and_texts(desk: Desk) -> None:
    desk.load([*REVIEWS, record("r8", "Fine.", attributes={"checked": True, "note": "long " * 30, "city": "Berlin"})])
    page = desk.service.engine.documents(ACME, EVERYTHING, first=100)
    found = attributes_of(page.documents, complete=True)
    assert [(one.key, one.value, one.documents) for one in found.seen[:3]] == [
        ("city", "Berlin", 4),
        ("plan", "pro", 4),
        ("city", "Hamburg", 2),
    ]
    assert {"checked", "note"}.isdisjoint(found.keys)


def test_the_trace_says_which_attribute_was_meant(desk: Desk) -> None:
    desk.load(REVIEWS)
    plan = desk.ask("How many reviews are from Berlin?").trace.plan
    assert plan["intent"] == Intent.COUNT.value
    assert plan["parts"][0]["filters"]["attributes"] == [{"key": "city", "value": "Berlin"}] or "Berlin" in str(plan["parts"][0]["filters"])


TICKETS = [
    record("t1", "We were charged twice: $240.", account_id="northwind", theme_id="billing", attributes={"city": "Leeds"}),
    record(
        "t2", "Please change our billing address to 12 Harbour Street.", account_id="wayne", theme_id="billing", attributes={"city": "York"}
    ),
    record("t3", "Login fails with ERR-SSO-17.", account_id="acme-gmbh", theme_id="login", attributes={"city": "York"}),
    record("t4", "ERR-SSO-17 again when we sign in.", account_id="acme-gmbh", theme_id="login", attributes={"city": "Leeds"}),
    record("t5", "Parking costs 3 pounds an hour, an outrage.", account_id="wayne", attributes={"city": "York"}),
    record("t6", "The parking spaces are wide and free.", account_id="hooli", attributes={"city": "Leeds"}),
    record("t7", "We do not use the dashboard.", account_id="globex", attributes={"city": "Leeds"}),
]


def test_what_people_of_a_place_say_is_read_from_their_documents_alone(desk: Desk) -> None:
    desk.load(TICKETS)
    outcome = desk.ask("What do people in Leeds say about parking?")
    assert cited(outcome) == {"t6"}


def test_an_account_that_is_named_without_the_word_is_asked_alone(desk: Desk) -> None:
    desk.load(TICKETS)
    assert cited(desk.ask("How much was northwind charged?")) == {"t1"}
    assert cited(desk.ask("Tell me about hooli")) == {"t6"}


def test_nobody_answers_for_another_account(desk: Desk) -> None:
    desk.load(TICKETS)
    assert cited(desk.ask("What is the billing address of wayne?")) == {"t2"}
    assert desk.ask("What is the billing address of globex?").refusal is not None


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("How many tickets came from acme-gmbh?", "There are 2 documents of account “acme-gmbh”."),
        ("How many customers have ERR-SSO-17?", "2 of 7 documents contain “ERR-SSO-17”."),
        (
            "How many tickets are not about billing?",
            "5 of 7 documents do not have the theme “billing”; 2 do, and the documents listed are of these.",
        ),
        (
            "How many tickets do not mention parking?",
            "5 of 7 documents do not contain “parking”; 2 do, and the documents listed are of these.",
        ),
        ("How many tickets have no theme?", "Of 7 documents 3 carry no theme."),
        (
            "How many tickets are not from York?",
            "4 of 7 documents are not among the 3 with city “York”, and the documents listed are of these.",
        ),
        ("How many different accounts are there?", "There are 5 accounts in 7 documents."),
    ],
)
def test_accounts_codes_and_denials_are_counted_as_they_are_meant(desk: Desk, question: str, claim: str) -> None:
    desk.load(TICKETS)
    assert first(desk, question) == claim


def test_documents_outside_an_attribute_are_told_by_the_part_and_the_whole(desk: Desk) -> None:
    desk.load(TICKETS)
    outcome = desk.ask("How many tickets are not from York?")
    assert outcome.answer is not None
    assert [claim.text for claim in outcome.answer.claims] == [
        "4 of 7 documents are not among the 3 with city “York”, and the documents listed are of these."
    ]


@pytest.mark.parametrize(
    ("question", "claims"),
    [
        (
            "What share of crash reviews is from Berlin?",
            ["2 of 3 documents with city “Berlin” have the theme “crash”.", "3 of 6 documents have the theme “crash”."],
        ),
        ("Top 2 cities", ["“Berlin” has more documents than “Hamburg”: 3 against 2.", "There are 3 documents with city “Berlin”."]),
        ("reviews per plan", ["There are 4 documents with plan “pro”.", "There are 2 documents with plan “free”."]),
        ("How many complaints about Munich?", ["There is 1 document with city “Munich”."]),
        ("how many revews from Berlin", ["There are 3 documents with city “Berlin”."]),
    ],
)
def test_other_ways_to_ask_by_attribute(desk: Desk, question: str, claims: list[str]) -> None:
    desk.load(REVIEWS)
    outcome = desk.ask(question)
    assert outcome.answer is not None, outcome.refusal
    assert [claim.text for claim in outcome.answer.claims][: len(claims)] == claims


def test_documents_that_did_not_come_by_a_source_are_told_by_the_part_and_the_whole(desk: Desk) -> None:
    desk.load(
        [record("e1", "Parcel late.", source="email"), record("c1", "Parcel lost.", source="chat"), record("c2", "Ok.", source="chat")]
    )
    outcome = desk.ask("How many tickets were not sent by email?")
    assert outcome.answer is not None
    assert [claim.text for claim in outcome.answer.claims] == [
        "2 of 3 documents are not among the 1 from source “email”, and the documents listed are of these."
    ]
