"""A real OpenSearch behind a proxy that breaks what passes: reads and writes, under concurrent load."""

import uuid
from collections.abc import Iterator
from itertools import count
from urllib.parse import urlsplit

import pytest

from runtime.settings import read_settings
from runtime.telemetry import Metrics
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.engines.opensearch import OpenSearchEngine, open_opensearch
from search.ranking import LegQuery
from tests.contracts.writes import DIMENSION, MODEL, unit_vector, written
from tests.faults.enduring import QUICK, Dependency, LeapingClock, endures, piles_nothing_up
from tests.faults.proxy import HTTP_FAULTS, Fault, Proxy, proxied
from tests.servers import remove_prefix

pytestmark = pytest.mark.live("opensearch")

TENANT = tenant_named("a-tenant")
QUERY = LegQuery("late fees", unit_vector("late fees"), EVERYTHING)
TIMEOUT_S = 2.0


@pytest.fixture(scope="module")
def proxy(opensearch_url: str) -> Iterator[Proxy]:
    url = urlsplit(opensearch_url)
    assert url.hostname is not None
    with proxied(url.hostname, url.port or 9200) as opened:
        yield opened


@pytest.fixture(autouse=True)
def healthy(proxy: Proxy, clock: LeapingClock) -> Iterator[None]:
    """Also after a test that failed."""
    yield
    proxy.heal()
    clock.leapt_s += QUICK["breaker_open_s"]


@pytest.fixture(scope="module")
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture(scope="module")
def engine(proxy: Proxy, opensearch_url: str, clock: LeapingClock) -> Iterator[OpenSearchEngine]:
    prefix = "t" + uuid.uuid4().hex[:12]
    settings = read_settings({}, engine_url=f"http://localhost:{proxy.port}", index_prefix=prefix, engine_timeout_s=TIMEOUT_S, **QUICK)
    try:
        with open_opensearch(settings, model=MODEL, dimension=DIMENSION, clock=clock) as engine:
            engine.write(TENANT, [written(f"d{number}", f"late fees {number}") for number in range(3)])
            engine.refresh(TENANT)
            yield engine
    finally:
        remove_prefix(opensearch_url, prefix)


def reading(engine: OpenSearchEngine, clock: LeapingClock) -> Dependency:
    metrics = Metrics()
    metrics.watch(engine)
    return Dependency(
        "opensearch",
        lambda: engine.legs(TENANT, QUERY),
        clock,
        metrics,
        ("opensearch",),
        told=_is_short,
    )


def _is_short(found: object) -> bool:
    """An answer that lacks documents; none may be given."""
    return getattr(found, "scope", 0) < 3


@pytest.mark.parametrize("fault", HTTP_FAULTS)
def test_a_search_is_answered_whole_or_not_at_all(fault: Fault, engine: OpenSearchEngine, clock: LeapingClock, proxy: Proxy) -> None:
    endures(reading(engine, clock), proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "throttled"])
def test_failed_searches_pile_nothing_up(fault: Fault, engine: OpenSearchEngine, clock: LeapingClock, proxy: Proxy) -> None:
    piles_nothing_up(reading(engine, clock), proxy, fault)


@pytest.mark.parametrize("fault", ["reset", "half_open", "http_503"])
def test_a_write_that_is_not_acknowledged_is_an_error_and_its_repetition_changes_nothing(
    fault: Fault, engine: OpenSearchEngine, clock: LeapingClock, proxy: Proxy
) -> None:
    metrics, numbers = Metrics(), count()
    metrics.watch(engine)
    sent: list[str] = []
    before = engine.corpus(TENANT).documents

    def write() -> object:
        name = f"{fault}{next(numbers)}"
        sent.append(name)
        (outcome,) = engine.write(TENANT, [written(name, f"late fees {name}")])
        return outcome.kind

    named = ("opensearch",)
    endures(Dependency("opensearch", write, clock, metrics, named), proxy, fault)
    for name in sent:
        engine.write(TENANT, [written(name, f"late fees {name}")])
    engine.refresh(TENANT)
    assert set(engine.stored(TENANT, sent)) == set(sent)
    assert engine.corpus(TENANT).documents == before + len(sent)
