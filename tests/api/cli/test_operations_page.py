"""The operations page: its commands run as they stand there."""

import json
import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.cli.main import command_line
from tests.api.cli.conftest import Run, jsonl
from tests.servers import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
Ran = Callable[..., list[str]]


@pytest.fixture
def ran(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Run the commands of a block in a folder with a store of three old and three new documents; what each printed."""
    monkeypatch.chdir(tmp_path)

    def wisdom(command: str, given: str = "", **variables: str) -> str:
        first, *words = shlex.split(command, comments=True)
        assert first == "wisdom"
        done = run(*words, given=given, WA_ENGINE_URL="sqlite:///wisdom.db", **variables)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def block(name: str, *replaced: tuple[str, str], **variables: str) -> list[str]:
        wisdom("wisdom ingest - --quiet", given=jsonl(rows()))
        match = re.search(rf"<!-- run: {name} -->\n```\n(.*?)```", PAGE, re.DOTALL)
        assert match
        text = match[1]
        for old, new in replaced:
            text = text.replace(old, new)
        return [wisdom(line, **variables) for line in text.splitlines()]

    return block


def rows() -> list[dict[str, str]]:
    moments = {"old": datetime(2020, 3, 4, 12, tzinfo=UTC), "new": datetime.now(UTC) - timedelta(hours=1)}
    return [
        {"doc_id": f"{name}-{n}", "source": "web", "text": f"The {name} card number {n} was late", "occurred_at": moment.isoformat()}
        for name, moment in moments.items()
        for n in range(3)
    ]


def test_retention_as_the_page_has_it(ran: Ran) -> None:
    plan, as_json, applied, counted, removed = ran("retention")
    assert "2020-03\t3" in plan
    assert json.loads(as_json)["documents"] == 3
    assert applied.strip() == "deleted 3 documents"
    assert counted.startswith("would remove 0 traces")
    assert removed.startswith("removed 0 traces")


def test_backup_and_restore_as_the_page_has_it(ran: Ran, tmp_path: Path) -> None:
    made, restored = ran("backup", ("/backups/", f"{tmp_path}/"))
    assert "6 documents in" in made
    assert "6 documents restored from" in restored


@pytest.mark.live("opensearch")
def test_moving_to_a_cluster_and_back_as_the_page_has_it(ran: Ran, opensearch_url: str, opensearch_prefix: str, tmp_path: Path) -> None:
    there, back = ran("migrate", ("http://127.0.0.1:9200", opensearch_url), WA_INDEX_PREFIX=opensearch_prefix)
    assert "wrote 6 documents" in there
    assert "both are the same" in there
    assert "wrote 6 documents" in back
    assert (tmp_path / "copy.db").is_file()


def test_every_command_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"(?:^|`)wisdom ([a-z]+)", PAGE, re.MULTILINE))
    assert {"retention", "migrate", "backup", "restore", "reembed"} <= named <= command_line().commands.keys()
