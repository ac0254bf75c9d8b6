"""``wisdom migrate``: a real process, killed and run again; and the same answers at the other end."""

import json
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runtime.clock import SystemClock
from runtime.tenancy import tenant_named
from search.documents import Document, DocumentWrite, Passage, Source, passage_id
from search.embedding.minilm import MiniLM
from search.engines.embedded import open_embedded
from search.identity import content_hash, group_key
from tests.api.cli.conftest import Run, arguments, environment

DIMENSION = 384
DOCUMENTS = 6_000
QUESTIONS = (
    "why was my card payment declined",
    "how many messages are about card arrival?",
    "which themes are the most common?",
    "what is the capital of France?",
)


def write(number: int) -> DocumentWrite:
    text = f"The card number {number} was late by {number % 9} days"
    made = Document(f"d-{number:05d}", Source("web"), text, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number % 2000))
    vector = np.random.default_rng(number).normal(size=(1, DIMENSION)).astype(np.float32)
    passage = Passage(passage_id(made.doc_id, 0), made.doc_id, 0, 0, len(text), text)
    return DocumentWrite(made, 1, content_hash(made), group_key(text), (passage,), vector / np.linalg.norm(vector))


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.db"
    model = MiniLM(threads=1)
    model.close()
    with open_embedded(path, model=model.model, dimension=DIMENSION, clock=SystemClock()) as engine:
        for start in range(0, DOCUMENTS, 1000):
            engine.write(tenant_named("default"), [write(number) for number in range(start, start + 1000)])
    return path


def stored(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_killed_in_the_middle_it_ends_the_same_when_run_again(many: Path, tmp_path: Path, process: Run) -> None:
    target = tmp_path / "copy.db"
    words = ("migrate", "--from", f"sqlite:///{many}", "--to", f"sqlite:///{target}", "--json", "--quiet")
    started = subprocess.Popen(arguments(*words), env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while stored(target) < 500 and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    started.kill()
    started.wait(30)
    reached = stored(target)
    assert 500 <= reached < DOCUMENTS
    ended = process(*words)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["copied"]["documents"] == DOCUMENTS - reached
    assert report["verified"]
    assert sum(line["to"] for line in report["compared"] if line["part"].startswith("2026")) == DOCUMENTS


@pytest.fixture
def moved(store: str, run: Run, opensearch_url: str, opensearch_prefix: str, tmp_path: Path) -> tuple[dict[str, str], ...]:
    """Where the sample is: the file it was in, a cluster it was moved to, a file it was moved back to."""
    back = f"sqlite:///{tmp_path / 'back.db'}"
    there = ("--from", store, "--to", opensearch_url, "--to-prefix", opensearch_prefix)
    home = ("--from", opensearch_url, "--from-prefix", opensearch_prefix, "--to", back)
    for words in (there, home):
        ended = run("migrate", *words, "--json")
        assert ended.returncode == 0, ended.stdout + ended.stderr
    return {"WA_ENGINE_URL": store}, {"WA_ENGINE_URL": opensearch_url, "WA_INDEX_PREFIX": opensearch_prefix}, {"WA_ENGINE_URL": back}


@pytest.mark.live("opensearch")
def test_the_same_questions_are_answered_the_same_at_the_other_end(moved: tuple[dict[str, str], ...], run: Run) -> None:
    said = [[answered(run, question, variables) for question in QUESTIONS] for variables in moved]
    assert said[0] == said[1] == said[2]
    assert sum(not each["refused"] for each in said[0]) >= 2
    assert any(each["refused"] for each in said[0])


def answered(run: Run, question: str, variables: dict[str, str]) -> dict[str, Any]:
    answer = json.loads(run("ask", question, "--json", **variables).stdout)["answer"]
    claims = [{**claim, "proof": _number(claim.get("proof")), "support": round(claim["support"], 4)} for claim in answer["claims"]]
    for claim in claims:
        claim["citations"] = [{**citation, "support": round(citation["support"], 4)} for citation in claim["citations"]]
    return {"text": answer["text"], "refused": answer["refused"], "claims": claims}


def _number(proof: dict[str, Any] | None) -> object:
    """A number and the documents behind it; the generation of the store and a place in its list are its own."""
    return proof and {name: proof[name] for name in ("value", "denominator", "docIds")}


def test_a_target_in_use_is_refused_and_nothing_is_moved_into_itself(store: str, run: Run, tmp_path: Path) -> None:
    used = f"sqlite:///{tmp_path / 'used.db'}"
    row = json.dumps({"doc_id": "mine", "source": "web", "text": "Something else", "occurred_at": "2026-03-01T10:00:00Z"})
    assert run("ingest", "-", "--engine", used, "--quiet", given=row + "\n").returncode == 0
    refused = run("migrate", "--from", store, "--to", used)
    assert refused.returncode == 1
    assert "--merge" in refused.stderr
    assert run("migrate", "--from", store, "--to", store).returncode == 2
    assert run("migrate", "--from", f"sqlite:///{tmp_path / 'none.db'}", "--to", used).returncode == 1
    merged = run("migrate", "--from", store, "--to", used, "--merge")
    assert merged.returncode == 0, merged.stderr
    assert "both are the same" in merged.stdout
    assert json.loads(run("documents", "show", "mine", "--json", "--engine", used).stdout)["text"] == "Something else"
