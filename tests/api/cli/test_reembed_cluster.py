"""``wisdom reembed`` in a cluster, as operators have it: a web server and a worker go on working while the command changes the model below them."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.cli.failures import DONE, FAILED, GATED, USAGE
from tests.api.cli.conftest import Run, arguments, environment, jsonl
from tests.faults.fronting import Call, fronting
from tests.search.embedding.serving import Embeddings, embedding

pytestmark = pytest.mark.live("opensearch")

DOCUMENTS = 60
ONE, TWO = "openai:one", "openai:two"


@pytest.fixture(scope="module")
def models() -> Iterator[Embeddings]:
    with embedding() as served:
        yield served


def text_of(number: int) -> str:
    return f"Parcel {number} came late and parcel{number} was broken"


def row(doc_id: str, text: str) -> dict[str, Any]:
    when = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    return {"doc_id": doc_id, "source": "web", "text": text, "occurred_at": when}


def cases(folder: Path, count: int) -> str:
    file = folder / "mine.jsonl"
    case = {"id": "count", "question": "How many documents are there?", "kind": "count", "expected": {"answered": True, "count": count}}
    file.write_text(json.dumps(case) + "\n", "utf-8")
    return str(file)


@dataclass
class Town:
    """A filled prefix, and commands over it."""

    run: Run
    variables: dict[str, str]
    folder: Path

    def __call__(self, *words: str, code: int = DONE, given: str = "", **more: str) -> Any:
        ended = self.run(*words, "--json", "--quiet", given=given, **{**self.variables, **more})
        assert ended.returncode == code, ended.stdout + ended.stderr
        return json.loads(ended.stdout) if ended.stdout.startswith(("{", "[")) else ended.stderr

    def served(self) -> str:
        (live,) = (each for each in self("reembed", "--status") if each["served"])
        return str(live["embedder"])


@pytest.fixture
def town(process: Run, opensearch_url: str, opensearch_prefix: str, models: Embeddings, tmp_path: Path) -> Town:
    variables = {
        "WA_ENGINE_URL": opensearch_url,
        "WA_INDEX_PREFIX": opensearch_prefix,
        "WA_EMBEDDER": ONE,
        "WA_EMBEDDER_URL": models.url,
        "WA_MONITOR_INTERVAL_S": "1",
        "WA_WORKER_METRICS_PORT": "0",
    }
    opened = Town(process, variables, tmp_path)
    opened("ingest", "-", given=jsonl([row(f"d{n}", text_of(n)) for n in range(DOCUMENTS)]))
    return opened


@contextmanager
def started(town: Town, *words: str, said: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that stays, and the line with which it said that it is there."""
    given = environment(town.folder, **town.variables, WA_LOG_LEVEL="INFO")
    with subprocess.Popen(arguments(*words), env=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next((line for line in process.stderr if said in line), "")
        assert line, "it did not start"
        draining = threading.Thread(target=process.stderr.read)
        draining.start()
        try:
            yield process, line
        finally:
            process.terminate()
            draining.join(60)


@dataclass
class Traffic:
    """Questions and writes without a pause. ``seen`` are the models of the store in the order they were told."""

    url: str
    stop: threading.Event = field(default_factory=threading.Event)
    failures: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def ask(self) -> None:
        number = len(self.asked) % DOCUMENTS
        answer = httpx.post(f"{self.url}/search", json={"query": text_of(number)}, timeout=60)
        found = answer.json()
        hits = found.get("hits", [])
        right = answer.status_code == 200 and not found["degraded"] and hits[0]["docId"] == f"d{number}" and hits[0]["vectorScore"] > 0.99
        if not right:
            self.failures.append(answer.text[:500])
        self.asked.append(number)

    def write(self) -> None:
        doc_id = f"w{len(self.written)}"
        answer = httpx.post(f"{self.url}/ingest", json={"documents": [row(doc_id, f"Written meanwhile as {doc_id}")]}, timeout=60)
        if answer.status_code != 200 or answer.json()["indexed"] != 1:
            self.failures.append(answer.text[:500])
        self.written.append(doc_id)

    def look(self) -> None:
        model = httpx.get(f"{self.url}/ready", timeout=60).json()["embedder"]["model"]
        if model not in self.seen[-1:]:
            self.seen.append(model)

    def until(self, true: Callable[[], bool]) -> None:
        pause = threading.Event()
        for _ in range(600):
            if true():
                return
            pause.wait(0.1)
        raise AssertionError("it did not come about")


@contextmanager
def traffic(url: str) -> Iterator[Traffic]:
    there = Traffic(url)

    def again(call: Callable[[], None]) -> None:
        while not there.stop.is_set():
            call()

    threads = [threading.Thread(target=again, args=(call,)) for call in (there.ask, there.write, there.look)]
    for thread in threads:
        thread.start()
    try:
        yield there
    finally:
        there.stop.set()
        for thread in threads:
            thread.join(90)


def address(line: str) -> str:
    return "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split("/", maxsplit=1)[0].split('"', maxsplit=1)[0].split(maxsplit=1)[
        0
    ].rstrip(".,")


