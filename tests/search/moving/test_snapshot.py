"""Backup and restore in OpenSearch: the commands of the operations page, run as they stand there on a real node."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest

from runtime.settings import Settings, read_settings
from search.moving.opening import open_end
from tests.contracts.writes import written
from tests.search.moving.places import ACME, CLOCK, Known, fill, holdings
from tests.servers import ROOT, MavenNode, remove_prefix

pytestmark = pytest.mark.live("opensearch-to-kill")


@pytest.fixture
def store(opensearch_to_kill: MavenNode) -> Iterator[Settings]:
    """A filled store under the prefix that the page writes about."""
    settings = read_settings({}, engine_url=opensearch_to_kill.url)
    fill(settings)
    yield settings
    remove_prefix(settings.engine_url, settings.index_prefix)


def run(settings: Settings, *, step: str, lines: slice = slice(None)) -> None:
    """Run a block of the page; ``lines`` of its commands, if not all."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    match = re.search(rf"<!-- snapshot {step} -->\n```bash\n(.*?)```", page, re.DOTALL)
    assert match
    commands = re.split(r"\n(?=curl)", match[1])
    environment = {**os.environ, "OPENSEARCH": settings.engine_url}
    script = "set -euo pipefail\n" + "\n".join(commands[lines])
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_restored_snapshot_is_what_was_there(store: Settings) -> None:
    before = holdings(store)
    run(store, step="repository")
    run(store, step="take", lines=slice(0, 1))
    with open_end(store, Known(), CLOCK) as end:  # a writer between the two snapshots: its document is in the second alone
        end.engine.write(ACME, [written("between", "Came between the two")])
        end.engine.refresh(ACME)
    run(store, step="take", lines=slice(1, 2))
    with open_end(store, Known(), CLOCK) as end:
        end.engine.write(ACME, [written("new", "Said after it", version=9), written("after", "Not in it")])
        end.engine.delete(ACME, ["long"])  # type: ignore[attr-defined]
    run(store, step="restore")
    found = holdings(store)
    ids = [each[0].doc_id for each in found[ACME]["documents"]]  # type: ignore[index]
    assert "after" not in ids
    assert "between" in ids
    found[ACME]["documents"] = [each for each in found[ACME]["documents"] if each[0].doc_id != "between"]  # type: ignore[index]
    assert found == before
    with open_end(store, Known(), CLOCK) as end:
        (again, other) = end.engine.write(ACME, [written("between", "Came between the two"), written("new", "Said anew", version=7)])
        assert (again.version, other.kind) == (1, "unchanged")
        assert end.engine.write(ACME, [written("between", "Came between the two")])[0].kind == "unchanged"
        end.engine.refresh(ACME)
    assert [each[0].doc_id for each in holdings(store)[ACME]["documents"]] == ids  # type: ignore[index]
