"""One function behind each door: the same question through all of them gives the same claims, citations and refusals."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from api import operations, rendering
from api.casing import snake_keys
from runtime.tenancy import tenant_named
from tests.doors.calls import graphql, posted, tool
from worker.opening import Service

ROOT = Path(__file__).resolve().parents[2]

ANSWERED = "Why do customers give up at checkout when they apply a discount code?"
REFUSED = "Who won the chess world championship in 1972?"
COUNTED = "How many documents are about billing?"

ANSWER_FIELDS = """
text refused refusalReason confidence model citedDocuments
refusal { reason message gate score threshold hint nearest { docId score snippet } }
claims {
  text kind support documentCount
  citations { docId version start end quote support }
  counterEvidence { docId version start end quote support }
  proof { aggregation match timeZone bucket value denominator docIds cursor engineGeneration
    counts { key count } against { value }
    filters { since before sources themeIds accountIds docIds ratingMin ratingMax attributes { key value } } }
}
unanswered { question refusal { reason message gate score threshold hint nearest { docId score snippet } } }
"""
ASK = (
    "query($question: String!) { ask(question: $question) { answer {"
    + ANSWER_FIELDS
    + "} grounding { groundedness citationPrecision coverage accepted failureReason }"
    " hits { docId passageId rank score lexicalScore lexicalRank vectorScore vectorRank fusedScore"
    " features { name value weight contribution } snippet groupSize groupDocIds title source themeId accountId occurredAt } } }"
)


@pytest.fixture(params=[ANSWERED, REFUSED, COUNTED])
def question(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def expected(service: Service, question: str) -> dict[str, Any]:
    """What Python itself gets, as every door must render it."""
    outcome = operations.ask(service, tenant_named("acme"), question, top_k=10)
    rendered = rendering.ask_result(outcome)
    return {"answer": rendered["answer"], "grounding": _report(rendered["grounding"]), "hits": rendered["hits"]}


def _report(grounding: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in grounding.items() if name != "verdicts"}


def test_the_questions_of_this_module_are_answered_and_refused_as_meant(service: Service) -> None:
    outcomes = {text: operations.ask(service, tenant_named("acme"), text, top_k=10) for text in (ANSWERED, REFUSED, COUNTED)}
    assert outcomes[ANSWERED].answer is not None
    assert outcomes[REFUSED].refusal is not None
    assert outcomes[COUNTED].answer is not None
    assert outcomes[COUNTED].answer.claims[0].proof is not None


def test_graphql_gives_what_python_gives(http: httpx.Client, question: str, expected: dict[str, Any]) -> None:
    assert graphql(http, ASK, question=question)["data"]["ask"] == expected


def test_rest_gives_what_python_gives(http: httpx.Client, question: str, expected: dict[str, Any]) -> None:
    body = http.post("/ask", json={"question": question}).json()
    assert {"answer": body["answer"], "grounding": _report(body["grounding"]), "hits": body["hits"]} == expected


def test_mcp_gives_what_python_gives_in_snake_case(http: httpx.Client, question: str, expected: dict[str, Any]) -> None:
    payload = tool(http, "ask", {"question": question})["result"]["structuredContent"]
    assert payload["answer"] == snake_keys(expected["answer"])
    assert payload["grounding"] == snake_keys(expected["grounding"])
    short = [{name: value for name, value in hit.items() if name != "features"} for hit in snake_keys(expected["hits"])]
    assert payload["hits"] == short[: len(payload["hits"])]


def test_the_command_line_gives_what_python_gives(service: Service, question: str, expected: dict[str, Any]) -> None:
    command = [sys.executable, "-m", "api.cli.main", "ask", question, "--json", "--quiet", "--tenant", "acme", "--top-k", "10"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    environ |= {"WA_ENGINE_URL": service.settings.engine_url, "WA_EMBEDDER_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert {"answer": body["answer"], "grounding": _report(body["grounding"])} == {name: expected[name] for name in ("answer", "grounding")}
    assert [hit["docId"] for hit in body["hits"]] == [
        hit["docId"] for hit in expected["hits"]
    ]  # scores hold recency, and this is a later process


def test_a_refusal_is_200_without_errors_through_every_door(http: httpx.Client) -> None:
    answer = graphql(http, ASK, question=REFUSED)
    assert "errors" not in answer
    assert answer["data"]["ask"]["answer"]["refused"] is True
    assert answer["data"]["ask"]["answer"]["confidence"] == 0.0
    assert http.post("/ask", json={"question": REFUSED}).status_code == 200


def test_every_cited_and_listed_document_comes_along_and_every_quote_is_in_it(http: httpx.Client) -> None:
    body = http.post("/ask", json={"question": ANSWERED}).json()
    texts = {document["docId"]: document["text"] for document in body["documents"]}
    assert set(texts) >= {hit["docId"] for hit in body["hits"]} | set(body["answer"]["citedDocuments"])
    for claim in body["answer"]["claims"]:
        for citation in claim["citations"]:
            assert texts[citation["docId"]][citation["start"] : citation["end"]] == citation["quote"]


def test_the_query_of_the_readme_works_unchanged(http: httpx.Client) -> None:
    text = (
        '{"query":"query { ask(question: \\"why are customers unhappy with billing\\", topK: 6) { answer { text refused confidence model '
        "citedDocuments claims { text citations { docId } } } grounding { groundedness citationPrecision coverage accepted } "
        'hits { docId score lexicalScore vectorScore rank } } }"}'
    )
    answer = http.post("/graphql", content=text, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    run = answer.json()["data"]["ask"]
    assert set(run) == {"answer", "grounding", "hits"}
    assert [hit["rank"] for hit in run["hits"]] == list(range(1, len(run["hits"]) + 1))
    assert len(run["hits"]) <= 6


def test_a_run_can_be_looked_up_afterwards(http: httpx.Client) -> None:
    run_id = graphql(http, "query($q: String!) { ask(question: $q) { runId } }", q=REFUSED)["data"]["ask"]["runId"]
    trace = graphql(http, "query($id: ID!) { trace(runId: $id) { question steps { name outcome ms } refusal { reason } } }", id=run_id)
    assert trace["data"]["trace"]["question"] == REFUSED
    assert trace["data"]["trace"]["steps"]
    listed = graphql(http, "{ traces(refused: true, first: 1000) { traces { runId outcome refusal { reason } } cursor } }")["data"][
        "traces"
    ]
    assert run_id in [item["runId"] for item in listed["traces"]]
    assert all(item["refusal"]["reason"] == item["outcome"] for item in listed["traces"])
    assert graphql(http, '{ trace(runId: "no-such-run") { runId } }') == {"data": {"trace": None}}


def test_numbers_are_finite_and_have_at_most_six_decimals(http: httpx.Client) -> None:
    text = http.post("/ask", json={"question": ANSWERED}).text
    numbers: list[float] = []
    json.loads(text, parse_float=lambda literal: numbers.append(float(literal)) or float(literal), parse_constant=pytest.fail)
    assert all(round(value, 6) == value for value in numbers)


@pytest.mark.parametrize("question", ["", "   ", "half \ud83d", "\x00", "the of and", "?", "\u202eevil", "e" * 20_000])
def test_strange_questions_are_refused_or_named_but_never_a_fault(http: httpx.Client, question: str) -> None:
    answer = graphql(http, "query($q: String!) { ask(question: $q) { answer { refused } } }", q=question)
    assert [error["extensions"]["code"] for error in answer.get("errors", [])] in ([], ["BAD_USER_INPUT"])
    assert posted(http, "/ask", {"question": question}).status_code in (200, 400)
    assert posted(http, "/search", {"query": question}).status_code in (200, 400)
    reply = tool(http, "ask", {"question": question})
    assert "result" in reply
    assert "internal error" not in json.dumps(reply)


def test_a_question_that_is_too_long_is_named(http: httpx.Client) -> None:
    answer = graphql(http, "query($q: String!) { ask(question: $q) { runId } }", q="e" * 20_001)
    assert answer["errors"][0]["extensions"]["field"] == "question"
