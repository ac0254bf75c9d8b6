"""Counts of events through GraphQL."""

from typing import Any

import httpx

from tests.doors.calls import graphql

COUNTED = "name count"
INSIGHTS = (
    f"{{ insights {{ documents days {{ {COUNTED} }} themes {{ {COUNTED} }} sources {{ {COUNTED} }} answered refused refusals {{ {COUNTED} }}"
    f" refusalRate groundedness citationPrecision unanswered {{ runId question reason at }} digests {{ {COUNTED} }}"
    " scores { reportId cases exact passed at } events waiting failed } }"
)


def insights(http: httpx.Client) -> dict[str, Any]:
    answer = graphql(http, INSIGHTS)
    assert "errors" not in answer, answer
    found: dict[str, Any] = answer["data"]["insights"]
    return found


def test_insights_count_what_is_stored_and_what_was_asked(http: httpx.Client) -> None:
    before = insights(http)
    refused = graphql(http, '{ ask(question: "Who won the football match on Mars?") { runId answer { refused refusal { reason } } } }')
    assert refused["data"]["ask"]["answer"]["refused"]
    after = insights(http)
    total = graphql(http, "{ corpus { documents } }")["data"]["corpus"]["documents"]
    assert after["documents"] == total == sum(each["count"] for each in after["days"])
    assert (after["refused"], after["waiting"], after["failed"]) == (before["refused"] + 1, 0, 0)
    asked = {each["runId"]: each["question"] for each in after["unanswered"]}  # asked at one instant, where other tests have asked too
    assert asked[refused["data"]["ask"]["runId"]] == "Who won the football match on Mars?"


def test_how_many_questions_is_bounded(http: httpx.Client) -> None:
    error = graphql(http, "{ insights(questions: 101) { events } }")["errors"][0]
    assert error["extensions"] | {"correlationId": ""} == {"code": "BAD_USER_INPUT", "field": "questions", "correlationId": ""}
