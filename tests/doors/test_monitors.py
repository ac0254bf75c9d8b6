"""Monitors, digests and deliveries through the web doors, from saving a monitor to sending its digest again."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api import monitor_operations, monitor_rendering
from api.casing import snake_keys
from runtime.errors import InvalidRequest
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.calls import graphql, tool
from tests.doors.sockets import talking
from tests.worker.deliveries.receiving import closed_port
from worker.opening import Service

ROOT = Path(__file__).resolve().parents[2]
WATCH = "watch"
SECRET_HOOK = f"https://localhost:{closed_port()}/services/T0/secret-path"
DIGEST = """
digestId monitorId monitorName severity question version windowStart windowEnd firedBecause breached observed threshold unit baseline n denominator
docIds cursor withdrawnDocIds runId firstSeen lastSeen createdAt updatedAt degraded { part effect }
refusal { reason message gate score threshold hint nearest { docId score snippet } }
claims { text kind support documentCount citations { docId version start end quote support } counterEvidence { docId version start end quote support }
  proof { ...proof against { value } } }
proofs { ...proof against { value } }
"""
PROOF = """
fragment proof on Proof { aggregation match timeZone bucket value denominator docIds cursor engineGeneration counts { key count }
  filters { since before sources themeIds accountIds docIds ratingMin ratingMax attributes { key value } } }
