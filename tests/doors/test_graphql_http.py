"""GraphQL over HTTP: the public audits, and what they do not ask."""

import json

import httpx
import pytest

from api.graphql_http import media_type
from tests.doors.judges import judged

AUDITS = 61


@pytest.mark.slow
def test_all_61_public_audits_pass(web: str) -> None:
    done = judged("node", "graphql_http_audit.mjs", f"{web}/graphql")
    audits = [json.loads(line) for line in done.stdout.splitlines()]
    assert [audit for audit in audits if audit["status"] != "ok"] == [], done.stderr
    assert len(audits) == AUDITS


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/json", "application/json"),
        ("application/graphql-response+json", "application/graphql-response+json"),
        ("application/json;q=0.5, application/graphql-response+json;q=0.9", "application/graphql-response+json"),
        ("application/graphql-response+json;q=0.1, application/json", "application/json"),
        ("application/graphql-response+json;q=0, */*", "application/json"),
        ("text/html", None),
        ("application/json;q=broken", None),
    ],
)
def test_the_answer_comes_in_the_media_type_that_is_liked_best(accept: str | None, chosen: str | None) -> None:
    assert media_type(accept) == chosen


@pytest.mark.parametrize(("accept", "status"), [("application/json", 200), ("application/graphql-response+json", 400)])
def test_a_variable_of_the_wrong_type_is_a_request_error_without_data(http: httpx.Client, accept: str, status: int) -> None:
    body = {"query": 'query($k: Int!) { search(query: "x", topK: $k) { scope } }', "variables": {"k": "many"}}
    answer = http.post("/graphql", json=body, headers={"accept": accept})
    assert answer.status_code == status
    assert "data" not in answer.json()
    assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


def test_a_batch_of_operations_is_refused(http: httpx.Client) -> None:
    answer = http.post("/graphql", json=[{"query": "{ __typename }"}, {"query": "{ __typename }"}])
    assert answer.status_code == 400
    assert "batches" in answer.json()["errors"][0]["message"]


def test_a_form_is_refused_because_any_page_could_send_one(http: httpx.Client) -> None:
    assert http.post("/graphql", data={"query": "{ __typename }"}).status_code == 415


def test_a_mutation_is_not_run_by_get(http: httpx.Client) -> None:
    answer = http.get("/graphql", params={"query": "mutation { deleteDocuments(confirm: true) { deleted } }"})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"\xff\xfe", b'{"query": NaN}', b"[" * 5000])
def test_a_body_that_is_no_json_object_is_a_client_error(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


def test_answers_are_never_kept_by_a_cache(http: httpx.Client) -> None:
    assert http.post("/graphql", json={"query": "{ __typename }"}).headers["cache-control"] == "private, no-store"


def test_the_stock_introspection_query_is_served(http: httpx.Client) -> None:
    from graphql import get_introspection_query

    answer = http.post("/graphql", json={"query": get_introspection_query(descriptions=True)})
    assert answer.json()["data"]["__schema"]["queryType"]["name"] == "Query"


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("{" + " ".join(f"a{n}: __typename" for n in range(16)) + "}", "aliases"),
        ("{ __typename " + "@include(if: true) " * 51 + "}", "directives"),
        ("{ " + " ".join(["corpus { documents }"] * 11) + " }", "root fields"),
        ('{ ask(question: "x") { trace { claims { proof { filters { attributes { key { a { b } } } } } } } } }', "levels of nesting"),
        (
            "fragment F on Query { "
            + " ".join(f"a{n}: __typename" for n in range(8))
            + " } { ...F x: corpus { documents } ... on Query { ...F } }",
            "aliases",
        ),
    ],
)
def test_an_operation_beyond_a_limit_is_refused_before_it_runs(http: httpx.Client, query: str, limit: str) -> None:
    errors = http.post("/graphql", json={"query": query}).json()["errors"]
    assert limit in errors[0]["message"]
    assert errors[0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_fragments_that_spread_each_other_end_in_an_error_and_not_in_a_loop(http: httpx.Client) -> None:
    query = "fragment A on Query { ...B } fragment B on Query { ...A } { ...A }"
    assert http.post("/graphql", json={"query": query}).json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_a_document_of_too_many_tokens_is_not_parsed(http: httpx.Client) -> None:
    errors = http.post("/graphql", json={"query": "{ " + "corpus { documents } " * 400 + "}"}).json()["errors"]
    assert errors[0]["extensions"]["code"] == "GRAPHQL_PARSE_FAILED"


def test_misspelt_names_are_not_corrected_for_a_stranger(http: httpx.Client) -> None:
    errors = http.post("/graphql", json={"query": "{ corpuss { documents } }"}).json()["errors"]
    assert "orpus" in errors[0]["message"]
    assert "mean" not in errors[0]["message"]
