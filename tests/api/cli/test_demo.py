"""The demo: an answer, a refusal, a count, a monitor that fires, and commands that work when pasted."""

import json
import shlex
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.api.cli.conftest import Run, arguments, environment


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A home, and both outputs of the demo run in it."""
    home = tmp_path_factory.mktemp("home with spaces")
    ended = subprocess.run(arguments("demo"), capture_output=True, text=True, env=environment(home), check=False)
    assert ended.returncode == 0, ended.stderr
    return home, ended.stdout, ended.stderr


def test_it_shows_a_cited_answer_a_refusal_a_count_and_a_monitor_that_fires(shown: tuple[Path, str, str]) -> None:
    starts = [shown[1].index(f"{number}. A ") for number in (1, 2, 3, 4)]
    answer, refusal, count, alarm = (shown[1][start:end] for start, end in pairwise([*starts, len(shown[1])]))
    assert "[1]  bank-" in answer
    assert "No answer: OFF_TOPIC" in refusal
    assert "documents: bank-" in count
    assert "the monitor fires at 50 or more" in alarm
    assert "documents: bank-" in alarm
    assert "[1]  bank-" in alarm


def test_it_says_that_dates_accounts_and_sources_are_assigned(shown: tuple[Path, str, str]) -> None:
    assert "Times, accounts and sources are assigned by a fixed seed" in shown[1]


def test_the_commands_it_prints_work_when_pasted(shown: tuple[Path, str, str]) -> None:
    home, out, _ = shown
    commands = [line.strip() for line in out.split("Try next:\n")[1].splitlines()]
    assert len(commands) == 4
    for line in commands[:3]:
        ended = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment(home), check=False)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout
    listing = next(line.split(": ", 1)[1] for line in out.splitlines() if "all of them: " in line)
    listed = subprocess.run(f"{listing} --json", shell=True, capture_output=True, text=True, env=environment(home), check=False)
    assert json.loads(listed.stdout)["total"] > 0
    assert shlex.split(commands[3])[-3:-1] == ["serve", "--engine"]


def test_a_second_run_stores_nothing_twice_and_the_store_can_be_elsewhere(shown: tuple[Path, str, str], run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "here" / "demo.db"
    elsewhere.parent.mkdir()
    shutil.copy(shown[0] / "wisdomagent" / "demo.db", elsewhere)
    value = json.loads(run("demo", "--keep", str(elsewhere), "--json", "--quiet").stdout)
    assert value["report"]["indexed"] == 0
    assert value["report"]["unchanged"] == value["report"]["received"] == value["report"]["corpusSize"]
    assert [result["answer"]["refused"] for result in value["results"]] == [False, True, False]
    assert value["digest"]["version"] == 1, "the digest is the one of the first run"
    assert value["monitor"]["state"] == "firing"
    assert all(str(elsewhere) in line for line in value["next"])
    assert "assigned" in value["notice"]
