"""One POST to a server that misbehaves in every way, over a real socket; and the addresses that are never connected to."""

import logging
from datetime import UTC, datetime

import httpx
import pytest

from runtime.clock import SettableClock
from runtime.errors import InvalidRequest, ServiceError, Unavailable
from tests.worker.deliveries.receiving import answer, closed_port, receiving
from worker.deliveries.addresses import is_public, resolved
from worker.deliveries.posting import Poster

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OPEN = Poster(SettableClock(NOW), private=True)
STRICT = Poster(SettableClock(NOW))


def failure(poster: Poster, url: str, timeout_s: float = 5.0) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        poster.post(url, b"{}", {}, timeout_s)
    return caught.value


def test_a_status_of_the_200s_is_the_acknowledgement() -> None:
    with receiving(answer(204, body="")) as server:
        OPEN.post(server.url, b'{"a": 1}', {"x-one": "1"}, 5.0)
        (got,) = server.received
    assert got.line == "POST /T0/secret-path HTTP/1.1"
    assert (got.body, got.headers["x-one"]) == (b'{"a": 1}', "1")
    assert got.headers["host"] in server.url


@pytest.mark.parametrize("body", ["reset", "huge"])
def test_a_body_that_breaks_off_or_never_ends_changes_nothing(body: str) -> None:
    with receiving(body) as server:
        OPEN.post(server.url, b"{}", {}, 5.0)
        assert len(server.received) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 408, 425, 429])
def test_an_answer_that_asks_to_come_back_may_be_repeated(status: int) -> None:
    with receiving(answer(status)) as server:
        error = failure(OPEN, server.url)
    assert isinstance(error, Unavailable)
    assert str(status) in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-4", None),
        ("\xb2", None),
        ("9" * 400, 999_999_999.0),
    ],
)
def test_retry_after_is_read_in_both_forms(header: str, seconds: float | None) -> None:
    with receiving(answer(429, f"retry-after: {header}\r\n")) as server:
        error = failure(OPEN, server.url)
    assert isinstance(error, Unavailable)
    assert error.retry_after_s == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 422])
def test_any_other_refusal_is_for_good(status: int) -> None:
    with receiving(answer(status)) as server:
        error = failure(OPEN, server.url)
    assert isinstance(error, InvalidRequest)
    assert str(status) in str(error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with receiving(answer(200)) as inner, receiving(answer(status, f"location: {inner.url}\r\n")) as server:
        error = failure(OPEN, server.url)
        assert inner.received == []
    assert isinstance(error, InvalidRequest)
    assert "redirect" in str(error)


@pytest.mark.parametrize("said", ["hang", "drip"])
def test_a_slow_answer_ends_at_the_time_limit(said: str) -> None:
    with receiving(said) as server:
        assert isinstance(failure(OPEN, server.url, 0.4), Unavailable)


def test_a_server_that_is_not_there_or_speaks_no_http_is_unavailable() -> None:
    assert isinstance(failure(OPEN, f"http://127.0.0.1:{closed_port()}/x"), Unavailable)
    with receiving("SSH-2.0-OpenSSH_9.2\r\n") as server:
        assert isinstance(failure(OPEN, server.url), Unavailable)
    with receiving("hang") as server:
        assert isinstance(failure(OPEN, server.url.replace("http://", "https://"), 0.4), Unavailable)


def test_a_name_that_does_not_resolve_is_unavailable() -> None:
    assert isinstance(failure(OPEN, "https://no-such-host.invalid/x"), Unavailable)


@pytest.mark.parametrize("host", ["xn--", "xn--a", "[v1.x]", "0177.0.0.1"])
def test_what_cannot_be_a_host_is_refused_for_good(host: str) -> None:
    assert isinstance(failure(OPEN, f"https://{host}/x"), InvalidRequest)


@pytest.mark.parametrize(
    "said",
    ["drip", "hang", answer(500, body="inner words"), answer(404, body="inner words"), answer(302, "location: /inner\r\n"), "nonsense"],
)
def test_no_error_and_no_log_line_holds_the_path_or_the_servers_words(said: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with receiving(said) as server:
        error = failure(OPEN, server.url, 0.4)
    written = [f"{each}" for each in (error, *error.args)] + [
        record.getMessage() for record in caplog.records if record.name.startswith("w")
    ]
    assert not [text for text in written if "secret-path" in text or "inner" in text]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "192.0.2.7",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "::7f00:1",
        "::ffff:0:7f00:1",
        "fec0::1",
        "3fff::1",
        "192.88.99.1",
        "2002:7f00:1::",
        "x",
    ],
)
def test_addresses_that_are_not_of_the_open_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"])
def test_addresses_of_the_open_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"])
def test_a_private_address_is_refused_however_it_is_spelt(host: str) -> None:
    error = failure(STRICT, f"https://{host}:{closed_port()}/x")
    assert isinstance(error, InvalidRequest)
    assert "WA_DELIVERY_PRIVATE_NETWORKS" in str(error)


def test_plain_http_is_refused_on_the_open_internet() -> None:
    assert "https" in str(failure(STRICT, "http://example.org/x"))


def test_a_name_that_resolves_differently_a_moment_later_gains_nothing() -> None:
    """The address that was checked is the one that is connected to: the name is looked up once."""
    asked: list[str] = []

    def rebinding(host: str, port: int) -> tuple[str, ...]:
        asked.append(host)
        return ("192.0.2.1",) if len(asked) > 1 else resolved("127.0.0.1", port)

    with receiving(answer(200)) as server:
        port = httpx.URL(server.url).port
        Poster(SettableClock(NOW), private=True, resolve=rebinding).post(f"http://hooks.example.org:{port}/x", b"{}", {}, 5.0)
        assert server.received[0].headers["host"] == f"hooks.example.org:{port}"
    assert asked == ["hooks.example.org"]


def test_of_several_addresses_the_private_ones_are_left_out_and_the_next_is_tried() -> None:
    def both(_host: str, _port: int) -> tuple[str, ...]:
        return ("127.0.0.1", "10.1.2.3")

    error = failure(Poster(SettableClock(NOW), resolve=both), "https://hooks.example.org/x")
    assert isinstance(error, InvalidRequest)
    with receiving(answer(200)) as server:
        port = httpx.URL(server.url).port
        Poster(SettableClock(NOW), private=True, resolve=lambda _h, _p: ("127.0.0.2", "127.0.0.1")).post(
            f"http://two.example:{port}/", b"{}", {}, 5.0
        )
        assert len(server.received) == 1
