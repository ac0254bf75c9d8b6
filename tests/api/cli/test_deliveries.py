"""``wisdom digests undelivered|redeliver``, and what ``monitors run --once`` sends."""

import json
from datetime import UTC, datetime, timedelta

from standardwebhooks import Webhook

from tests.api.cli.conftest import Run, jsonl
from tests.worker.deliveries.digests import SECRET
from tests.worker.deliveries.receiving import answer, receiving

SETUP = {"WA_WEBHOOK_SECRET": SECRET, "WA_DELIVERY_PRIVATE_NETWORKS": "true", "WA_DELIVERY_TIMEOUT_S": "5"}


def watched(run: Run, target: str) -> None:
    """Two documents of the last full hours that say it, and a monitor that tells this receiver."""
    now = datetime.now(UTC)
    rows = [
        {"doc_id": f"d-{n}", "source": "web", "text": "My card was declined again.", "occurred_at": (now - timedelta(hours=n)).isoformat()}
        for n in (2, 3)
    ]
    assert run("ingest", "-", given=jsonl(rows)).returncode == 0
    question = "How many documents say that a card was declined?"
    saved = run("monitors", "save", "Declined", "--question", question, "--count-at-least", "2", "--to", f"webhook={target}", **SETUP)
    assert saved.returncode == 0, saved.stderr
    assert "secret-path" not in saved.stdout + saved.stderr


def test_a_monitor_that_fires_is_delivered_in_the_same_process(run: Run) -> None:
    with receiving(answer(200)) as server:
        watched(run, server.url)
        ran = run("monitors", "run", "--once", **SETUP)
        assert ran.returncode == 0, ran.stderr
        assert "1 delivery: 1 delivered" in ran.stderr
        (got,) = server.received
    assert Webhook(SECRET).verify(got.body, got.headers)["data"]["n"] == 2
    assert "everything was delivered" in run("digests", "undelivered").stdout


def test_what_did_not_arrive_is_listed_and_sent_again(run: Run) -> None:
    with receiving(answer(410), answer(410), answer(200)) as server:
        watched(run, server.url)
        assert "1 undelivered" in run("monitors", "run", "--once", **SETUP).stderr
        listed = run("digests", "undelivered", "--json")
        (delivery,) = json.loads(listed.stdout)["deliveries"]
        assert (delivery["state"], delivery["lastError"]) == ("undelivered", "the receiver answered 410")
        shown = run("digests", "undelivered").stdout
        assert "the receiver answered 410" in shown
        assert "secret-path" not in shown + listed.stdout
        failed = run("digests", "redeliver", delivery["digestId"], **SETUP)
        assert (failed.returncode, "410" in failed.stdout) == (1, True)
        done = run("digests", "redeliver", delivery["digestId"], "--json", **SETUP)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["deliveries"][0]["state"] == "delivered"
        assert len({got.headers["webhook-id"] for got in server.received}) == 1
        assert run("digests", "redeliver", delivery["digestId"], **SETUP).stdout.strip() == "nothing to send"
    assert run("digests", "redeliver", "no-such-digest").returncode == 1


def test_what_keeps_digests_from_being_sent_is_said_when_a_monitor_is_saved(run: Run) -> None:
    question = "How many documents say that a card was declined?"
    saved = run("monitors", "save", "Declined", "--question", question, "--count-at-least", "2", "--to", "email=team@example.org")
    assert saved.returncode == 0, saved.stderr
    assert "WA_SMTP_URL" in saved.stderr
