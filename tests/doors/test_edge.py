"""The outermost layer of HTTP, on a small application that misbehaves in every way."""

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from api.edge import Edge
from runtime.settings import read_settings
from runtime.telemetry import Metrics

LIMIT = 1024


async def _crash(_request: Request) -> Response:
    raise RuntimeError("secret path /etc/shadow")


async def _size(request: Request) -> Response:
    return JSONResponse({"size": len(await request.body())})


@pytest.fixture
def client() -> TestClient:
    edge = Middleware(Edge, settings=read_settings({}, max_body_bytes=LIMIT), metrics=Metrics())
    app = Starlette(routes=[Route("/crash", _crash), Route("/size", _size, methods=["POST"])], middleware=[edge])
    return TestClient(app, raise_server_exceptions=False)


def test_an_error_nobody_planned_keeps_its_text_to_itself_and_has_an_id(client: TestClient) -> None:
    answer = client.get("/crash")
    assert answer.status_code == 500
    assert "shadow" not in answer.text
    assert answer.json()["code"] == "INTERNAL_SERVER_ERROR"
    assert answer.json()["errorId"] in answer.json()["detail"]


def test_a_correlation_id_is_taken_over_when_it_is_harmless_and_made_otherwise(client: TestClient) -> None:
    assert client.get("/crash", headers={"x-correlation-id": "run-7.a_B"}).headers["x-correlation-id"] == "run-7.a_B"
    made = client.get("/crash", headers={"x-correlation-id": 'a b"c'})
    assert len(made.headers["x-correlation-id"]) == 16
    assert made.json()["correlationId"] == made.headers["x-correlation-id"]


@pytest.mark.parametrize("body", [b"x" * (LIMIT + 1), iter([b"x" * LIMIT, b"x"])], ids=["announced", "in pieces"])
def test_a_body_over_the_limit_is_refused_whether_or_not_it_is_announced(client: TestClient, body: bytes) -> None:
    answer = client.post("/size", content=body)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_at_the_limit_arrives_whole(client: TestClient) -> None:
    assert client.post("/size", content=b"x" * LIMIT).json() == {"size": LIMIT}


def test_a_body_that_does_not_end_is_given_up(client: TestClient) -> None:
    edge = Edge(client.app, settings=read_settings({}, body_timeout_s=0.05), metrics=Metrics())

    async def never() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def posted() -> list[Message]:
        said: list[Message] = []

        async def send(message: Message) -> None:
            said.append(message)

        await edge({"type": "http", "method": "POST", "path": "/size", "headers": [(b"host", b"localhost")]}, never, send)
        return said

    assert anyio.run(posted)[0]["status"] == 408


def test_a_host_name_that_is_not_ours_is_misdirected(client: TestClient) -> None:
    assert client.get("/crash", headers={"host": "evil.example:8000"}).status_code == 421


@pytest.mark.parametrize(("origin", "status"), [("https://evil.example", 403), ("null", 403), ("http://localhost:8000", 200)])
def test_pages_of_other_origins_may_not_call(client: TestClient, origin: str, status: int) -> None:
    assert client.post("/size", content=b"", headers={"origin": origin}).status_code == status


def test_every_response_tells_the_browser_to_be_careful(client: TestClient) -> None:
    answer: httpx.Response = client.post("/size", content=b"")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
