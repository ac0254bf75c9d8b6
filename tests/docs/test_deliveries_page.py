"""``docs/deliveries.md``: its snippets run on what is really sent, and its example is what is really sent."""

import base64
import json
import re
from typing import Any

import pytest
from standardwebhooks import WebhookVerificationError

from scripts.make_docs import DOCS
from tests.worker.deliveries.conftest import clock, opened, store, worker  # noqa: F401 (fixtures)
from tests.worker.deliveries.digests import NOW, SECRET, Desk, digest
from tests.worker.deliveries.receiving import Received, answer, receiving
from worker.deliveries.receivers import Receiver

PAGE = (DOCS / "deliveries.md").read_text(encoding="utf-8")


@pytest.fixture
def snippets() -> dict[str, Any]:
    """Every name the Python snippets of the page define."""
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    return names


@pytest.fixture
def got(worker: Desk) -> Received:  # noqa: F811
    """A delivery as it arrived."""
    with receiving(answer(200)) as server:
        worker.publish(Receiver("webhook", server.url))
        worker.tick()
        (received,) = server.received
    return received


def test_the_snippets_accept_what_is_sent(snippets: dict[str, Any], got: Received) -> None:
    assert snippets["digest_of"](got.body, got.headers, SECRET)["digestId"] == "dig_1"
    assert snippets["is_ours"](got.body, got.headers, SECRET)


def test_the_snippets_refuse_what_was_changed_or_signed_by_others(snippets: dict[str, Any], got: Received) -> None:
    other = base64.b64encode(b"another key of 24 bytes!").decode()
    forged = [
        (got.body.replace(b"12", b"13"), got.headers, SECRET),
        (got.body, got.headers | {"webhook-id": "dlv_2"}, SECRET),
        (got.body, got.headers | {"webhook-timestamp": str(int(got.headers["webhook-timestamp"]) + 1)}, SECRET),
        (got.body, got.headers, other),
    ]
    for body, headers, secret in forged:
        assert not snippets["is_ours"](body, headers, secret)
        with pytest.raises(WebhookVerificationError):
            snippets["digest_of"](body, headers, secret)


def test_the_example_has_the_members_that_are_sent_and_their_values(got: Received) -> None:
    example = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    sent = json.loads(got.body)
    assert list(example) == list(sent)
    assert list(example["data"]) == list(sent["data"])
    shown = digest()
    assert shown.window_end == NOW
    assert example["data"] | {"digestId": "dig_1"} == sent["data"]
