"""The Slack message: whatever a document says stays text, within Slack's limits, and no link is unfurled."""

import json

from tests.worker.deliveries.digests import ACME, NOW, SPITEFUL, Desk, claim, digest
from tests.worker.deliveries.receiving import answer, receiving
from worker.deliveries.parcels import Parcel
from worker.deliveries.receivers import Receiver
from worker.deliveries.record import Delivery
from worker.deliveries.slack import escaped, slack_message

HOOK = Receiver("slack", "https://hooks.slack.example/services/T0/B0/secret")


def parcel(version: int = 1, **members: object) -> Parcel:
    delivery = Delivery("dlv_1", "dig_1", "payments", HOOK, "pending", version, 1, NOW, NOW)
    return Parcel(ACME, delivery, digest(version=version, **members), NOW, "https://wisdom.example/#digest=dig_1")


def texts(message: dict[str, object]) -> list[str]:
    return [item["text"] for item in _plain(message["blocks"])]


def _plain(value: object) -> list[dict[str, str]]:
    if isinstance(value, dict):
        return [value] if value.get("type") == "plain_text" else [found for item in value.values() for found in _plain(item)]
    return [found for item in value for found in _plain(item)] if isinstance(value, list) else []


def test_a_message_says_what_fired_why_and_where_it_is_said() -> None:
    said = "\n".join(texts(slack_message(parcel())))
    for part in ("[critical] Card payments", "12 of 80 documents", "threshold 10", "Card payments are declined.", "d-1", "dlv_1", "dig_1"):
        assert part in said


def test_markup_of_documents_stays_text_and_links_are_not_unfurled() -> None:
    message = slack_message(parcel(claims=(claim(SPITEFUL, doc_id="<!here>"),), fired_because=SPITEFUL, monitor_name=SPITEFUL))
    sent = json.dumps(message)
    assert "<" not in sent
    assert ">" not in sent
    assert "&lt;!channel&gt;" in sent
    assert (message["unfurl_links"], message["unfurl_media"]) == (False, False)
    assert "mrkdwn" not in sent
    assert escaped("&lt;") == "&amp;lt;"


def test_blocks_keep_to_slacks_limits_whatever_the_digest_holds() -> None:
    message = slack_message(parcel(claims=tuple(claim("<" * 5000) for _ in range(100)), monitor_name="&" * 400, fired_because=""))
    assert len(message["blocks"]) <= 50
    assert all(1 <= len(text) <= 3000 for text in texts(message))
    assert len(message["blocks"][0]["text"]["text"]) <= 150
    assert all(text.count("&") == text.count(";") for text in texts(message))  # no entity is cut
    assert "90 more findings" in "\n".join(texts(message))


def test_an_update_says_so_first() -> None:
    message = slack_message(parcel(version=2))
    assert message["text"].startswith("Update: ")
    assert "dlv_1_2" in "\n".join(texts(message))


def test_it_is_posted(worker: Desk) -> None:
    with receiving(answer(200)) as server:
        worker.publish(Receiver("slack", server.url))
        worker.tick()
        (got,) = server.received
    assert got.headers["content-type"] == "application/json"
    assert json.loads(got.body)["blocks"][0]["type"] == "header"
    assert "webhook-signature" not in got.headers
