"""An OpenSearch that is gone, comes back, or is not one. Real sockets and real processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.clock import Deadline, SystemClock
from runtime.errors import CircuitOpen, Misconfigured, Unavailable
from runtime.resilience import BreakerState
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.engines.opensearch_connection import connected
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.sockets import Misbehaviour, answering, cutting_short, listening, nobody_listening, resetting, saying_nothing
from tests.servers import MavenNode

TENANT = tenant_named("a-tenant")
QUERY = LegQuery("late fees", unit_vector("late fees"), EVERYTHING)
BUSY = json.dumps({"error": {"root_cause": [{"type": "circuit_breaking_exception", "reason": "[request] Data too large"}]}, "status": 503})


def engine_at(url: str, **changes: object) -> OpenSearchEngine:
    """An engine that sends nothing before it is asked."""
    clock = SystemClock()
    settings = read_settings({}, engine_url=url, **{"retry_attempts": 2, "engine_timeout_s": 5.0, **changes})
    return OpenSearchEngine(connected(settings, clock), "faults", model=MODEL, dimension=DIMENSION, clock=clock)


def failure_of(url: str, **changes: object) -> Unavailable:
    """What a search comes to; every other call must come to the same."""
    engine = engine_at(url, **changes)
    with pytest.raises(Unavailable) as raised:
        engine.legs(TENANT, QUERY)
    for call in (
        lambda: engine.write(TENANT, [written("a", "text")]),
        lambda: engine.delete(TENANT, ["a"]),
        lambda: engine.stored(TENANT, ["a"]),
        engine.describe,
        lambda: engine.corpus(TENANT),
        lambda: engine.state.put(TENANT, "trace", "1", {}),
        lambda: engine.refresh(TENANT),
    ):
        with pytest.raises(Unavailable):
            call()
    assert raised.value.dependency == "opensearch"
    return raised.value


def test_when_nothing_listens_the_error_names_opensearch_and_the_setting() -> None:
    assert "WA_ENGINE_URL" in str(failure_of(nobody_listening()))


@pytest.mark.parametrize("misbehave", [resetting, cutting_short], ids=["reset", "cut short"])
def test_a_connection_that_breaks_is_unavailable(misbehave: Misbehaviour) -> None:
    with listening(misbehave) as url:
        failure_of(url)


def test_a_busy_cluster_says_what_it_is_busy_with() -> None:
    with listening(answering(BUSY, status="503 Service Unavailable")) as url:
        assert "circuit_breaking_exception: [request] Data too large" in str(failure_of(url))


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ("<html>Sign in</html>", "text/html", "200 OK"),
        ("hello", "text/plain", "200 OK"),
        ("hello", "application/json", "200 OK"),
        ("[]", "application/json", "200 OK"),
        ("bad gateway", "text/plain", "502 Bad Gateway"),
    ],
)
def test_what_is_not_opensearch_is_never_taken_for_an_answer(body: str, kind: str, status: str) -> None:
    with listening(answering(body, kind=kind, status=status)) as url:
        failure_of(url)


def test_another_kind_of_server_is_refused_when_the_engine_is_opened() -> None:
    with listening(answering('{"version": {"number": "8.1.0"}}')) as url:
        settings = read_settings({}, engine_url=url)
        with pytest.raises(Misconfigured, match="not OpenSearch"), open_opensearch(settings, model=MODEL, dimension=1, clock=SystemClock()):
            pass


def test_a_cluster_that_says_nothing_is_given_up_at_the_deadline() -> None:
    clock = SystemClock()
    with listening(saying_nothing) as url:
        engine = engine_at(url, engine_timeout_s=120.0)
        with pytest.raises(Unavailable, match="did not answer in the time given"):
            engine.legs(TENANT, QUERY, deadline=Deadline.after(0.2, clock))


def test_after_some_failures_in_a_row_the_cluster_is_left_alone_for_a_while() -> None:
    engine = engine_at(nobody_listening(), breaker_failures=3)
    for _ in range(3):
        with pytest.raises(Unavailable):
            engine.stored(TENANT, ["a"])
    assert [guard.breaker_state for guard in engine.guards] == [BreakerState.OPEN, BreakerState.CLOSED]
    with pytest.raises(CircuitOpen):
        engine.stored(TENANT, ["a"])


@pytest.mark.live("opensearch-to-kill")
def test_a_node_that_is_killed_is_named_and_what_was_acknowledged_is_there_after_its_restart(opensearch_to_kill: MavenNode) -> None:
    clock = SystemClock()
    settings = read_settings({}, engine_url=opensearch_to_kill.url, index_prefix="kill", breaker_open_s=0.1)
    with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=clock) as engine:
        engine.write(TENANT, [written(f"d{number}", f"late fees {number}") for number in range(500)])
        engine.refresh(TENANT)
        assert engine.legs(TENANT, QUERY).scope == 500
        engine.write(TENANT, [written("last", "never refreshed")])
        opensearch_to_kill.kill()
        for call in (lambda: engine.legs(TENANT, QUERY), lambda: engine.write(TENANT, [written("lost", "text")])):
            with pytest.raises(Unavailable) as raised:
                call()
            assert raised.value.dependency == "opensearch"
        opensearch_to_kill.start()
        assert set(engine.stored(TENANT, ["d0", "last", "lost"])) == {"d0", "last"}
        engine.refresh(TENANT)
        assert engine.legs(TENANT, QUERY).scope == 501
        assert [each.kind for each in engine.write(TENANT, [written("lost", "text")])] == ["indexed"]


WRITER = """
import sys
from runtime.clock import SystemClock
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.engines.opensearch import open_opensearch
from tests.contracts.writes import DIMENSION, MODEL, written

settings = read_settings({}, engine_url=sys.argv[1], index_prefix="writer")
with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=SystemClock()) as engine:
    for batch in range(1000):
        engine.write(tenant_named("a-tenant"), [written(f"{batch}-{number}", f"text {batch} {number}", day=batch * 20) for number in range(50)])
        print(batch, flush=True)
"""


@pytest.mark.live("opensearch-to-kill")
def test_a_writer_that_is_killed_loses_nothing_acknowledged_and_its_replay_completes_the_rest(opensearch_to_kill: MavenNode) -> None:
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", WRITER, opensearch_to_kill.url], stdout=subprocess.PIPE, text=True, cwd=root) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 5:
                break
        writer.kill()
        acknowledged = int(line)
    clock = SystemClock()
    settings = read_settings({}, engine_url=opensearch_to_kill.url, index_prefix="writer")
    with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=clock) as engine:
        ids = [f"{batch}-{number}" for batch in range(acknowledged + 1) for number in range(50)]
        assert set(engine.stored(TENANT, ids)) == set(ids)
        following = [
            written(f"{batch}-{number}", f"text {batch} {number}", day=batch * 20)
            for batch in range(acknowledged + 4)
            for number in range(50)
        ]
        outcomes = engine.write(TENANT, following)
        assert {each.kind for each in outcomes[: len(ids)]} == {"unchanged"}
        assert {each.kind for each in outcomes[len(ids) :]} <= {"indexed", "unchanged"}
        engine.refresh(TENANT)
        assert engine.corpus(TENANT).documents == len(following)
        assert engine.documents(TENANT, EVERYTHING).total == len(following)
