"""Ingest jobs through GraphQL and REST: documents handed in are a job, stored by the worker, and the same everywhere."""

import json
from typing import Any

import httpx
import pytest

from tests.doors.calls import graphql
from worker.opening import Service

TENANT = "jobs"
OTHER = "jobs-other"

FIELDS = """
jobId source batchId state cancelling handedIn complete received indexed unchanged updated duplicate rejected saved corpusSize rate remaining
seconds createdAt startedAt finishedAt mapping attributeFields masked { kind count } warnings error rejections { row docId field reason }
"""
HAND_IN = (
    f"mutation($documents: [DocumentInput!]!, $batchId: String) {{ indexDocuments(documents: $documents, batchId: $batchId, async: true)"
    f" {{ batchId received indexed corpusSize warnings rejections {{ row }} job {{ {FIELDS} }} }} }}"
)
JOB = f"query($id: ID!) {{ job(jobId: $id) {{ {FIELDS} }} }}"
CANCEL = "mutation($id: ID!) { cancelJob(jobId: $id) { jobId state error } }"
RETRY = "mutation($id: ID!) { retryJob(jobId: $id) { jobId state error } }"


def document(number: int, text: str = "The invoice was late.") -> dict[str, Any]:
    return {"docId": f"j-{number}", "source": "web", "text": text, "occurredAt": "2026-03-01T10:00:00Z"}


def handed_in(http: httpx.Client, *documents: dict[str, Any], tenant: str = TENANT, **variables: Any) -> dict[str, Any]:
    answer = graphql(http, HAND_IN, tenant, documents=list(documents), **variables)
    assert "errors" not in answer, answer
    found = answer["data"]["indexDocuments"]
    assert isinstance(found, dict)
    return found


def work(service: Service) -> None:
    """What a worker does."""
    duty = service.duties["ingest_job"]
    waiting = [*duty.due(service.clock.now())]
    while waiting:
        waiting += duty.do(waiting.pop(0))


@pytest.fixture(autouse=True)
def _nothing_left(service: Service) -> None:
    for tenant, job in list(service.jobs.unfinished()):
        service.jobs.cancel(tenant, job.job_id)


def test_documents_handed_in_are_a_job_that_the_worker_stores(http: httpx.Client, service: Service) -> None:
    found = handed_in(http, document(1), document(2, ""), document(3), document(1), batchId="march")
    assert (found["batchId"], found["received"], found["rejections"]) == ("march", 0, [])
    job = found["job"]
    assert (job["state"], job["handedIn"], job["complete"], job["received"], job["source"]) == ("QUEUED", 4, True, 0, "indexDocuments")
    assert graphql(http, '{ document(docId: "j-1") { docId } }', TENANT)["data"]["document"] is None
    work(service)
    done = graphql(http, JOB, TENANT, id=job["jobId"])["data"]["job"]
    assert (done["state"], done["received"], done["indexed"], done["duplicate"], done["rejected"]) == ("DONE", 4, 2, 1, 1)
    assert done["rejections"] == [{"row": 2, "docId": "j-2", "field": "text", "reason": "is empty"}]
    assert (done["corpusSize"], done["remaining"], done["error"]) == (2, 0.0, None)
    assert graphql(http, '{ document(docId: "j-1") { docId } }', TENANT)["data"]["document"] == {"docId": "j-1"}
    listed = graphql(http, f"{{ jobs(state: DONE) {{ jobs {{ {FIELDS} }} cursor }} }}", TENANT)["data"]["jobs"]
    assert done in listed["jobs"]


def test_without_async_there_is_no_job(http: httpx.Client) -> None:
    query = "mutation($documents: [DocumentInput!]!) { indexDocuments(documents: $documents) { indexed unchanged job { jobId } } }"
    found = graphql(http, query, "jobs-at-once", documents=[document(1)])["data"]["indexDocuments"]
    assert (found["indexed"] + found["unchanged"], found["job"]) == (1, None)


