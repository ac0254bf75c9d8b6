"""Runbooks: one for each alert, complete, and speaking of commands, settings and metrics that exist."""

import re
from pathlib import Path

import pytest

from runtime.settings import PREFIX, Settings
from search.engines.opensearch_names import live_alias, state_index
from tests.monitoring.promql import ROOT, alerts, family, known

FOLDER = ROOT / "docs" / "runbooks"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
OPERATIONS = ROOT / "docs" / "operations.md"


def test_every_page_belongs_to_an_alert_and_the_index_names_all() -> None:
    linked = {rule["annotations"]["runbook"] for rule in alerts()}
    assert {path.relative_to(ROOT).as_posix() for path in PAGES} == linked
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[(\w+)\]\(\S+\) \| (\w+) \|", index, re.MULTILINE))
    assert rows == {rule["alert"].removeprefix("WisdomAgent"): rule["labels"]["severity"] for rule in alerts()}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_says_what_it_means_how_to_confirm_and_what_to_do(path: Path) -> None:
    parts = re.split(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert parts[1::2] == ["What it means", "How to confirm", "What to do"]
    assert all(len(text.strip()) > 20 for text in parts[2::2])


@pytest.mark.parametrize("path", [*PAGES, OPERATIONS], ids=lambda path: path.stem)
def test_a_page_names_only_commands_settings_and_metrics_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    commands = re.findall(r"^## wisdom ([a-z -]+)$", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    for named in re.findall(r"(?:^|`)wisdom ([a-z -]+[a-z])", text, re.MULTILINE):
        assert any(f"{named} ".startswith(f"{command} ") for command in commands), named
    settings = {PREFIX + name.upper() for name in Settings.model_fields}
    named = set(re.findall(r"\bWA_[A-Z0-9_]+\b", text))
    assert {name for name in named if name.removesuffix("_FILE") not in settings and name not in settings} == set()
    series = known()
    for metric in set(re.findall(r"\b(?:wa|process)_[a-z0-9_]+\b", text)) - {state_index("wa"), live_alias("wa")}:
        assert metric in series or family(metric) in series or f"{metric}_count" in series, metric
