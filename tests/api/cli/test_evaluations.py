"""``wisdom eval``: run, gate, compare, export, build, keep, schedule; with exit codes and both forms of output."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.failures import DONE, FAILED, GATED, USAGE
from tests.api.cli.conftest import SAMPLE_ROWS, Run

CASES = [
    {"id": "count", "question": "How many documents are there?", "kind": "count", "expected": {"answered": True, "count": SAMPLE_ROWS + 1}},
    {
        "id": "off",
        "question": "Which team won the football world cup?",
        "kind": "off_topic",
        "expected": {"answered": False, "reasons": ["OFF_TOPIC"]},
    },
    {"id": "wrong", "question": "How many documents are there?", "kind": "count", "expected": {"answered": True, "count": 7}},
]
GATE = '[thresholds]\nexact_rate = 0.6\n[regression]\nexact_rate = 0.0\n[cases]\nmust_hold = ["off"]\nknown = ["wrong"]\n'


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(case) + "\n" for case in CASES), "utf-8")
    return file


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    file = tmp_path / "gate.toml"
    file.write_text(GATE, "utf-8")
    return file


def reported(run: Run, *words: str) -> dict[str, Any]:
    ended = run("eval", "run", *words, "--json")
    assert ended.returncode in (DONE, GATED), ended.stderr
    value = json.loads(ended.stdout)
    assert isinstance(value, dict)
    return value


def test_a_set_is_run_and_the_report_is_kept(run: Run, store: str, cases: Path) -> None:
    ended = run("eval", "run", str(cases), "--engine", store, "--tenant", "default")
    assert ended.returncode == DONE, ended.stderr
    assert "2 of 3 cases exact; no gate" in ended.stdout
    assert "wrong\t\tHow many documents are there?\tcounts 241 instead of 7" in ended.stdout
    report_id = ended.stderr.split("kept as report ")[1].split()[0]
    shown = run("eval", "show", report_id, "--engine", store)
    assert shown.stdout == ended.stdout
    listed = json.loads(run("eval", "list", "--set", "mine", "--engine", store, "--json").stdout)
    assert report_id in [report["reportId"] for report in listed["reports"]]


def test_the_gate_decides_the_exit_code_and_names_the_cases(run: Run, store: str, cases: Path, gate: Path) -> None:
    ended = run("eval", "run", str(cases), "--gate", str(gate), "--engine", store)
    assert ended.returncode == DONE, ended.stdout
    gate.write_text(GATE.replace("0.6", "0.7"), "utf-8")
    ended = run("eval", "run", str(cases), "--gate", str(gate), "--engine", store)
    assert ended.returncode == GATED == 5
    assert "FAILED\texact_rate >= 0.7\texact_rate is 0.6667, allowed is exact_rate >= 0.7" in ended.stdout
    assert "wrong\tknown\t" in ended.stdout


def test_a_baseline_is_an_earlier_report_or_an_exported_file(run: Run, store: str, cases: Path, gate: Path, tmp_path: Path) -> None:
    before = reported(run, str(cases), "--engine", store)["reportId"]
    exported = tmp_path / "before.json"
    ended = run("eval", "export", before, "--format", "json", "--output", str(exported), "--engine", store)
    assert ended.returncode == DONE, ended.stderr
    assert json.loads(exported.read_text("utf-8"))["reportId"] == before
    cases.write_text(cases.read_text("utf-8").replace("241", "242"), "utf-8")
    for named in (str(exported), before):
        report = reported(run, str(cases), "--engine", store, "--baseline", named, "--gate", str(gate))
        assert report["outcome"] == "failed"
        assert report["verdict"]["diff"]["regressed"] == ["count"]
        assert not report["verdict"]["diff"]["sameSet"]
    diff = json.loads(run("eval", "diff", before, report["reportId"], "--engine", store, "--json").stdout)
    assert diff == report["verdict"]["diff"]
    assert "no longer exact: count" in run("eval", "diff", before, report["reportId"], "--engine", store).stdout


def test_only_the_chosen_cases_are_asked(run: Run, store: str, cases: Path) -> None:
    report = reported(run, str(cases), "--engine", store, "--kind", "count", "--limit", "1")
    assert [result["caseId"] for result in report["results"]] == ["count"]
    assert report["subject"]["selected"] == "kind count, first 1"
    report = reported(run, str(cases), "--engine", store, "--case", "off", "--case", "wrong")
    assert [result["caseId"] for result in report["results"]] == ["off", "wrong"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kind", "nothing"), "--kind: no case is of such a kind; kinds are count, off_topic"),
        (("--case", "nothing"), "--case: the set has no case nothing"),
        (("--gate", "no-such-file"), "--gate: no-such-file cannot be read"),
        (("--limit", "0"), "--limit"),
        (("--ingest",), "--ingest: there is no"),
    ],
)
def test_a_wrong_choice_is_wrong_usage(run: Run, store: str, cases: Path, words: tuple[str, ...], said: str) -> None:
    ended = run("eval", "run", str(cases), "--engine", store, *words)
    assert ended.returncode == USAGE, ended.stderr
    assert said in ended.stderr


def test_a_set_with_wrong_rows_names_them(run: Run, store: str, cases: Path) -> None:
    cases.write_text('{"id": "a", "question": "q?", "expected": {"answered": true, "count": "many"}}\nnonsense\n', "utf-8")
    ended = run("eval", "run", str(cases), "--engine", store)
    assert ended.returncode == USAGE
    assert "SET: row 1: expected.count: must be a whole number of at least 0; row 2: is not JSON" in ended.stderr


def test_a_set_or_report_that_is_not_there_is_a_failure_and_not_a_failed_gate(run: Run, store: str, cases: Path) -> None:
    assert run("eval", "run", "nothing", "--engine", store).returncode == FAILED
    assert run("eval", "show", "nothing", "--engine", store).returncode == FAILED
    assert run("eval", "run", str(cases), "--baseline", "nothing", "--engine", store).returncode == FAILED


@pytest.mark.parametrize(("form", "begins"), [("html", "<!doctype html>"), ("markdown", "# Evaluation of mine"), ("json", "{")])
def test_a_report_is_exported_in_three_forms(run: Run, store: str, cases: Path, form: str, begins: str) -> None:
    report_id = reported(run, str(cases), "--engine", store)["reportId"]
    ended = run("eval", "export", report_id, "--format", form, "--engine", store)
    assert ended.returncode == DONE
    assert ended.stdout.startswith(begins)


def test_an_interval_that_cannot_be_is_refused_under_the_name_of_its_option(run: Run, store: str) -> None:
    ended = run("eval", "schedule", "banking", "--every", "20", "--engine", store)
    assert ended.returncode == USAGE
    assert "--every: must be 60 to 31,622,400 seconds" in ended.stderr


@pytest.mark.parametrize("form", ["html", "markdown", "json"])
def test_a_set_cannot_steer_the_terminal_its_report_is_exported_to(run: Run, store: str, tmp_path: Path, form: str) -> None:
    steering = "\x1b]0;title\x07 \x9b31m \u202e"
    file = tmp_path / "steering.jsonl"
    file.write_text(json.dumps({**CASES[2], "id": f"odd {steering}", "difficulty": steering}) + "\n", "utf-8")
    report_id = reported(run, str(file), "--engine", store)["reportId"]
    ended = run("eval", "export", report_id, "--format", form, "--engine", store)
    assert ended.returncode == DONE, ended.stderr
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(ended.stdout)
    assert "title" in ended.stdout


def test_a_public_set_is_built_ingested_and_run(run: Run, tmp_path: Path) -> None:
    rows = [{"claim": "Bees fly", "evidence": ["Bees fly over the hill."], "label": "supported"}]
    folder = tmp_path / "data" / "wice"
    folder.mkdir(parents=True)
    (folder / "data__entailment_retrieval__claim__dev.jsonl").write_text(json.dumps(rows[0]), "utf-8")
    out, engine = tmp_path / "wice", f"sqlite:///{tmp_path / 'wice.db'}"
    ended = run("eval", "build", "wice", "--data", str(tmp_path / "data"), "--out", str(out))
    assert ended.returncode == DONE, ended.stderr
    assert "1 documents and 1 cases" in ended.stdout
    report = reported(run, str(out), "--ingest", "--engine", engine)
    assert (report["subject"]["documents"], report["cases"], report["errors"]) == (1, 1, 0)
    unknown = run("eval", "build", "nothing", "--data", str(tmp_path), "--out", str(out))
    assert (unknown.returncode, "is none of subjqa" in unknown.stderr) == (USAGE, True)
    absent = run("eval", "build", "squad2", "--data", str(tmp_path), "--out", str(out))
    assert (absent.returncode, "cannot be read" in absent.stderr) == (USAGE, True)


def test_a_set_is_kept_scheduled_and_left_to_the_worker(run: Run, tmp_path: Path, cases: Path) -> None:
    engine = ("--engine", f"sqlite:///{tmp_path / 'own.db'}")
    assert run("eval", "save", str(cases), "--name", "nightly-set", *engine).returncode == DONE
    sets = json.loads(run("eval", "sets", "--json", *engine).stdout)["sets"]
    assert [each["name"] for each in sets] == ["banking", "nightly-set"]
    scheduled = run("eval", "schedule", "nightly-set", "--every", "86400", "--name", "nightly", "--json", *engine)
    assert scheduled.returncode == DONE, scheduled.stderr
    listed = json.loads(run("eval", "schedules", "--json", *engine).stdout)["schedules"]
    assert [(each["scheduleId"], each["everySeconds"], each["casesDone"]) for each in listed] == [("nightly", 86400.0, 0)]
    assert "nightly" in run("eval", "schedules", *engine).stdout
    assert run("eval", "unschedule", "nightly", *engine).returncode == DONE
    assert run("eval", "unschedule", "nightly", *engine).returncode == FAILED
    assert run("eval", "schedule", "nothing", *engine).returncode == FAILED


def test_hostile_cases_do_not_drive_the_terminal(run: Run, store: str, tmp_path: Path) -> None:
    file = tmp_path / "hostile.jsonl"
    hostile = "\x1b[31mred\x1b[0m \u202e [bold]x[/bold]"
    file.write_text(
        json.dumps({"id": hostile, "question": hostile, "kind": hostile, "expected": {"answered": True, "facts": [hostile]}}) + "\n",
        "utf-8",
    )
    ended = run("eval", "run", str(file), "--engine", store)
    assert ended.returncode == DONE, ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr
    assert "[bold]x[/bold]" in ended.stdout
