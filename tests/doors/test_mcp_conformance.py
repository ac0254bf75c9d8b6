"""The public MCP conformance suite, for both protocol eras."""

import re
from pathlib import Path

import pytest

from runtime.settings import read_settings
from tests.doors.conformance_fixtures import fixture_app
from tests.doors.judges import HERE, judged
from tests.doors.serving import running

REVISIONS = ("2025-11-25", "2026-07-28")
OUR_TOOLS_PASS = {
    "2025-11-25": ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"),
    "2026-07-28": (
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    ),
}


@pytest.fixture(scope="module")
def fixtures() -> object:
    with running(fixture_app(read_settings({}))) as url:
        yield f"{url}/mcp"


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_endpoint_conforms_but_for_the_scenarios_that_need_a_session(fixtures: str, revision: str, tmp_path: Path) -> None:
    known = HERE / f"conformance-{revision}.yml"
    done = judged(
        "conformance", "server", "--url", fixtures, "--requirements", revision, "--expected-failures", str(known), "-o", str(tmp_path)
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed, _failed = _total(done.stdout)
    assert passed >= 50, done.stdout[-6000:]


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_our_own_tools_pass_every_scenario_that_needs_no_fixture(web: str, revision: str, tmp_path: Path) -> None:
    done = judged("conformance", "server", "--url", f"{web}/mcp", "--requirements", revision, "-o", str(tmp_path))
    results = dict(_by_scenario(done.stdout))
    assert {name: results[name] for name in OUR_TOOLS_PASS[revision]} == dict.fromkeys(OUR_TOOLS_PASS[revision], "✓"), done.stdout[-6000:]


def _by_scenario(output: str) -> list[tuple[str, str]]:
    return [(name, mark) for mark, name in re.findall(r"^([✓✗]) ([\w-]+): [1-9]\d* passed", output, re.MULTILINE)]


def _total(output: str) -> tuple[int, int]:
    found = re.search(r"^Total: (\d+) passed, (\d+) failed", output, re.MULTILINE)
    assert found is not None, output[-3000:]
    return int(found[1]), int(found[2])
