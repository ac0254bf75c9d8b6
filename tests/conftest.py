"""Live tests: marked ``@pytest.mark.live("opensearch")``, skipped and named at the end when no such server can be had, failed with REQUIRE_LIVE=1."""

import os
import signal
import uuid
from collections.abc import Iterator

import pytest

from search.ports import Engine
from tests.faults.securing import SecuredNode
from tests.servers import TO_KILL, VALKEY, MavenNode, NoServer, Servers, remove_prefix

_SERVERS = pytest.StashKey[Servers]()
_MISSING = pytest.StashKey[dict[str, list[str]]]()


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us in the background has it ignored, in our children too
    config.stash[_SERVERS] = Servers()
    config.stash[_MISSING] = {}


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_SERVERS].close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture of a live test: its servers must be there."""
    for mark in item.iter_markers("live"):
        for server in mark.args:
            _require(item, server)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was not run, and why."""
    for reason, tests in config.stash[_MISSING].items():
        terminalreporter.section("live tests that were not run", yellow=True)
        terminalreporter.line(f"{len(tests)} tests: {reason}")
        for test in tests:
            terminalreporter.line(f"  {test}")


@pytest.fixture(scope="session")
def opensearch_url(pytestconfig: pytest.Config) -> str:
    """The session's OpenSearch of the current line; for tests marked ``live("opensearch")``."""
    return pytestconfig.stash[_SERVERS].url("opensearch")


@pytest.fixture(scope="session")
def opensearch_compat_url(pytestconfig: pytest.Config) -> str:
    """The session's OpenSearch 2.19; for tests marked ``live("opensearch-compat")``."""
    return pytestconfig.stash[_SERVERS].url("opensearch-compat")


@pytest.fixture(scope="session")
def opensearch_to_kill(pytestconfig: pytest.Config) -> MavenNode:
    """A running node that a test may kill and must start again; for tests marked ``live("opensearch-to-kill")``."""
    return pytestconfig.stash[_SERVERS].node(TO_KILL)


@pytest.fixture(scope="session")
def opensearch_pair(pytestconfig: pytest.Config) -> tuple[MavenNode, MavenNode]:
    """The nodes of a cluster of two, its manager first; for tests marked ``live("opensearch-two-nodes")``."""
    return pytestconfig.stash[_SERVERS].pair()


@pytest.fixture(scope="session")
def opensearch_secured(pytestconfig: pytest.Config) -> SecuredNode:
    """A node with its security plugin and the shipped roles; for tests marked ``live("opensearch-secured")``."""
    return pytestconfig.stash[_SERVERS].secured()


@pytest.fixture(scope="session")
def valkey_url(pytestconfig: pytest.Config) -> str:
    """The session's Valkey, for tests marked ``live("valkey")``; each test takes a key prefix (``index_prefix``) of its own."""
    return pytestconfig.stash[_SERVERS].url(VALKEY)


@pytest.fixture
def opensearch_prefix(opensearch_url: str) -> Iterator[str]:
    """An index prefix of the test's own, with nothing left under it."""
    prefix = "t" + uuid.uuid4().hex[:12]
    yield prefix
    remove_prefix(opensearch_url, prefix)


@pytest.fixture(scope="session")
def opensearch_engine(opensearch_url: str) -> Iterator[Engine]:
    """An engine for the whole session, with vectors as in ``tests/contracts/writes.py``; each test takes a tenant of its own."""
    from runtime.clock import SystemClock
    from runtime.settings import read_settings
    from search.engines.opensearch import open_opensearch
    from tests.contracts.writes import DIMENSION, MODEL

    settings = read_settings({}, engine_url=opensearch_url, index_prefix="t" + uuid.uuid4().hex[:12])
    try:
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
            yield engine
    finally:
        remove_prefix(opensearch_url, settings.index_prefix)


def _require(item: pytest.Item, server: str) -> None:
    try:
        item.config.stash[_SERVERS].url(server)
    except NoServer as error:
        reason = f"{server}: {error}"
        if os.environ.get("REQUIRE_LIVE") == "1":
            pytest.fail(f"REQUIRE_LIVE=1 and there is no {reason}", pytrace=False)
        item.config.stash[_MISSING].setdefault(reason, []).append(item.nodeid)
        pytest.skip(f"no {reason}")
