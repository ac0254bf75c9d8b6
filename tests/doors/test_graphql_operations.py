"""GraphQL operations beside ask: numbers at the edge, errors, documents, aggregates."""

from typing import Any

import httpx
import pytest

from tests.doors.calls import graphql

SEARCH = 'query($k:Int){ search(query:"discount code", topK:$k){ hits { docId } } }'


@pytest.mark.parametrize("value", [2147483648, -1, 0, None])
def test_a_number_at_the_edge_is_a_user_error(http: httpx.Client, value: int | None) -> None:
    answer = graphql(http, SEARCH, k=value)
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    if value in (-1, 0):
        assert "topK" in answer["errors"][0]["message"]
        assert answer["errors"][0]["extensions"]["field"] == "topK"


def test_versions_beyond_32_bits_are_stored_and_shown(http: httpx.Client) -> None:
    given = {"docId": "v-1", "source": "review", "text": "Versions.", "occurredAt": "2026-02-03T04:05:06Z", "version": 1_767_225_600_000}
    store = "mutation($d: [DocumentInput!]!) { indexDocuments(documents: $d) { indexed rejections { reason } } }"
    assert graphql(http, store, "versions", d=[given])["data"]["indexDocuments"] == {"indexed": 1, "rejections": []}
    shown = graphql(http, "{ documents { documents { docId version } } }", "versions")
    assert shown == {"data": {"documents": {"documents": [{"docId": "v-1", "version": 1_767_225_600_000}]}}}


def test_a_huge_number_of_hits_is_clamped(http: httpx.Client) -> None:
    assert len(graphql(http, SEARCH, k=1_000_000)["data"]["search"]["hits"]) >= 3


def test_a_variable_that_is_not_given_means_the_default(http: httpx.Client) -> None:
    assert graphql(http, SEARCH)["data"]["search"]["hits"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ('{ search(query: "x", filters: {since: "yesterday"}) { scope } }', "filters.since"),
        ('{ search(query: "x", filters: {ratingMin: 4, ratingMax: 2}) { scope } }', "filters.ratingMin"),
        ('{ search(query: "x", filters: {sources: []}) { scope } }', "filters.sources"),
        ('{ ask(question: "x", budget: {maxTokens: 0}) { runId } }', "budget.maxTokens"),
        ('{ ask(question: "x", timeZone: "Mars") { runId } }', "timeZone"),
        ('{ trendOverTime(timeZone: "Mars") { total } }', "timeZone"),
        ("{ documents(first: 0) { total } }", "first"),
        ('{ documents(after: "rubbish") { total } }', "after"),
        ("{ aggregateByTheme(limit: -3) { total } }", "limit"),
        ("mutation { deleteDocuments { deleted } }", "confirm"),
        ('mutation { deleteDocuments(accountId: "a-1") { deleted } }', "confirm"),
    ],
)
def test_a_bad_argument_is_named_in_camel_case(http: httpx.Client, query: str, field: str) -> None:
    error = graphql(http, query)["errors"][0]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["extensions"]["field"] == field
    assert error["message"].startswith(field)


def test_every_error_carries_the_correlation_id_of_its_response(http: httpx.Client) -> None:
    answer = http.post("/graphql", json={"query": "{ documents(first: 0) { total } }"}, headers={"x-correlation-id": "run-7"})
    assert answer.headers["x-correlation-id"] == "run-7"
    assert answer.json()["errors"][0]["extensions"]["correlationId"] == "run-7"


def test_themes_have_counts_shares_ids_and_a_cursor_that_lists_them_all(http: httpx.Client) -> None:
    found = graphql(http, "{ aggregateByTheme { total scope withoutTheme themes { themeId count share docIds cursor } } }")["data"][
        "aggregateByTheme"
    ]
    first = found["themes"][0]
    assert (first["themeId"], first["count"], len(first["docIds"])) == ("billing", 4, 4)
    assert first["share"] == pytest.approx(4 / found["total"], abs=1e-6)
    listed = graphql(http, "query($c: String) { documents(after: $c) { total documents { docId themeId } } }", c=first["cursor"])
    assert listed["data"]["documents"]["total"] == 4
    assert {item["themeId"] for item in listed["data"]["documents"]["documents"]} == {"billing"}


