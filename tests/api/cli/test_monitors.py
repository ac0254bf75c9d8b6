"""Monitors and digests on the command line, without a server or a broker."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.cli.conftest import Run, jsonl

QUESTION = "What do reviewers say about crashes?"
SAVE = ("monitors", "save", "Crash volume", "--question", QUESTION, "--count-at-least", "10")


@pytest.fixture
def filled(run: Run) -> Run:
    """A store with twelve complaints of the last hour."""
    when = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    rows = [
        {"doc_id": f"c-{n}", "source": "web", "text": f"The app crashes on page {n}.", "occurred_at": when, "rating": 1} for n in range(12)
    ]
    assert run("ingest", "-", "--quiet", given=jsonl(rows)).returncode == 0
    return run


def value(run: Run, *words: str) -> Any:
    ended = run(*words, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_from_saving_to_the_digest(filled: Run) -> None:
    assert "no monitors yet" in filled("monitors", "list").stdout
    saved = filled(*SAVE, "--to", "stream", "--rating", "1..2")
    assert saved.returncode == 0, saved.stderr
    assert "contain “crashes”" in saved.stdout
    assert "monitors evaluate crash-volume --dry-run" in saved.stderr
    tried = value(filled, "monitors", "evaluate", "crash-volume", "--dry-run")
    assert (tried["stateAfter"], tried["digestWanted"], tried["n"]) == ("firing", True, 12)
    assert value(filled, "digests", "list")["digests"] == []
    (ran,) = value(filled, "monitors", "run", "--once")["evaluations"]
    assert (ran["monitorId"], ran["problem"], ran["evaluation"]["outcome"]) == ("crash-volume", None, "breached")
    assert "no monitor is due" in filled("monitors", "run", "--once").stdout
    (listed,) = value(filled, "monitors", "list")["monitors"]
    assert (listed["state"], listed["observed"], listed["digestId"]) == ("firing", 12.0, ran["evaluation"]["digest"]["digestId"])
    digest = value(filled, "digests", "show", listed["digestId"])
    assert (digest["n"], digest["version"], len(digest["docIds"])) == (12, 1, 12)
    assert digest["claims"][0]["citations"]
    shown = filled("digests", "show", listed["digestId"]).stdout
    assert "12 of 12 documents" in shown
    assert "[1]" in shown
    assert listed["digestId"] in filled("digests", "list", "--monitor", "crash-volume").stdout


def test_a_monitor_that_is_shown_can_be_changed_and_saved_again(filled: Run) -> None:
    filled(*SAVE, "--to", "webhook=https://hooks.example.org/secret")
    shown = value(filled, "monitors", "show", "crash-volume")
    assert "secret" not in json.dumps(shown)
    ended = filled("monitors", "save", "--from", "-", "--json", given=json.dumps({**shown, "cooldownSeconds": 60}))
    assert ended.returncode == 0, ended.stderr
    changed = json.loads(ended.stdout)
    assert (changed["cooldownSeconds"], changed["version"], changed["receivers"]) == (60, 2, shown["receivers"])


def test_pausing_resuming_acknowledging_deleting(filled: Run) -> None:
    filled(*SAVE)
    assert value(filled, "monitors", "pause", "crash-volume")["paused"] is True
    assert value(filled, "monitors", "run", "--once")["evaluations"] == []
    assert value(filled, "monitors", "resume", "crash-volume")["paused"] is False
    assert value(filled, "monitors", "acknowledge", "crash-volume")["state"] == "ok"
    filled("monitors", "run", "--once")
    firing = filled("monitors", "acknowledge", "crash-volume")
    assert firing.returncode == 1
    assert "is firing" in firing.stderr
    assert value(filled, "monitors", "delete", "crash-volume") == {"monitorId": "crash-volume", "deleted": True}
    assert len(value(filled, "digests", "list")["digests"]) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (SAVE[:5], 2, "condition"),
        ((*SAVE[:6], "0"), 2, "--count-at-least"),
        ((*SAVE, "--share-at-least", "0.5"), 2, "exactly one of --count-at-least"),
        ((*SAVE, "--window", "a while"), 2, "--window"),
        ((*SAVE, "--window", "0s"), 2, "--window: must be whole seconds"),
        ((*SAVE, "--cadence", "8d"), 2, "--cadence: must be whole seconds"),
        ((*SAVE, "--breaches", "101"), 2, "--breaches"),
        ((*SAVE, "--to", "pigeon"), 2, "--to: must be one of webhook"),
        ((*SAVE[:4], "What about last week?", *SAVE[5:]), 2, "--question"),
        (("monitors", "save", "--from", "-"), 2, "is not JSON"),
        (("monitors", "show", "nobody"), 1, "wisdom monitors list"),
        (("monitors", "delete", "nobody"), 1, "wisdom monitors list"),
        (("monitors", "run"), 2, "--once"),
        (("monitors", "evaluate", "nobody"), 1, "no monitor with this id"),
        (("digests", "show", "nobody"), 1, "wisdom digests list"),
    ],
)
def test_what_went_wrong_and_what_to_do_next(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    ended = run(*words, given="{")
    assert ended.returncode == code
    assert said in ended.stderr
    assert "next step: " in ended.stderr
    assert not ended.stdout


@pytest.mark.parametrize(("text", "said"), [("[" * 100_000, "is not JSON"), (" " * 1_000_001, "is longer than 1,000,000 bytes")])
def test_what_is_no_monitor_is_refused_whatever_its_length(run: Run, text: str, said: str) -> None:
    ended = run("monitors", "save", "--from", "-", given=text)
    assert (ended.returncode, said in ended.stderr) == (2, True)


def test_saving_under_the_same_name_twice_says_how_to_change_it(run: Run) -> None:
    assert run(*SAVE).returncode == 0
    again = run(*SAVE)
    assert again.returncode == 1
    assert "exists already" in again.stderr
    assert "--id" in again.stderr
    assert run(*SAVE, "--id", "crash-volume", "--if-version", "1").returncode == 0
    assert run(*SAVE, "--id", "crash-volume", "--if-version", "1").returncode == 1


def test_run_once_is_for_all_tenants_or_for_the_one_named(filled: Run) -> None:
    filled(*SAVE)
    filled(*SAVE, "--tenant", "birch")
    assert [each["tenant"] for each in value(filled, "monitors", "run", "--once", "--tenant", "birch")["evaluations"]] == ["birch"]
    assert [each["tenant"] for each in value(filled, "monitors", "run", "--once")["evaluations"]] == ["default"]
    assert value(filled, "digests", "list", "--tenant", "birch")["digests"] == []
