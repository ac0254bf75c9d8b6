"""A store that answers drop by drop holds no request longer than the time of a run, whatever the time of a single call is."""

import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from api.app import create_app
from runtime.settings import read_settings
from search.ingest.rows import rows_of
from tests.doors.conftest import documents
from tests.doors.serving import running
from tests.faults.proxy import Proxy, proxied
from tests.grounding.desk import ACME
from tests.servers import remove_prefix
from worker.opening import open_service

pytestmark = pytest.mark.live("opensearch")

FAR_S = 300.0
"""Of one call of the engine: far beyond what a test may take."""

PATIENCE_S = 60.0

QUERIES = (
    "{ aggregateByTheme { total } }",
    "{ documents(first: 5) { documents { docId } } }",
    '{ search(query: "billing") { hits { docId } } }',
    "{ monitors { monitors { monitorId } } traces(first: 2) { traces { runId } } corpus { documents } }",
)


@pytest.fixture(scope="module")
def proxy(opensearch_url: str) -> Iterator[Proxy]:
    url = urlsplit(opensearch_url)
    assert url.hostname is not None
    with proxied(url.hostname, url.port or 9200) as opened:
        yield opened


@pytest.fixture(scope="module")
def http(proxy: Proxy, opensearch_url: str) -> Iterator[httpx.Client]:
    prefix = "t" + uuid.uuid4().hex[:12]
    url = f"http://localhost:{proxy.port}"
    settings = read_settings(
        {},
        engine_url=url,
        index_prefix=prefix,
        engine_timeout_s=FAR_S,
        ask_timeout_s=0.2,
        embedder_threads=1,
        cache="off",
        breaker_failures=100,
    )
    try:
        with open_service(settings) as service, running(create_app(service)) as web:
            service.ingester.ingest(ACME, rows_of(documents()))
            with httpx.Client(base_url=web, headers={"x-tenant-id": ACME}, timeout=PATIENCE_S) as client:
                yield client
            proxy.heal()
    finally:
        remove_prefix(opensearch_url, prefix)


@pytest.mark.parametrize("fault", ["half_open", "throttled"])
def test_what_graphql_reads_ends_in_time(http: httpx.Client, proxy: Proxy, fault: str) -> None:
    proxy.fail(fault)  # type: ignore[arg-type]
    try:
        for query in QUERIES:
            answered = http.post("/graphql", json={"query": query}).json()
            assert {error["extensions"]["code"] for error in answered["errors"]} == {"UNAVAILABLE"}, answered
    finally:
        proxy.heal()


@pytest.mark.parametrize("fault", ["half_open", "throttled"])
def test_what_rest_reads_ends_in_time(http: httpx.Client, proxy: Proxy, fault: str) -> None:
    proxy.fail(fault)  # type: ignore[arg-type]
    try:
        for answered in (
            http.post("/search", json={"query": "billing"}),
            http.get("/documents/doc-001"),
            http.get("/jobs/job-1"),
        ):
            assert (answered.status_code, answered.json()["code"]) == (503, "UNAVAILABLE")
    finally:
        proxy.heal()
