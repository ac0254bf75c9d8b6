"""``wisdom retention``: a dry run, then only with consent."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from api.retention_operations import old_records, remove_records
from search.ingest.rows import rows_of
from tests.api.cli.conftest import Run, jsonl
from tests.grounding.desk import ACME, open_desk, record

ROWS = [
    {
        "doc_id": f"d-{month}-{n}",
        "source": "web",
        "text": f"My card was late in {month}, message {n}",
        "occurred_at": f"2025-{month}-10T10:00:00Z",
    }
    for month in ("10", "11", "12")
    for n in range(2)
]


@pytest.fixture
def filled(run: Run) -> Run:
    assert run("ingest", "-", "--quiet", given=jsonl(ROWS)).returncode == 0
    return run


def left(run: Run) -> int:
    return int(json.loads(run("documents", "list", "--json").stdout)["total"])


def test_a_plan_is_a_dry_run(filled: Run) -> None:
    ended = filled("retention", "plan", "--before", "2025-12", "--json")
    plan = json.loads(ended.stdout)
    assert [(each["month"], each["documents"]) for each in plan["months"]] == [("2025-10", 2), ("2025-11", 2)]
    assert (plan["documents"], plan["applied"], plan["foreign"]) == (4, False, [])
    assert plan["bytes"] > 4 * 1536  # a vector each
    assert "applying deletes 4 documents of tenant default from before 2025-12" in filled("retention", "plan", "--before", "2025-12").stdout
    assert left(filled) == 6


def test_without_a_terminal_it_is_applied_only_with_yes(filled: Run) -> None:
    refused = filled("retention", "apply", "--before", "2025-12")
    assert refused.returncode == 2
    assert "deletes 4 documents" in refused.stderr
    assert "--yes" in refused.stderr
    assert left(filled) == 6
    done = json.loads(filled("retention", "apply", "--before", "2025-12", "--yes", "--json").stdout)
    assert (done["deleted"], done["applied"]) == (4, True)
    assert left(filled) == 2
    assert "nothing of tenant default is older" in filled("retention", "plan", "--before", "2025-12").stdout


def test_what_quoted_an_old_document_withholds_it(filled: Run) -> None:
    run_id = json.loads(filled("ask", "why was my card late?", "--until", "2025-11-30", "--json").stdout)["runId"]
    assert "late in 1" in filled("traces", "show", run_id, "--json").stdout
    filled("retention", "apply", "--before", "2025-12", "--yes")
    shown = filled("traces", "show", run_id, "--json").stdout
    assert "late in 10" not in shown
    assert "late in 11" not in shown


def test_exactly_one_age_is_wanted(filled: Run) -> None:
    for words in ((), ("--before", "2025-12", "--keep-months", "3"), ("--before", "12/2025")):
        ended = filled("retention", "plan", *words)
        assert ended.returncode == 2, words
        assert "next step" in ended.stderr


def test_old_records_are_counted_first_and_removed_only_when_told_to(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.load([record("r-1", "My card was late."), record("r-2", "My card never came.")])
        assert desk.service.ingester.ingest(ACME, rows_of([{"text": ""}])).rejected == 1
        old = desk.ask("Why was my card late?").run_id
        desk.clock.instant += timedelta(days=100)
        new = desk.ask("Why was my card late?").run_id
        found = old_records(desk.service, ACME, 90)
        assert dict(found.counts) == {"traces": 1, "ingests": 3}
        assert {old, new} == {trace.run_id for trace in desk.service.traces.list(ACME).traces}
        assert dict(remove_records(desk.service, found).counts) == {"traces": 1, "ingests": 3}
        assert [trace.run_id for trace in desk.service.traces.list(ACME).traces] == [new]
        assert old_records(desk.service, ACME, 90).total == 0
        assert desk.service.engine.corpus(ACME).documents == 2


def test_records_of_today_stay_and_without_apply_nothing_is_changed(filled: Run) -> None:
    run_id = json.loads(filled("ask", "why was my card late?", "--json").stdout)["runId"]
    counted = filled("retention", "records", "--keep-days", "1")
    assert "would remove 0 traces of questions and 0 records of ingests" in counted.stdout
    removed = json.loads(filled("retention", "records", "--keep-days", "1", "--apply", "--json").stdout)
    assert (removed["traces"], removed["ingests"], removed["applied"]) == (0, 0, True)
    assert filled("traces", "show", run_id).returncode == 0