def test_more_documents_than_a_batch_may_hold_are_taken_as_a_job(http: httpx.Client, service: Service) -> None:
    many = [document(n) for n in range(service.settings.max_batch_documents + 1)]
    assert handed_in(http, *many)["job"]["handedIn"] == len(many)


def test_a_bad_batch_name_is_refused_as_in_the_foreground(http: httpx.Client) -> None:
    answer = graphql(http, HAND_IN, TENANT, documents=[document(1)], batchId="x" * 201)
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert "batchId" in answer["errors"][0]["message"]


def test_rest_and_graphql_tell_the_same(http: httpx.Client, service: Service) -> None:
    job_id = handed_in(http, document(1), document(2, ""))["job"]["jobId"]
    work(service)
    rest = http.get(f"/jobs/{job_id}", headers={"x-tenant-id": TENANT}).json()
    told = graphql(http, JOB, TENANT, id=job_id)["data"]["job"]
    assert rest["state"].upper() == told["state"]
    assert {name: value for name, value in rest.items() if name not in ("state", "rejections")} == {
        name: value for name, value in told.items() if name not in ("state", "rejections")
    }
    assert [each["row"] for each in rest["rejections"]] == [each["row"] for each in told["rejections"]]


def test_rejected_rows_are_downloaded_as_json_lines_with_the_original(http: httpx.Client, service: Service) -> None:
    given = [document(n, "" if n % 2 else "words") | {"attributes": {"amount": 0.12345678901}} for n in range(6)]
    job_id = handed_in(http, *given)["job"]["jobId"]
    work(service)
    answer = http.get(f"/jobs/{job_id}/rejects", headers={"x-tenant-id": TENANT})
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert answer.headers["content-disposition"] == f'attachment; filename="{job_id}-rejects.jsonl"'
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [(row["row"], row["field"], row["file"]) for row in rows] == [(n + 1, "text", "indexDocuments") for n in (1, 3, 5)]
    assert [row["original"]["attributes"] for row in rows] == [{"amount": 0.12345678901}] * 3


def test_another_tenants_job_looks_like_one_nobody_has(http: httpx.Client) -> None:
    job_id = handed_in(http, document(1))["job"]["jobId"]
    assert graphql(http, JOB, OTHER, id=job_id)["data"]["job"] is None
    assert graphql(http, "{ jobs { jobs { jobId } } }", OTHER)["data"]["jobs"]["jobs"] == []
    for mutation in (CANCEL, RETRY):
        told = [graphql(http, mutation, OTHER, id=each)["errors"][0] for each in (job_id, "job-never-there")]
        assert told[0]["message"] == told[1]["message"]
        assert told[0]["extensions"]["code"] == "NOT_FOUND"
    for path in ("/jobs/{}", "/jobs/{}/rejects"):
        answers = [http.get(path.format(each), headers={"x-tenant-id": OTHER}) for each in (job_id, "job-never-there")]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json()["detail"] == answers[1].json()["detail"]


def test_a_job_is_cancelled_and_only_a_failed_one_is_tried_again(http: httpx.Client, service: Service) -> None:
    job_id = handed_in(http, document(1))["job"]["jobId"]
    assert graphql(http, RETRY, TENANT, id=job_id)["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert graphql(http, CANCEL, TENANT, id=job_id)["data"]["cancelJob"]["state"] == "CANCELLED"
    work(service)
    assert graphql(http, JOB, TENANT, id=job_id)["data"]["job"]["received"] == 0
    other = handed_in(http, document(7))["job"]["jobId"]
    service.jobs.fail(next(tenant for tenant, _ in service.jobs.unfinished()), other, "no more room")
    assert graphql(http, JOB, TENANT, id=other)["data"]["job"]["error"] == "no more room"
    assert graphql(http, RETRY, TENANT, id=other)["data"]["retryJob"] == {"jobId": other, "state": "QUEUED", "error": None}
    work(service)
    assert graphql(http, JOB, TENANT, id=other)["data"]["job"]["state"] == "DONE"
