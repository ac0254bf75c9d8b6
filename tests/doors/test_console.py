"""The pages in a real browser: what they show, that markup in documents stays text, and that nothing is asked of another host."""

import json
import shutil
from typing import Any

import httpx
import pytest

from tests.doors.judges import judged

SPITEFUL = {
    "docId": "spiteful",
    "source": "review",
    "text": "😀 The voucher <img src=x onerror=alert(1)><script>alert(2)</script> was rejected at the till. It hurt.",
    "occurredAt": "2026-03-01T00:00:00Z",
    "themeId": "checkout",
}


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed to look at the pages with")
    return found


@pytest.mark.slow
def test_the_pages_work_in_a_browser_and_document_markup_stays_text(http: httpx.Client, web: str, browser: str) -> None:
    assert http.post("/ingest", json={"documents": [SPITEFUL]}, headers={"x-tenant-id": "pages"}).json()["saved"] == 1
    done = judged(
        "node", "console_tour.mjs", browser, web, "pages", "Why was the voucher rejected?", "Who won the chess world championship in 1972?"
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert (seen["errors"], seen["foreign"], seen["markup"], seen["overflow"]) == ([], [], 0, False)
    assert seen["themes"] == ["checkout"]
    assert "<script>alert(2)</script>" in seen["claims"][0]
    assert seen["marked"] in SPITEFUL["text"]
    assert seen["refusal"]
    assert "POST /ask" in seen["routes"]
