"""Receivers as callers give them and as anybody may see them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import InvalidRequest
from worker.deliveries.receivers import Receiver, masked, receiver_as_json, receiver_from_json, receiver_of


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"channel": "WEBHOOK", "target": "https://h.example/x?y=z"}, Receiver("webhook", "https://h.example/x?y=z")),
        (
            {"channel": "slack", "target": "https://hooks.slack.com/services/T/B/x"},
            Receiver("slack", "https://hooks.slack.com/services/T/B/x"),
        ),
        ({"channel": "email", "target": "a.b+c@example.org"}, Receiver("email", "a.b+c@example.org")),
        ({"channel": "stream"}, Receiver("stream")),
    ],
)
def test_a_good_one(given: object, made: Receiver) -> None:
    assert receiver_of(given) == made
    assert receiver_from_json(receiver_as_json(made)) == made


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("https://h.example", "receivers"),
        ({}, "receivers.channel"),
        ({"channel": "fax", "target": "x"}, "receivers.channel"),
        ({"channel": "webhook"}, "receivers.target"),
        ({"channel": "webhook", "target": 5}, "receivers.target"),
        ({"channel": "webhook", "target": "ftp://h.example"}, "receivers.target"),
        ({"channel": "webhook", "target": "https:///x"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://user:pw@h.example"}, "receivers.target"),
        ({"channel": "email", "target": "=?utf-8?q?=0d=0aBcc=3Ax?=@example.org"}, "receivers.target"),
        ({"channel": "email", "target": "a@b..example.org"}, "receivers.target"),
        ({"channel": "email", "target": "a..b@example.org"}, "receivers.target"),
        ({"channel": "email", "target": f"{'a' * 65}@example.org"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://h.example/a b"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://h.example/\r\nx"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://h.example:99999/"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://h.example/#x"}, "receivers.target"),
        ({"channel": "webhook", "target": "https://[::1"}, "receivers.target"),
        ({"channel": "slack", "target": "https://h.example/" + "a" * 2000}, "receivers.target"),
        ({"channel": "stream", "target": "x"}, "receivers.target"),
    ],
)
def test_what_cannot_be_sent_to_is_refused_by_field_without_repeating_the_address(given: object, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        receiver_of(given)
    assert caught.value.field == field
    if isinstance(given, dict) and len(str(given.get("target", ""))) > 5:
        assert str(given["target"]) not in str(caught.value)


@given(st.text(min_size=4, max_size=40, alphabet="abcdefghijklmnopqrstuvwxyz0123456789"))
def test_no_path_query_or_name_is_left_in_a_masked_address(secret: str) -> None:
    url = f"https://hooks.example/{secret}!?k={secret}!"
    shown = masked(receiver_of({"channel": "slack", "target": url}))
    assert shown.startswith("https://hooks.example/…")
    assert f"{secret}!" not in shown
    assert f"{secret}@" not in masked(receiver_of({"channel": "email", "target": f"{secret}@example.org"}))


def test_two_receivers_can_be_told_apart_although_they_are_masked() -> None:
    one, two = Receiver("webhook", "https://h.example/a"), Receiver("webhook", "https://h.example/b")
    assert masked(one) != masked(two)
    assert one.host == two.host == "h.example"
