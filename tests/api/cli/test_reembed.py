"""``wisdom reembed``: a second generation beside the live store, held against it, with a way there and back."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.failures import DONE, FAILED, GATED, USAGE
from api.reembedding import beside, switching
from runtime.settings import read_settings
from tests.api.cli.conftest import SAMPLE_ROWS, Run, jsonl
from tests.search.embedding.serving import embedding

NAME = "openai:bag-of-words"
CASES = (
    {"id": "count", "question": "How many documents are there?", "kind": "count", "expected": {"answered": True, "count": SAMPLE_ROWS + 1}},
    {
        "id": "off",
        "question": "Which team won the cup?",
        "kind": "off_topic",
        "expected": {"answered": False, "reasons": ["OFF_TOPIC", "NOT_ANSWERED"]},
    },
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with embedding() as served:
        yield served.url


@pytest.fixture
def live(store: str, run: Run, tmp_path: Path) -> str:
    """A live store of the test's own."""
    url = f"sqlite:///{tmp_path / 'live.db'}"
    assert run("migrate", "--from", store, "--to", url).returncode == DONE
    return url


@pytest.fixture
def cases(tmp_path: Path) -> str:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(case) + "\n" for case in CASES), "utf-8")
    return str(file)


def words_after(command: str) -> tuple[dict[str, str], list[str]]:
    """Variables and arguments of a printed command."""
    words = shlex.split(command)
    at = words.index("wisdom")
    return dict(word.split("=", 1) for word in words[:at]), words[at + 1 :]


def test_there_through_the_gate_and_back_without_losing_a_document(live: str, run: Run, endpoint: str, cases: str) -> None:
    ended = run("reembed", "--embedder", NAME, "--engine", live, "--eval", cases, "--json", "--quiet", WA_EMBEDDER_URL=endpoint)
    assert ended.returncode == DONE, ended.stdout + ended.stderr
    report = json.loads(ended.stdout)
    assert report["verified"]
    assert report["vectors"].startswith("embedded anew with openai:bag-of-words")
    assert report["evaluation"]["outcome"] == "passed"
    assert report["to"].endswith("live.openai-bag-of-words.db")

    row = {"doc_id": "late", "source": "web", "text": "A parcel that came late", "occurred_at": "2026-06-01T10:00:00Z"}
    run("ingest", "-", "--engine", live, "--quiet", given=jsonl([row]))  # written to the live store after the copy
    variables, words = words_after(report["catchUp"])
    fetched = run(*words, **variables, WA_EMBEDDER_URL=endpoint)
    assert fetched.returncode == DONE, fetched.stdout + fetched.stderr
    there = dict(word.split("=", 1) for word in shlex.split(report["switch"]))
    answer = json.loads(run("ask", "was a parcel late?", "--json", **there, WA_EMBEDDER_URL=endpoint).stdout)
    assert any(hit["docId"] == "late" for hit in answer["hits"])

    row |= {"doc_id": "since", "text": "Written after the switch"}
    run("ingest", "-", "--quiet", given=jsonl([row]), **there, WA_EMBEDDER_URL=endpoint)
    run("documents", "delete", "late", **there, WA_EMBEDDER_URL=endpoint)
    variables, words = words_after(report["takeBack"])
    assert run(*words, **variables).returncode == DONE
    back = dict(word.split("=", 1) for word in shlex.split(report["rollBack"]))
    assert json.loads(run("documents", "show", "since", "--json", **back).stdout)["text"] == "Written after the switch"
    assert run("documents", "show", "late", **back).returncode == FAILED


def test_a_gate_that_is_not_passed_says_to_stay(live: str, run: Run, endpoint: str, cases: str, tmp_path: Path) -> None:
    wrong = {"id": "wrong", "question": "How many documents are there?", "kind": "count", "expected": {"answered": True, "count": 7}}
    with Path(cases).open("a", encoding="utf-8") as file:
        file.write(json.dumps(wrong) + "\n")
    gate = tmp_path / "gate.toml"
    gate.write_text("[thresholds]\nexact_rate = 1.0\n", "utf-8")
    words = ("reembed", "--embedder", NAME, "--engine", live, "--eval", cases)
    ended = run(*words, "--gate", str(gate), WA_EMBEDDER_URL=endpoint)
    assert ended.returncode == GATED, ended.stdout + ended.stderr
    assert "the live store stays" in ended.stdout
    assert "To switch" not in ended.stdout
    again = run(*words, WA_EMBEDDER_URL=endpoint)  # as wrong as the live store is no step back
    assert again.returncode == DONE, again.stdout + again.stderr
    assert "To go back" in again.stdout


def test_the_same_model_is_refused(live: str, run: Run) -> None:
    ended = run("reembed", "--embedder", "minilm", "--engine", live)
    assert ended.returncode == USAGE
    assert "--embedder" in ended.stderr


def test_the_new_file_is_beside_the_old_one() -> None:
    old = read_settings({}, engine_url="sqlite:////data/wisdom.db")
    assert beside(old, "minilm") == "sqlite:////data/wisdom.minilm.db"
    new = read_settings({}, engine_url=beside(old, NAME), embedder=NAME)
    there, fetch, back, fetch_back = switching(old, new)
    assert there == f"WA_EMBEDDER={NAME} WA_ENGINE_URL=sqlite:////data/wisdom.openai-bag-of-words.db"
    assert back == "WA_EMBEDDER=minilm WA_ENGINE_URL=sqlite:////data/wisdom.db"
    assert fetch.startswith(there)
    assert fetch_back.endswith("--from sqlite:////data/wisdom.openai-bag-of-words.db --to sqlite:////data/wisdom.db")


def test_a_file_is_not_switched_while_it_is_used(live: str, run: Run) -> None:
    for words in (("--back",), ("--status",), ("--embedder", NAME, "--switch"), ("--embedder", NAME, "--back")):
        ended = run("reembed", *words, "--engine", live)
        assert ended.returncode == USAGE, ended.stdout + ended.stderr
