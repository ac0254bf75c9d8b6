"""The programs of ``docs/clients.md``, run as they stand against a server that wants keys."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.app import create_app
from api.identity.keys import Keys, pepper_of
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.judges import HERE, judged
from tests.doors.serving import running
from tests.worker.deliveries.digests import digest
from worker.opening import open_service

PAGE = Path(__file__).resolve().parents[2] / "docs/clients.md"
PROGRAMS = re.findall(r"^## (.+?)\n\n```(\w+)\n(.+?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the programs read from their environment; the server has a document and a digest."""
    store = tmp_path_factory.mktemp("clients") / "store.db"
    settings = read_settings({}, engine_url=f"sqlite:///{store}", embedder_threads=1, auth="keys", key_pepper="p" * 40)
    with open_service(settings) as service, running(create_app(service)) as url:
        tenant = tenant_named("clients")
        row = {"docId": "c-1", "source": "chat", "text": "The card was declined again.", "occurredAt": "2026-11-01T08:00:00Z"}
        service.ingester.ingest(tenant, rows_of([row]))
        service.digests.publish(tenant, digest("dig-1"))
        key = Keys(service.state, service.clock, pepper_of(settings)).create(tenant, name="c", scopes=("read", "ask", "write", "monitor"))[
            1
        ]
        yield {"WISDOM_URL": url, "WISDOM_KEY": key}


def program(language: str, has: str) -> str:
    (found,) = [text for _, written_in, text in PROGRAMS if written_in == language and has in text]
    return found


def in_python(text: str, given: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, "-c", text], env=os.environ | given, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_program_of_the_page_is_run_here() -> None:
    assert [written_in for _, written_in, _ in PROGRAMS] == ["python", "python", "ts"]


def test_python_stores_asks_and_tells_an_answer_from_a_refusal(given: dict[str, str]) -> None:
    said = in_python(program("python", "httpx.Client("), given)
    assert "stored 1 rejected []" in said
    assert "← t-1 " in said
    assert "refused: " in said


def test_python_asks_over_mcp(given: dict[str, str]) -> None:
    assert "declined" in in_python(program("python", "call_tool"), given)


def test_typescript_asks_and_follows_digests(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    file = HERE / "client_of_the_docs.ts"
    file.write_text(program("ts", "graphql-ws"), "utf-8")
    try:
        done = judged("node", "--experimental-strip-types", "--no-warnings", file.name, timeout_s=60)
    finally:
        file.unlink()
    assert done.returncode == 0, done.stderr
    assert "declined" in done.stdout
    assert "dig-1" in done.stdout
