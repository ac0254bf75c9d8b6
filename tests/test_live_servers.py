"""Tests that need a server they cannot have are skipped and named, or fail where that is asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.sockets import nobody_listening

ROOT = Path(__file__).resolve().parent.parent

LIVE_TEST = """
import pytest

@pytest.mark.live("opensearch")
def test_that_needs_a_server(opensearch_url):
    assert opensearch_url

@pytest.mark.live("opensearch")
def test_that_needs_it_too():
    pass

def test_that_needs_nothing():
    pass
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    test = folder / "test_live.py"
    test.write_text(LIVE_TEST)
    kept = {name: value for name, value in os.environ.items() if name not in ("REQUIRE_LIVE", "OPENSEARCH_URL")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        str(ROOT / "pyproject.toml"),
        str(test),
    ]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env={**kept, **environment}, timeout=120)


def test_without_a_server_they_are_skipped_and_named_with_the_reason(tmp_path: Path) -> None:
    url = nobody_listening()
    done = run(tmp_path, OPENSEARCH_URL=url)
    assert done.returncode == 0
    assert "live tests that were not run" in done.stdout
    assert f"2 tests: opensearch: {url} does not answer" in done.stdout
    for name in ("test_that_needs_a_server", "test_that_needs_it_too"):
        assert f"::{name}" in done.stdout
    assert "test_that_needs_nothing" not in done.stdout


def test_where_servers_are_required_they_fail_instead(tmp_path: Path) -> None:
    done = run(tmp_path, OPENSEARCH_URL=nobody_listening(), REQUIRE_LIVE="1")
    assert done.returncode == 1
    assert "REQUIRE_LIVE=1 and there is no opensearch" in done.stdout


@pytest.mark.live("opensearch")
def test_with_a_server_they_run(tmp_path: Path, opensearch_url: str) -> None:
    done = run(tmp_path, OPENSEARCH_URL=opensearch_url, REQUIRE_LIVE="1")
    assert done.returncode == 0, done.stdout
    assert "not run" not in done.stdout
