"""Wrong usage, help and version: nothing is opened, the exit code is 2 and the message names the option as typed."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from api.cli.main import command_line, ending
from api.cli.reference import reference


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("WA_ENGINE_URL", "WA_DEFAULT_TENANT", "WA_LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def every_command() -> Iterator[str]:
    for name, command in command_line().commands.items():
        yield name
        yield from (f"{name} {inner}" for inner in getattr(command, "commands", ()))


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("nonsense", "nonsense"),
        ("ask", "QUESTION"),
        ("ask x --bogus", "--bogus"),
        ("ask x --top-k 0", "--top-k"),
        ("ask x --top-k many", "--top-k"),
        ("ask x --tenant ../x", "--tenant"),
        ("ask x --tenant '*'", "--tenant"),
        ("ask x --engine redis://x", "--engine"),
        ("search x --fusion magic", "--fusion"),
        ("trend --interval year", "--interval"),
        ("themes --limit 0", "--limit"),
        ("account", "ID"),
        ("documents show", "ID"),
        ("ingest", "FILE"),
        ("ingest nowhere.csv", "nowhere.csv"),
        ("ingest - -", "standard input"),
        ("ingest . --dry-run", "folder"),
        ("ingest - --map text", "--map"),
        ("ingest - --format xml", "--format"),
        ("serve --port 70000", "--port"),
        ("traces show", "RUN"),
        ("worker --queues urgent", "--queues"),
        ("worker --beat-only --local", "--beat-only"),
        ("worker --concurrency 0", "--concurrency"),
        ("worker dead-letters retry", "ID"),
    ],
)
def test_wrong_usage_exits_with_2_names_what_was_typed_and_says_what_to_do(
    typed: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(shlex.split(typed)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    message, following = said.err.splitlines()
    assert message.startswith("error: ")
    assert named in message
    assert following.startswith("next step: ")


def test_a_mistyped_option_suggests_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(["ask", "x", "--tpo-k", "3"]) == 2
    assert "--top-k" in capsys.readouterr().err


@pytest.mark.parametrize("typed", list(every_command()))
def test_every_command_has_help_with_an_example(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending([*typed.split(), "--help"]) == 0
    said = capsys.readouterr().out
    assert "Usage: wisdom" in said
    if "Commands" not in said or typed == "worker":
        assert f"wisdom {typed}" in said.split("Example", 1)[1]


def test_every_example_is_a_command_line_that_parses() -> None:
    examples = [line for line in reference().splitlines() if line.startswith("wisdom ") and "[OPTIONS]" not in line]
    assert len(examples) >= 15
    for example in examples:
        _parsed(command_line(), shlex.split(example)[1:])


def _parsed(command: Any, words: list[str]) -> None:
    """Let the parser of the innermost command read the words, running nothing."""
    while hasattr(command, "commands") and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    command.make_context("wisdom", words)


@pytest.mark.parametrize("typed", ["", "documents", "traces"])
def test_a_command_that_needs_more_shows_its_help(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(typed.split()) == 2
    said = capsys.readouterr()
    assert "Commands" in said.out
    assert said.err == ""


def test_the_version_is_printed_in_words_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(["version"]) == 0
    assert capsys.readouterr().out.startswith("wisdom ")
    assert ending(["version", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"version", "python"}
    assert ending(["--version"]) == 0


def test_a_bad_variable_is_one_readable_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WA_RRF_K", "many")
    monkeypatch.setenv("WA_TYPO", "1")
    assert ending(["themes"]) == 1
    said = capsys.readouterr().err
    assert "WA_RRF_K" in said
    assert "WA_TYPO" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("typed", [["--help"], ["version"], ["ask", "--help"]])
def test_help_and_version_load_nothing_heavy(typed: list[str]) -> None:
    script = (
        "import sys\nfrom api.cli.main import ending\n"
        f"ending({typed!r})\n"
        "heavy = {'numpy', 'onnxruntime', 'pydantic_settings', 'fastapi', 'opensearchpy', 'mcp', 'ariadne', 'structlog', 'tokenizers'}\n"
        "sys.exit(','.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_development_mode_is_not_opened_to_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(["serve", "--host", "0.0.0.0", "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: --host=0.0.0.0 is not a loopback address")