"""
SAVE = (
    "mutation($input: SaveMonitorInput!) { saveMonitor(input: $input) { monitor { monitorId version state severity paused "
    "condition { countAtLeast refused } filters { themeIds } receivers { receiverId channel target } windowSeconds } } }"
)
EVALUATE = (
    'mutation($dry: Boolean!) { evaluateMonitor(input: {monitorId: "declined", dryRun: $dry}) { evaluation { outcome stateBefore stateAfter dryRun'
    " digestWanted n denominator because digest { digestId } } } }"
)
MONITOR: dict[str, Any] = {
    "monitorId": "declined",
    "name": "Declined cards",
    "question": "How many documents say that a card was declined?",
    "condition": {"countAtLeast": 2},
    "severity": "CRITICAL",
    "receivers": [{"channel": "SLACK", "target": SECRET_HOOK}, {"channel": "STREAM"}],
}


@pytest.fixture(scope="module")
def watched(service: Service) -> str:
    """A tenant with three fresh documents, two of which say it."""
    now = service.clock.now()
    texts = ("My card was declined at the till.", "The card was declined again today.", "Shipping took three weeks.")
    rows = [
        {"docId": f"w-{number}", "source": "ticket", "text": text, "occurredAt": (now - timedelta(hours=number + 1)).isoformat()}
        for number, text in enumerate(texts)
    ]
    service.ingester.ingest(tenant_named(WATCH), rows_of(rows))
    return WATCH


def ask(http: httpx.Client, query: str, **variables: Any) -> dict[str, Any]:
    answer = graphql(http, query, WATCH, **variables)
    assert "errors" not in answer, answer
    data: dict[str, Any] = answer["data"]
    return data


def refused(http: httpx.Client, query: str, **variables: Any) -> tuple[str, str | None]:
    error = graphql(http, query, WATCH, **variables)["errors"][0]["extensions"]
    return error["code"], error.get("field")


@pytest.fixture(scope="module")
def fired(web: str, watched: str) -> dict[str, Any]:
    """The monitor saved, tried, evaluated and heard of, as each door told it."""
    told: dict[str, Any] = {}
    with httpx.Client(base_url=web, timeout=30) as http, talking(web) as talk:
        talk.greet(watched)
        talk.subscribe(after="")
        told["saved"] = ask(http, SAVE, input=MONITOR)["saveMonitor"]["monitor"]
        told["dry"] = ask(http, EVALUATE, dry=True)["evaluateMonitor"]["evaluation"]
        told["dry_digests"] = ask(http, "{ digests { digests { digestId } } }")["digests"]["digests"]
        told["wet"] = ask(http, EVALUATE, dry=False)["evaluateMonitor"]["evaluation"]
        told["again"] = ask(http, EVALUATE, dry=False)["evaluateMonitor"]["evaluation"]
        told["heard"] = talk.told()
    return told


def test_a_monitor_is_saved_and_shown_without_the_secret_part_of_its_addresses(fired: dict[str, Any], http: httpx.Client) -> None:
    saved = fired["saved"]
    assert (saved["monitorId"], saved["version"], saved["state"], saved["severity"]) == ("declined", 1, "OK", "CRITICAL")
    assert saved["condition"] == {"countAtLeast": 2, "refused": None}
    assert [item["channel"] for item in saved["receivers"]] == ["SLACK", "STREAM"]
    page = graphql(http, "{ monitors { monitors { monitorId receivers { target } } cursor } }", WATCH)
    listed = tool(http, "list_monitors", {}, WATCH)["result"]
    assert "secret-path" not in f"{saved}{page}{listed}"
    assert listed["structuredContent"]["monitors"][0]["state"] == "firing"


@pytest.mark.parametrize(
    ("receiver", "setting"),
    [
        ({"channel": "WEBHOOK", "target": "https://hooks.example/x"}, "WA_WEBHOOK_SECRET"),
        ({"channel": "EMAIL", "target": "team@example.org"}, "WA_SMTP_URL"),
        ({"channel": "SLACK", "target": "http://hooks.example/x"}, "WA_DELIVERY_PRIVATE_NETWORKS"),
    ],
)
def test_what_will_keep_digests_from_being_sent_is_said_when_the_monitor_is_saved(
    http: httpx.Client, watched: str, receiver: dict[str, str], setting: str
) -> None:
    query = "mutation($input: SaveMonitorInput!) { saveMonitor(input: $input) { warnings } }"
    given = MONITOR | {"monitorId": "warned", "paused": True, "receivers": [receiver, {"channel": "STREAM"}]}
    (warning,) = ask(http, query, input=given)["saveMonitor"]["warnings"]
    assert setting in warning
    assert ask(http, 'mutation { deleteMonitor(input: {monitorId: "warned"}) { deleted } }')["deleteMonitor"]["deleted"] is True


def test_a_dry_run_tells_and_changes_nothing(fired: dict[str, Any]) -> None:
    assert (fired["dry"]["outcome"], fired["dry"]["stateAfter"], fired["dry"]["digestWanted"]) == ("breached", "FIRING", True)
    assert fired["dry"]["digest"] == fired["wet"]["digest"]
    assert fired["dry_digests"] == []


def test_an_evaluation_publishes_one_digest_that_subscribers_hear_of(fired: dict[str, Any]) -> None:
    assert (fired["wet"]["outcome"], fired["wet"]["stateBefore"], fired["wet"]["stateAfter"]) == ("breached", "OK", "FIRING")
    assert (fired["wet"]["n"], fired["wet"]["denominator"]) == (2, 3)
    assert fired["again"]["outcome"] == "repeated"
    assert fired["heard"] == fired["wet"]["digest"]["digestId"]


def test_a_digest_is_the_same_through_graphql_mcp_and_python(fired: dict[str, Any], http: httpx.Client, service: Service) -> None:
    digest_id = fired["heard"]
    expected = monitor_rendering.digest(monitor_operations.digest(service, tenant_named(WATCH), digest_id))
    seen = ask(http, "query($id: ID!) { digest(digestId: $id) {" + DIGEST + "} }" + PROOF, id=digest_id)["digest"]
    assert seen == expected | {"severity": expected["severity"].upper()}
    (payload,) = tool(http, "get_digests", {"digest_id": digest_id}, WATCH)["result"]["structuredContent"]["digests"]
    assert payload == snake_keys(expected)
    (listed,) = ask(http, '{ digests(monitorId: "declined") { digests {' + DIGEST + "} } }" + PROOF)["digests"]["digests"]
    assert listed == seen
    assert set(expected["docIds"]) == {"w-0", "w-1"}
    assert expected["claims"] or expected["refusal"]


def test_the_command_line_gives_the_same_digest(fired: dict[str, Any], service: Service) -> None:
    expected = monitor_rendering.digest(monitor_operations.digest(service, tenant_named(WATCH), fired["heard"]))
    command = [sys.executable, "-m", "api.cli.main", "digests", "show", fired["heard"], "--json", "--quiet", "--tenant", WATCH]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WA_")}
    environ |= {"WA_ENGINE_URL": service.settings.engine_url, "WA_EMBEDDER_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_deliveries_of_a_digest_are_seen_and_made_again(fired: dict[str, Any], http: httpx.Client, service: Service) -> None:
    deliver = service.duties["deliver"]

    def work() -> None:
        waiting = [work for work in deliver.due(service.clock.now()) if work.tenant == WATCH]
        while waiting:
            waiting += deliver.do(waiting.pop(0))

    work()
    query = (
        "{ digests { digests { digestId deliveries { receiver { channel target } state attempts lastError version deliveredVersion } } } }"
    )
    (found,) = ask(http, query)["digests"]["digests"]
    states = {item["receiver"]["channel"]: item for item in found["deliveries"]}
    assert (states["STREAM"]["state"], states["STREAM"]["deliveredVersion"]) == ("DELIVERED", 1)
    assert states["SLACK"]["state"] == "UNDELIVERED"
    assert "WA_DELIVERY_PRIVATE_NETWORKS" in states["SLACK"]["lastError"]
    assert "secret-path" not in str(found)
    undelivered = ask(http, "{ deliveries(state: UNDELIVERED) { deliveries { digestId receiver { target } } cursor } }")["deliveries"]
    assert [item["digestId"] for item in undelivered["deliveries"]] == [found["digestId"]]
    redeliver = "mutation($id: ID!) { redeliverDigest(input: {digestId: $id}) { digest { digestId } deliveries { state attempts } } }"
    again = ask(http, redeliver, id=found["digestId"])["redeliverDigest"]
    assert again == {"digest": {"digestId": found["digestId"]}, "deliveries": [{"state": "PENDING", "attempts": 0}]}
    work()
    assert ask(http, "{ deliveries(state: PENDING) { deliveries { digestId } } }")["deliveries"]["deliveries"] == []


def test_a_monitor_as_it_was_read_can_be_changed_and_saved_without_knowing_its_addresses(
    fired: dict[str, Any], http: httpx.Client, service: Service
) -> None:
    receivers = [{name: item[name] for name in ("channel", "target")} for item in fired["saved"]["receivers"]]
    changed = MONITOR | {"receivers": receivers, "severity": "INFO", "expectedVersion": 1}
    saved = ask(http, SAVE, input=changed)["saveMonitor"]["monitor"]
    assert (saved["version"], saved["severity"], saved["receivers"]) == (2, "INFO", fired["saved"]["receivers"])
    kept = monitor_operations.monitor(service, tenant_named(WATCH), "declined").monitor
    assert kept.receivers[0].target == SECRET_HOOK
    assert refused(http, SAVE, input=changed) == ("CONFLICT", None)
    strange = MONITOR | {"receivers": [{"channel": "SLACK", "target": "https://localhost/…12345678"}]}
    assert refused(http, SAVE, input=strange) == ("BAD_USER_INPUT", "receivers.target")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "  "}, "name"),
        ({"question": "hello"}, "question"),
        ({"condition": {}}, "condition"),
        ({"condition": {"countAtLeast": 1, "refused": True}}, "condition"),
        ({"condition": {"countAtLeast": 0}}, "condition.countAtLeast"),
        ({"windowSeconds": 0}, "windowSeconds"),
        ({"cadenceSeconds": 10_000_000}, "cadenceSeconds"),
        ({"consecutiveBreaches": 0}, "consecutiveBreaches"),
        ({"receivers": [{"channel": "WEBHOOK", "target": "ftp://x"}]}, "receivers.target"),
        ({"monitorId": "a b"}, "id"),
        ({"filters": {"ratingMin": 4.0, "ratingMax": 2.0}}, "filters.ratingMin"),
    ],
)
def test_a_bad_member_is_named_in_camel_case(http: httpx.Client, watched: str, change: dict[str, Any], field: str) -> None:
    assert refused(http, SAVE, input=MONITOR | {"monitorId": "bad"} | change) == ("BAD_USER_INPUT", field)


@pytest.mark.parametrize(
    "mutation",
    [
        'acknowledge(input: {monitorId: "nobody"}) { monitor { state } }',
        'pauseMonitor(input: {monitorId: "nobody"}) { monitor { paused } }',
        'evaluateMonitor(input: {monitorId: "nobody"}) { evaluation { outcome } }',
        'redeliverDigest(input: {digestId: "nobody"}) { deliveries { state } }',
    ],
)
def test_what_is_not_there_is_not_found_and_anothers_looks_the_same(fired: dict[str, Any], http: httpx.Client, mutation: str) -> None:
    assert refused(http, f"mutation {{ {mutation} }}") == ("NOT_FOUND", None)
    real = mutation.replace('monitorId: "nobody"', 'monitorId: "declined"').replace('digestId: "nobody"', f'digestId: "{fired["heard"]}"')
    theirs, nobodys = (graphql(http, f"mutation {{ {text} }}", "birch")["errors"][0] for text in (real, mutation))
    assert theirs["message"] == nobodys["message"]


def test_what_is_not_there_reads_as_null_and_another_tenant_sees_nothing(fired: dict[str, Any], http: httpx.Client) -> None:
    assert ask(http, '{ monitor(monitorId: "no") { name } digest(digestId: "no") { n } }') == {"monitor": None, "digest": None}
    query = (
        'query($id: ID!) { monitor(monitorId: "declined") { name } digest(digestId: $id) { n } digests { digests { n } }'
        " deliveries { deliveries { state } } }"
    )
    theirs = graphql(http, query, "birch", id=fired["heard"])["data"]
    assert theirs == {"monitor": None, "digest": None, "digests": {"digests": []}, "deliveries": {"deliveries": []}}
    assert tool(http, "list_monitors", {}, "birch")["result"]["structuredContent"]["monitors"] == []
    assert tool(http, "get_digests", {"digest_id": fired["heard"]}, "birch")["result"]["isError"] is True


def test_pausing_acknowledging_and_deleting(fired: dict[str, Any], http: httpx.Client) -> None:
    pause = 'mutation($on: Boolean!) { pauseMonitor(input: {monitorId: "declined", paused: $on}) { monitor { paused state } } }'
    assert ask(http, pause, on=True)["pauseMonitor"]["monitor"] == {"paused": True, "state": "FIRING"}
    assert ask(http, pause, on=False)["pauseMonitor"]["monitor"]["paused"] is False
    assert refused(http, 'mutation { acknowledge(input: {monitorId: "declined"}) { monitor { state } } }') == ("CONFLICT", None)
    gone = 'mutation { deleteMonitor(input: {monitorId: "declined"}) { monitorId deleted } }'
    assert ask(http, gone)["deleteMonitor"] == {"monitorId": "declined", "deleted": True}
    assert ask(http, gone)["deleteMonitor"] == {"monitorId": "declined", "deleted": False}
    assert len(ask(http, "{ digests { digests { digestId } } }")["digests"]["digests"]) == 1


def test_a_digest_too_long_for_a_tool_loses_citations_before_it_is_left_out(fired: dict[str, Any], http: httpx.Client) -> None:
    payload = tool(http, "get_digests", {}, WATCH)["result"]["structuredContent"]
    assert (payload["truncated"], payload["left_out"]) == (False, 0)
    assert tool(http, "get_digests", {"digest_id": "x", "monitor_id": "y"}, WATCH)["result"]["isError"] is True


def test_a_damaged_monitor_is_named_and_hides_no_other(http: httpx.Client, service: Service) -> None:
    tenant = tenant_named("damaged")
    for name in ("good", "stuck", "bad"):
        service.saving.save(
            tenant, {"monitorId": name, "name": name, "question": "How many mention billing?", "condition": {"countAtLeast": 2}}
        )
    service.state.put(tenant, "monitor", "bad", {"name": "bad"})
    service.state.put(tenant, "monitor_state", "stuck", {"revision": 3})
    listing = "{ monitors { monitors { monitorId } unreadable } }"
    found = graphql(http, listing, tenant)["data"]["monitors"]
    assert [each["monitorId"] for each in found["monitors"]] == ["good"]
    assert sorted(found["unreadable"]) == ["bad", "stuck"]
    with pytest.raises(InvalidRequest, match="delete it, and save it anew"):
        service.monitors.get(tenant, "bad")
    for name in ("bad", "stuck"):
        assert service.monitors.delete(tenant, name)
    assert graphql(http, listing, tenant)["data"]["monitors"]["unreadable"] == []