def test_a_trend_has_empty_weeks_and_local_days(http: httpx.Client) -> None:
    text = '{ trendOverTime(query: "discount code", interval: WEEK, timeZone: "Europe/Paris") { total points { key count docIds } } }'
    points = graphql(http, text)["data"]["trendOverTime"]["points"]
    assert [point["key"] for point in points] == ["2026-02-02", "2026-02-09", "2026-02-16"]


def test_an_account_is_shown_with_its_newest_documents(http: httpx.Client) -> None:
    text = '{ accountContext(accountId: "a-1", first: 2) { total themes { name count docIds } ratings { rated mean } documents { docId text } } }'
    found = graphql(http, text)["data"]["accountContext"]
    assert found["total"] == 3
    assert [item["docId"] for item in found["documents"]] == ["doc-007", "doc-004"]
    assert graphql(http, '{ accountContext(accountId: "nobody") { total } }') == {"data": {"accountContext": None}}


def test_documents_are_paged_newest_first(http: httpx.Client) -> None:
    text = "query($c: String) { documents(first: 4, after: $c) { documents { docId } cursor } }"
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = graphql(http, text, c=cursor)["data"]["documents"]
        seen += [item["docId"] for item in page["documents"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == len(set(seen)) >= 9


def test_documents_are_stored_updated_and_deleted_by_mutations(http: httpx.Client) -> None:
    counters = "received indexed updated rejected saved corpusSize rejections { docId field }"
    store = 'mutation($d: [DocumentInput!]!) { indexDocuments(documents: $d, batchId: "b") { ' + counters + " } }"
    good: dict[str, Any] = {
        "docId": "m-1",
        "source": {"kind": "review", "name": "shop", "weight": 0.9},
        "text": "First words.",
        "occurredAt": "2026-03-01T00:00:00+01:00",
        "attributes": {"plan": "pro"},
    }
    bad = {"docId": "m-2", "source": "review", "text": "No date."}
    report = graphql(http, store, tenant="mutations", d=[good, bad])["data"]["indexDocuments"]
    assert (report["received"], report["indexed"], report["rejected"], report["corpusSize"]) == (2, 1, 1, 1)
    assert (report["rejections"][0]["docId"], report["rejections"][0]["field"]) == ("m-2", "occurredAt")
    again = graphql(http, store, tenant="mutations", d=[good | {"text": "Other words."}])["data"]["indexDocuments"]
    assert (again["updated"], again["saved"]) == (1, 1)
    read = '{ document(docId: "m-1") { version text occurredAt source { kind name weight } attributes } }'
    assert graphql(http, read, tenant="mutations")["data"]["document"] == {
        "version": 2,
        "text": "Other words.",
        "occurredAt": "2026-02-28T23:00:00Z",
        "source": {"kind": "review", "name": "shop", "weight": 0.9},
        "attributes": {"plan": "pro"},
    }
    gone = graphql(http, 'mutation { deleteDocuments(docIds: ["m-1", "never"]) { deleted docIds } }', tenant="mutations")
    assert gone["data"]["deleteDocuments"] == {"deleted": 1, "docIds": ["m-1"]}
    assert graphql(http, read, tenant="mutations")["data"]["document"] is None


def test_one_failing_field_nulls_itself_and_not_the_others(http: httpx.Client) -> None:
    answer = graphql(http, '{ corpus { documents } document(docId: "doc-003") { docId } trace(runId: "x") { runId } }')
    assert answer["data"]["document"] == {"docId": "doc-003"}
    assert answer["data"]["trace"] is None


@pytest.mark.parametrize("doc_id", ["", "x" * 5000, "\x00", "a\ud83d"])
def test_an_id_nobody_can_have_is_not_found_or_a_user_error_but_never_a_fault(http: httpx.Client, doc_id: str) -> None:
    answer = graphql(http, "query($d: ID!) { document(docId: $d) { docId } }", d=doc_id)
    if "errors" in answer:
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    else:
        assert answer["data"] == {"document": None}
