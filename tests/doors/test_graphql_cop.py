"""The twelve things that graphql-cop looks for in a GraphQL server, each as a test of what ours does. The tool itself is on no package registry.

Some of what it warns of we do on purpose: introspection, the explorer, queries by GET. The tests of those say why it is safe.
"""

import json
from typing import Any

import httpx
import pytest
from graphql import get_introspection_query

from api.limits import MAX_ALIASES, MAX_DIRECTIVES, MAX_TOKENS
from tests.doors.calls import posted

PARSE_FAILED, VALIDATION_FAILED = "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED"


def _asked(http: httpx.Client, query: str) -> dict[str, Any]:
    answer = http.post("/graphql", json={"query": query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _refused(http: httpx.Client, query: str, code: str, word: str) -> None:
    """Before anything ran: there is no ``data`` at all."""
    body = _asked(http, query)
    assert "data" not in body
    assert body["errors"][0]["extensions"]["code"] == code
    assert word in body["errors"][0]["message"]


def test_01_alias_overloading_is_refused_before_anything_runs(http: httpx.Client) -> None:
    _refused(http, "{ " + " ".join(f"a{n}: __typename" for n in range(101)) + " }", VALIDATION_FAILED, "aliases")
    within = _asked(http, "{ " + " ".join(f"a{n}: __typename" for n in range(min(MAX_ALIASES, 10))) + " }")
    assert within["data"]["a9"] == "Query"


def test_02_batches_of_operations_are_refused_whatever_is_in_them(http: httpx.Client) -> None:
    for batch in ([{"query": "{ __typename }"}] * 10, [{"query": "{ __typename }"}], []):
        answer = http.post("/graphql", json=batch)
        assert answer.status_code == 400
        assert "data" not in answer.json()
        assert "batches are not served" in answer.json()["errors"][0]["message"]


def test_03_directive_overloading_is_refused_for_directives_that_exist_and_that_do_not(http: httpx.Client) -> None:
    for directive in ("@include(if: true)", "@aa"):
        _refused(http, "{ __typename " + directive * (MAX_DIRECTIVES + 1) + " }", VALIDATION_FAILED, "directives")
    errors = _asked(http, "{ __typename " + "@aa" * 10 + " }")["errors"]
    assert len(errors) <= 6  # five and that there were more


def test_04_circular_introspection_ends_in_an_error_and_not_in_a_large_answer(http: httpx.Client) -> None:
    deep = "__schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } }"
    body = _asked(http, f"{{ {deep} }}")
    assert "data" not in body
    assert body["errors"][0]["extensions"]["code"] == VALIDATION_FAILED


def test_05_field_duplication_is_stopped_by_the_limit_on_tokens(http: httpx.Client) -> None:
    _refused(http, "{ " + "__typename " * (MAX_TOKENS + 1) + "}", PARSE_FAILED, "tokens")
    _refused(http, "{ " + "corpus { documents } " * 20 + "}", VALIDATION_FAILED, "root fields")


@pytest.mark.parametrize(
    "query", ["{ corpuss { documents } }", "{ corpus { document } }", '{ search(querry: "x") { scope } }', "{ a: __typenam }"]
)
def test_06_field_suggestions_are_given_to_nobody(http: httpx.Client, query: str) -> None:
    said = json.dumps(_asked(http, query))
    assert "mean" not in said
    assert VALIDATION_FAILED in said


def test_07_mutations_by_get_are_not_run(http: httpx.Client, web: str) -> None:
    mutation = 'mutation { deleteDocuments(docIds: ["doc-000"]) { deleted } }'
    hidden = "query q { __typename } " + mutation.replace("mutation", "mutation m", 1)
    for parameters in ({"query": mutation}, {"query": hidden, "operationName": "m"}):
        answer = http.get("/graphql", params=parameters)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert http.get("/documents/doc-000").status_code == 200


def test_08_queries_by_get_are_safe_because_no_credential_travels_by_itself(http: httpx.Client) -> None:
    answer = http.get("/graphql", params={"query": "{ __typename }"})
    assert answer.json() == {"data": {"__typename": "Query"}}
    assert "set-cookie" not in answer.headers
    assert answer.headers["cache-control"] == "private, no-store"
    stranger = http.get("/graphql", params={"query": "{ __typename }"}, headers={"origin": "https://evil.example"})
    assert stranger.status_code == 403
    assert "access-control-allow-origin" not in answer.headers.keys() | stranger.headers.keys()


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""])
def test_09_what_a_form_on_any_page_could_send_is_refused(http: httpx.Client, kind: str) -> None:
    for body in (b"query=%7B__typename%7D", b'{"query": "{ __typename }"}'):
        answer = http.post("/graphql", content=body, headers={"content-type": kind})
        assert answer.status_code == 415
        assert "data" not in answer.json()


def test_10_traces_and_debug_output_cannot_be_asked_for(http: httpx.Client) -> None:
    asking = {"x-apollo-tracing": "1", "x-debug": "1", "apollo-federation-include-trace": "ftv1", "cookie": "debug=1; XDEBUG_SESSION=1"}
    body = {"query": '{ document(docId: "doc-000") { docId } broken }', "extensions": {"tracing": True, "debug": True}}
    bad, good = posted(http, "/graphql", body, **asking), posted(http, "/graphql", {"query": "{ __typename }"}, **asking)
    assert good.json().keys() == {"data"}
    for word in ("tracing", "stacktrace", "Traceback", "exception", "debug", ".py"):
        assert word not in bad.text + good.text
    assert set(bad.json()["errors"][0]["extensions"]) == {"code", "correlationId"}


def test_11_introspection_and_explorer_are_served_and_give_away_nothing_that_opens_a_door(http: httpx.Client) -> None:
    shown = _asked(http, get_introspection_query(descriptions=True))
    assert shown["data"]["__schema"]["queryType"]["name"] == "Query"  # the schema is public: it is in the repository
    explorer = http.get("/graphiql")
    assert explorer.status_code == 200
    assert "default-src 'self'" in explorer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in explorer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b'"query"',
        b"{",
        b'{"query": 1}',
        b'{"query": null}',
        b'{"query": ""}',
        b'{"query": "{ __typename }", "variables": "a"}',
        b'{"query": "{ __typename }", "operationName": []}',
        b'{"query": "\\ud800"}',
        b'{"query": "{ document(docId: \\"\\ud800\\") { docId } }"}',
        b'{"query": "query($n: Int!) { search(query: \\"x\\", topK: $n) { scope } }", "variables": {"n": 1e400}}',
        b"\xff\xfe\x00",
        b'{"query": "{ __typename }", "query": "{ nothing }"}',
    ],
)
def test_12_errors_nobody_handled_are_not_to_be_had(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400)
    for error in answer.json()["errors"]:
        assert error["extensions"]["code"] in ("BAD_USER_INPUT", PARSE_FAILED, VALIDATION_FAILED)
        assert "Traceback" not in error["message"]
