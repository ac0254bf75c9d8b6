"""The pages in a real browser: what they show, that markup in documents stays text, and that nothing is asked of another host."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.doors.calls import graphql
from tests.doors.judges import judged

SPITEFUL = {
    "docId": "spiteful",
    "source": "review",
    "text": "😀 The voucher <b>of mine</b> was rejected at the till. It hurt.",
    "occurredAt": (datetime.now(UTC) - timedelta(days=30)).isoformat(),
    "themeId": "checkout",
}


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed to look at the pages with")
    return found


def _watched(http: httpx.Client) -> str:
    """A monitor over the spiteful document that has fired; the id of its digest."""
    monitor = {
        "monitorId": "vouchers",
        "name": "Vouchers <script>alert(3)</script>",
        "question": "How many documents say that a voucher was rejected?",
        "condition": {"countAtLeast": 1},
        "windowSeconds": 366 * 86_400,
    }
    graphql(http, "mutation($input: SaveMonitorInput!) { saveMonitor(input: $input) { warnings } }", "pages", input=monitor)
    evaluated = 'mutation { evaluateMonitor(input: {monitorId: "vouchers"}) { evaluation { digest { digestId } } } }'
    return str(graphql(http, evaluated, "pages")["data"]["evaluateMonitor"]["evaluation"]["digest"]["digestId"])


@pytest.mark.slow
def test_the_pages_work_in_a_browser_and_document_markup_stays_text(http: httpx.Client, web: str, browser: str) -> None:
    assert http.post("/ingest", json={"documents": [SPITEFUL]}, headers={"x-tenant-id": "pages"}).json()["saved"] == 1
    digest_id = _watched(http)
    questions = ("Why was the voucher rejected?", "Who won the chess world championship in 1972?")
    done = judged("node", "console_tour.mjs", browser, web, "pages", *questions, digest_id)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert (seen["errors"], seen["foreign"], seen["markup"], seen["overflow"]) == ([], [], 0, False)
    assert seen["themes"] == ["checkout"]
    assert (seen["monitors"], seen["linked"]) == (["FIRING"], digest_id)
    assert len(seen["digests"]) == 1
    assert "spiteful" in seen["cited"]
    assert "<b>of mine</b>" in seen["claims"][0]
    assert seen["marked"] in SPITEFUL["text"]
    assert seen["refusal"]
    assert "POST /ask" in seen["routes"]
