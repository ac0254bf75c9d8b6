"""``wisdom stats``: right without a worker, in a terminal and as JSON, and the same when counted again."""

import json

from tests.api.cli.conftest import Run, jsonl

ROWS = [
    {"doc_id": "a", "source": "web", "theme_id": "cards", "text": "My card was declined.", "occurred_at": "2026-03-01T10:00:00Z"},
    {"doc_id": "b", "source": "mail", "theme_id": "refunds", "text": "Where is my refund?", "occurred_at": "2026-03-02T10:00:00Z"},
    {"doc_id": "c", "source": "web", "text": "The app is slow.", "occurred_at": "2026-03-02T10:00:00Z"},
]


def test_a_new_store_has_nothing_to_count(run: Run) -> None:
    ended = run("stats")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "0 documents · no questions yet"


def test_documents_and_questions_are_counted_without_a_worker(run: Run) -> None:
    assert run("ingest", "-", given=jsonl(ROWS)).returncode == 0
    assert run("ask", "Who won the football match on Mars?").returncode == 0
    found = json.loads(run("stats", "--json").stdout)
    assert (found["documents"], found["refused"], found["waiting"]) == (3, 1, 0)
    assert found["days"] == [{"name": "2026-03-01", "count": 1}, {"name": "2026-03-02", "count": 2}]
    assert found["sources"] == [{"name": "web", "count": 2}, {"name": "mail", "count": 1}]
    assert found["unanswered"][0]["question"] == "Who won the football match on Mars?"
    assert json.loads(run("stats", "--rebuild", "--json").stdout) == found
    shown = run("stats").stdout
    for part in ("3 documents", "1 question: 0 answered, 1 refused (100.0%)", "cards", "2026-03-02", "Asked and not answered", "football"):
        assert part in shown
    assert run("documents", "delete", "a").returncode == 0
    assert json.loads(run("stats", "--json").stdout)["documents"] == 2
