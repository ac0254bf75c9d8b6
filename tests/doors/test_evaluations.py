"""Evaluations through GraphQL: run now, left to a worker, listed, shown, compared, and out of other tenants' sight."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from grounding.evaluation.set_files import set_of
from runtime.tenancy import tenant_named
from tests.doors.calls import graphql
from tests.doors.conftest import ACME, BIRCH
from worker.opening import Service

RUN = """mutation($set: String!, $limit: Int, $gate: Boolean! = false, $baseline: ID, $background: Boolean! = false, $every: Float, $name: String) {
  runEval(setName: $set, limit: $limit, gate: $gate, baselineId: $baseline, background: $background, everySeconds: $every, scheduleName: $name) {
    reportId
    schedule { scheduleId setName nextAt everySeconds casesDone lastReportId lastError }
    report {
      reportId outcome cases exact errors seconds createdAt
      subject { setName digest documents generation engine embedder selected }
      cells { unanswerableRefused unanswerableAnswered answerableRefused answerableAnswered }
      scores { metric value low high n undefined }
      slices { by value cases scores { metric value } }
      verdict { passed known fixed rulings { demand passed found bound message } failing { caseId question problems runId known regressed }
                diff { beforeId afterId sameSet regressed fixed onlyBefore onlyAfter changes { metric delta worsening before { value } after { value n } } } }
      results { caseId question kind language difficulty ended reason exact invented citations ranking count groundedness supports seconds tokens cost
                model runId problems { check message invented }
                expected { answered reasons documents facts absent count series { bucket count } } }
    }
  }
}"""
COUNT = "How many documents are there?"
CASES = [
    {"id": "count", "question": COUNT, "kind": "count", "expected": {"answered": True, "count": 10}},
    {
        "id": "quote",
        "question": "What do customers say about discount codes?",
        "expected": {"answered": True, "documents": ["doc-004", "doc-005"], "facts": ["SAVE20"]},
    },
    {
        "id": "off",
        "question": "Which team won the football world cup?",
        "kind": "off_topic",
        "expected": {"answered": False, "reasons": ["OFF_TOPIC"]},
    },
    {"id": "wrong", "question": COUNT, "kind": "count", "expected": {"answered": True, "count": 11}},
]


@pytest.fixture(scope="module", autouse=True)
def kept(service: Service) -> Iterator[None]:
    """A set of the tenant acme."""
    service.evaluations.sets.save(tenant_named(ACME), set_of("complaints", enumerate(CASES, 1)))
    yield
    service.evaluations.sets.delete(tenant_named(ACME), "complaints")


def ran(http: httpx.Client, **variables: Any) -> dict[str, Any]:
    answer = graphql(http, RUN, set="complaints", **variables)
    assert "errors" not in answer, answer
    result = answer["data"]["runEval"]
    assert isinstance(result, dict)
    return result


def test_a_set_is_run_within_the_request_and_every_field_is_there(http: httpx.Client) -> None:
    report = ran(http)["report"]
    assert (report["cases"], report["exact"], report["errors"], report["outcome"]) == (4, 3, 0, "ungated")
    assert report["cells"] == {"unanswerableRefused": 1, "unanswerableAnswered": 0, "answerableRefused": 0, "answerableAnswered": 3}
    assert {"metric": "exact_rate", "value": 0.75, "n": 4, "undefined": None}.items() <= report["scores"][0].items()
    assert [each["caseId"] for each in report["results"]] == ["count", "quote", "off", "wrong"]
    assert report["results"][3]["problems"] == [{"check": "count", "message": "counts 10 instead of 11", "invented": True}]


def test_a_report_can_be_listed_shown_and_compared(http: httpx.Client) -> None:
    before, after = ran(http)["reportId"], ran(http, limit=3)["reportId"]
    listed = graphql(http, 'query { evals(setName: "complaints", first: 1) { reports { reportId results { caseId } } cursor } }')["data"][
        "evals"
    ]
    assert len(listed["reports"]) == 1
    assert listed["reports"][0]["results"] == []
    assert listed["cursor"]
    query = "query($id: ID!) { evalReport(reportId: $id) { reportId subject { selected } results { caseId } } }"
    shown = graphql(http, query, id=after)["data"]["evalReport"]
    assert shown == {
        "reportId": after,
        "subject": {"selected": "first 3 cases"},
        "results": [{"caseId": each} for each in ("count", "quote", "off")],
    }
    query = "query($a: ID!, $b: ID!) { evalDiff(beforeId: $a, afterId: $b) { regressed onlyBefore changes { metric delta } } }"
    diff = graphql(http, query, a=before, b=after)["data"]["evalDiff"]
    assert (diff["regressed"], diff["onlyBefore"], diff["changes"][0]) == ([], ["wrong"], {"metric": "exact_rate", "delta": 0.25})


def test_a_baseline_gives_a_verdict_with_the_failing_cases_by_name(http: httpx.Client) -> None:
    before = ran(http)["reportId"]
    verdict = ran(http, baseline=before)["report"]["verdict"]
    assert verdict["passed"]
    assert [case["caseId"] for case in verdict["failing"]] == ["wrong"]
    assert verdict["diff"]["sameSet"]


def test_a_set_of_the_product_brings_its_gate(http: httpx.Client) -> None:
    report = graphql(http, RUN, set="banking", limit=2, gate=True)["data"]["runEval"]["report"]
    assert report["outcome"] == "failed"
    assert not report["verdict"]["passed"]


def test_a_large_set_is_left_to_a_worker_and_found_under_the_id_given_at_once(http: httpx.Client, service: Service) -> None:
    begun = ran(http, background=True, name="soon")
    assert begun["report"] is None
    assert begun["schedule"]["casesDone"] == 0
    query = "query($id: ID!) { evalReport(reportId: $id) { cases } }"
    assert graphql(http, query, id=begun["reportId"])["data"] == {"evalReport": None}
    waiting = [work for work in service.duties["evaluation"].due(service.clock.now()) if work.key[0] == "soon"]
    for work in waiting:
        waiting += service.duties["evaluation"].do(work)
    assert graphql(http, query, id=begun["reportId"])["data"] == {"evalReport": {"cases": 4}}
    listed = graphql(http, "query { evalSchedules { scheduleId nextAt lastReportId } }")["data"]["evalSchedules"]
    assert {"scheduleId": "soon", "nextAt": None, "lastReportId": begun["reportId"]} in listed
    assert graphql(http, 'mutation { deleteEvalSchedule(scheduleId: "soon") }')["data"] == {"deleteEvalSchedule": True}


def test_sets_are_listed_by_name(http: httpx.Client) -> None:
    listed = graphql(http, "query { evalSets { name cases digest description keptAt } }")["data"]["evalSets"]
    assert [(each["name"], each["cases"], each["keptAt"] is None) for each in listed] == [("banking", 180, True), ("complaints", 4, False)]


@pytest.mark.parametrize(
    ("variables", "code", "words"),
    [
        ({"set": "nothing"}, "NOT_FOUND", "no set is called"),
        ({"set": "../cases"}, "NOT_FOUND", "no set is called"),
        ({"set": "banking"}, "BAD_USER_INPUT", "limit: asks for 180 cases"),
        ({"set": "banking", "limit": 0}, "BAD_USER_INPUT", "limit: asks for 0 cases"),
        ({"set": "complaints", "gate": True}, "BAD_USER_INPUT", "gate: the set 'complaints' comes without a gate"),
        ({"set": "complaints", "baseline": "none"}, "NOT_FOUND", "no evaluation report"),
        ({"set": "complaints", "every": 3600}, "BAD_USER_INPUT", "everySeconds: is only for evaluations with background"),
        ({"set": "complaints", "background": True, "limit": 2}, "BAD_USER_INPUT", "limit: is only for evaluations without background"),
        ({"set": "complaints", "background": True, "every": 1}, "BAD_USER_INPUT", "everyS: must be 60 to 31,622,400 seconds"),
    ],
)
def test_what_cannot_be_run_says_why(http: httpx.Client, variables: dict[str, Any], code: str, words: str) -> None:
    error = graphql(http, RUN, **variables)["errors"][0]
    assert error["extensions"]["code"] == code
    assert words in error["message"]


def test_another_tenant_sees_neither_sets_nor_reports_nor_schedules(http: httpx.Client) -> None:
    report_id = ran(http)["reportId"]
    query = "query($id: ID!) { evals { reports { reportId } } evalReport(reportId: $id) { cases } evalSets { name } evalSchedules { scheduleId } }"
    seen = graphql(http, query, BIRCH, id=report_id)["data"]
    assert seen == {"evals": {"reports": []}, "evalReport": None, "evalSets": [{"name": "banking"}], "evalSchedules": []}
    assert graphql(http, RUN, BIRCH, set="complaints")["errors"][0]["extensions"]["code"] == "NOT_FOUND"
