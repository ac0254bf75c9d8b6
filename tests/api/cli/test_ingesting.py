"""Ingest from the command line: reports that add up, rejections, resuming."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.conftest import Run, jsonl

ROWS = [
    {"doc_id": "a", "source": "web", "text": "My card was declined.", "occurred_at": "2026-03-01T10:00:00Z"},
    {"doc_id": "b", "source": "web", "text": "", "occurred_at": "2026-03-01T10:00:00Z"},
    {"doc_id": "c", "source": "web", "text": "Where is my refund?", "occurred_at": "never"},
    {"doc_id": "a", "source": "web", "text": "My card was declined.", "occurred_at": "2026-03-01T10:00:00Z"},
]


def adds_up(report: dict[str, Any]) -> bool:
    parts = ("indexed", "unchanged", "updated", "duplicate", "rejected")
    return bool(report["received"] == sum(report[part] for part in parts))


def test_a_report_adds_up_and_a_replay_stores_nothing(process: Run) -> None:
    first = process("ingest", "-", "--json", "--quiet", given=jsonl(ROWS))
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    assert adds_up(report)
    assert (report["indexed"], report["duplicate"], report["rejected"]) == (1, 1, 2)
    assert [(each["row"], each["docId"], each["field"]) for each in report["rejections"]] == [(2, "b", "text"), (3, "c", "occurredAt")]
    again = json.loads(process("ingest", "-", "--json", "--quiet", given=jsonl(ROWS)).stdout)
    assert adds_up(again)
    assert (again["indexed"], again["saved"], again["corpusSize"]) == (0, 0, 1)


def test_the_table_shows_the_same_numbers_and_the_notes_go_to_standard_error(run: Run) -> None:
    ended = run("ingest", "-", given=jsonl(ROWS))
    assert "received\t4\trows" in ended.stdout
    assert "rejected\t2\t" in ended.stdout
    assert "2\tb\ttext\tis empty" in ended.stdout
    assert "4 rows in " in ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr


def test_strict_exits_with_4_after_storing_what_is_good(run: Run) -> None:
    assert run("ingest", "-", "--strict", "--quiet", given=jsonl(ROWS)).returncode == 4
    assert json.loads(run("documents", "list", "--json").stdout)["total"] == 1
    assert run("ingest", "-", "--strict", "--quiet", given=jsonl(ROWS[:1])).returncode == 0


def test_rejections_are_written_to_a_file_as_json_lines(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "rows.jsonl"
    bad.write_text(jsonl(ROWS))
    rejects = tmp_path / "rejects.jsonl"
    run("ingest", str(bad), "--rejects", str(rejects), "--quiet")
    lines = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [(line["file"], line["row"], line["field"]) for line in lines] == [("rows.jsonl", 2, "text"), ("rows.jsonl", 3, "occurredAt")]


def test_rejections_never_overwrite_an_input(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(jsonl(ROWS))
    ended = run("ingest", str(rows), "--rejects", str(rows))
    assert ended.returncode == 2
    assert "--rejects" in ended.stderr
    assert rows.read_text() == jsonl(ROWS)


def test_a_csv_file_is_mapped_by_name_and_by_map(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "reviews.csv"
    table.write_bytes('id;note;said on;stars\n1;"très bien; merci";04.03.2026;5\n2;naïve;17.03.2026;1\n'.encode("cp1252"))
    ended = run(
        "ingest",
        str(table),
        "--map",
        "text=note",
        "--map",
        "occurred_at=said on",
        "--source",
        "shop",
        "--date-order",
        "dmy",
        "--json",
        "--quiet",
    )
    report = json.loads(ended.stdout)
    assert report["indexed"] == 2, ended.stdout
    assert report["mapping"] == {"doc_id": "id", "text": "note", "occurred_at": "said on", "rating": "stars"}
    shown = json.loads(run("documents", "show", "1", "--json").stdout)
    assert shown["text"] == "très bien; merci"
    assert shown["occurredAt"].startswith("2026-03-04")
    assert shown["rating"] == 5


def test_several_files_make_one_report_that_names_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(jsonl(ROWS))
    with gzip.open(tmp_path / "two.jsonl.gz", "wt") as packed:
        packed.write(jsonl([{**ROWS[0], "doc_id": "z"}]))
    report = json.loads(run("ingest", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl.gz"), "--json", "--quiet").stdout)
    assert adds_up(report)
    assert (report["received"], report["indexed"]) == (5, 2)
    assert {each["file"] for each in report["rejections"]} == {"one.jsonl"}


def test_a_missing_second_file_stops_before_the_first_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(jsonl(ROWS))
    ended = run("ingest", str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"))
    assert ended.returncode == 2
    assert "two.jsonl does not exist" in ended.stderr
    assert json.loads(run("documents", "list", "--json").stdout)["total"] == 0


def test_a_dry_run_shows_everything_and_stores_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "id,body,date,plan\n" + "".join(f"{n},text {n},2026-03-0{n},pro\n" for n in range(1, 6)) + "6,,2026-03-06,pro\n"
    )
    ended = run("ingest", str(tmp_path / "rows.csv"), "--source", "web", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert "text\tbody" in ended.stdout
    assert [line for line in ended.stdout.splitlines() if line.startswith("Document ")] == ["Document 1", "Document 2", "Document 3"]
    assert "6\t6\ttext\tis empty" in ended.stdout
    assert "6 rows, 1 would be rejected; nothing was stored" in ended.stderr
    assert not list(tmp_path.rglob("*.db"))
    value = json.loads(run("ingest", str(tmp_path / "rows.csv"), "--source", "web", "--dry-run", "--json", "--quiet").stdout)
    assert value["files"][0]["attributeFields"] == ["plan"]
    assert len(value["files"][0]["documents"]) == 3


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04zip", b"\x00\x01\x02"], ids=["empty", "zip", "binary"])
def test_a_file_that_is_no_text_of_rows_is_a_readable_error(run: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    ended = run("ingest", str(tmp_path / "rows.csv"))
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert "Traceback" not in ended.stderr


def test_an_input_that_cannot_be_read_loses_no_other_and_is_named_after_the_report(run: Run, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("first.jsonl", "empty.csv", "last.jsonl")]
    paths[0].write_text(jsonl(ROWS[:1]))
    paths[1].write_text("")
    paths[2].write_text(jsonl([ROWS[0] | {"doc_id": "z"}]))
    ended = run("ingest", *map(str, paths), "--json", "--quiet")
    assert ended.returncode == 2
    assert json.loads(ended.stdout)["indexed"] == 2
    assert "empty.csv: holds no rows" in ended.stderr