@pytest.mark.slow
def test_a_server_and_a_worker_follow_there_and_back_and_lose_nothing(town: Town) -> None:
    town("monitors", "save", "Late", "--question", "What is said about late parcels?", "--match", "emergency", "--count-at-least", "3")
    with ExitStack() as stack:
        _, line = stack.enter_context(started(town, "serve", "--port", "0", said="http://127.0.0.1:"))
        stack.enter_context(started(town, "worker", "--local", said="ready"))
        there = stack.enter_context(traffic(address(line)))
        there.until(lambda: len(there.asked) > 5 and len(there.written) > 5)
        report = town("reembed", "--embedder", TWO, "--switch")
        assert report["served"] == report["to"] == f"{town.variables['WA_INDEX_PREFIX']}2"
        there.until(lambda: len(there.seen) == 2)
        asked, wrote = len(there.asked), len(there.written)
        town("ingest", "-", given=jsonl([row(f"e{n}", f"An emergency number {n}") for n in range(3)]))
        there.until(lambda: len(there.asked) > asked + 5 and len(there.written) > wrote + 5)
        there.until(lambda: len(town("digests", "list")["digests"]) == 1)
        back = town("reembed", "--back")
        assert back["served"] == town.variables["WA_INDEX_PREFIX"]
        there.until(lambda: len(there.seen) == 3)
    assert there.failures == []
    assert [model.split("@")[0] for model in there.seen] == [ONE, TWO, ONE]
    stored = {each["docId"] for each in _every_document(town)}
    assert stored == {*(f"d{n}" for n in range(DOCUMENTS)), *there.written, "e0", "e1", "e2"}
    assert len(town("digests", "list")["digests"]) == 1


def _every_document(town: Town) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        page = town("documents", "list", "--first", "500", *(() if cursor is None else ("--after", cursor)))
        yield from page["documents"]
        cursor = page["cursor"]
        if cursor is None:
            return


def test_through_the_gate_and_not_through_it(town: Town) -> None:
    wrong = town.folder / "gate.toml"
    built = town("reembed", "--embedder", TWO)
    assert (built["served"], built["evaluation"], built["copied"]["documents"]) == (built["from"], None, DOCUMENTS)
    wrong.write_text("[thresholds]\nexact_rate = 1.0\n", "utf-8")
    failed = town("reembed", "--embedder", TWO, "--eval", cases(town.folder, 7), "--gate", str(wrong), code=GATED)
    assert failed["served"] == failed["from"]
    assert town.served() == ONE
    only_tried = town("reembed", "--embedder", TWO, "--eval", (right := cases(town.folder, DOCUMENTS)), "--no-switch")
    assert (only_tried["served"], only_tried["evaluation"]["outcome"]) == (only_tried["from"], "passed")
    assert town("reembed", "--embedder", TWO, "--eval", right)["served"] == failed["to"]
    assert town.served() == TWO
    found = town("search", text_of(7))
    assert found["hits"][0]["vectorScore"] > 0.99
    assert "WA_EMBEDDER=openai:one is not used" in town.run("doctor", **town.variables).stdout

    assert "is served" in town("reembed", "--drop", failed["to"], "--yes", code=USAGE)
    assert "add --yes" in town("reembed", "--drop", failed["from"], code=USAGE)
    assert town("reembed", "--drop", failed["from"], "--yes") == {"removed": failed["from"]}
    assert [(each["embedder"], each["documents"]) for each in town("reembed", "--status")] == [(ONE, 0), (TWO, DOCUMENTS)]
    assert town("documents", "show", "d3")["text"] == text_of(3)


def test_a_copy_of_what_is_served_has_its_documents_and_the_state_of_all(town: Town) -> None:
    town("reembed", "--embedder", TWO, "--switch")
    town("ingest", "-", given=jsonl([row("since", "Written since")]))
    copy = f"sqlite:///{town.folder / 'copy.db'}"
    report = town("migrate", "--from", town.variables["WA_ENGINE_URL"], "--to", copy, WA_EMBEDDER=TWO)
    assert report["verified"]
    assert report["vectors"] == "carried"
    assert town("documents", "show", "since", WA_ENGINE_URL=copy, WA_EMBEDDER=TWO)["text"] == "Written since"


@pytest.mark.parametrize("stage", ["embedding", "before the ledgers are closed", "before the alias is moved"])
def test_killed_at_any_stage_it_is_run_again(town: Town, models: Embeddings, stage: str) -> None:
    reached, released = threading.Event(), threading.Event()

    def stall() -> None:
        reached.set()
        released.wait(120)
        raise ConnectionAbortedError  # who asked is dead, and what it asked for is not done after all

    def before(call: Call) -> None:
        closing = call.path == "/_aliases" and b"_closing_" in call.body
        moving = call.path == "/_aliases" and b'_live"' in call.body
        if (stage == "before the ledgers are closed" and closing) or (stage == "before the alias is moved" and moving):
            stall()

    with fronting(town.variables["WA_ENGINE_URL"]) as front:
        front.before = before
        if stage == "embedding":
            models.before = lambda model: stall() if model == "two" else None
        words = arguments("reembed", "--embedder", TWO, "--switch")
        given = environment(town.folder, **{**town.variables, "WA_ENGINE_URL": front.url})
        with subprocess.Popen(words, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
            assert reached.wait(120)
            killed.kill()
        models.before = lambda _model: None
        released.set()
        assert town.served() == ONE
        assert town("search", text_of(5))["hits"][0]["vectorScore"] > 0.99
        if stage == "before the alias is moved":
            assert any(each["closing"] for each in town("reembed", "--status"))
            assert town("reembed", "--abandon") == {"served": town.variables["WA_INDEX_PREFIX"]}
        town("ingest", "-", given=jsonl([row("after", "Written after it was killed")]))
        front.calls.clear()
    report = town("reembed", "--embedder", TWO, "--switch")
    assert report["served"] == report["to"]
    assert {each["docId"] for each in _every_document(town)} == {*(f"d{n}" for n in range(DOCUMENTS)), "after"}


def test_nothing_is_there_to_go_back_to(town: Town) -> None:
    assert "no other generation" in town("reembed", "--back", code=FAILED)
    assert "live store already" in town("reembed", "--embedder", ONE, code=USAGE)
    assert "one of --embedder" in town("reembed", code=USAGE)
    assert "for a store file" in town("reembed", "--embedder", TWO, "--to", "sqlite:///x.db", code=USAGE)
