"""Every case of the shared case files, one test each, on a fresh store."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.tenancy import tenant_named
from search.documents import EVERYTHING
from search.ingest.rows import rows_of
from tests.cases.doors import Door, PythonDoor
from tests.cases.expectations import check
from tests.cases.reading import BESIDE, TENANT, VARIABLE, Case, as_document, cases
from tests.cases.web import WebDoor
from tests.doors.serving import running
from worker.opening import Service, open_service

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WEB_STEPS = ("graphql", "mcp")
"""Cases of nothing else are about the web doors; tests/doors/test_cases.py has them."""

STORED = ("stored",)
"""Expectations about what the store holds after a step, read from the engine itself."""

FOUND = tuple(case for case in cases() if not all(step["do"] in WEB_STEPS for step in case.steps))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over an empty store, at the time the cases are written for."""
    settings = read_settings({}, engine_url=f"sqlite:///{tmp_path / 'store.db'}", embedder_threads=1)
    with open_service(settings, SettableClock(NOW)) as opened:
        yield opened


@pytest.fixture(params=["python", "web"])
def door(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> Iterator[Door]:
    """The Python functions, and the same over HTTP."""
    if request.param == "python":
        yield PythonDoor(service, tmp_path)
    else:
        with running(create_app(service)) as url, httpx.Client(base_url=url, timeout=120) as http:
            yield WebDoor(service, tmp_path, http)


@pytest.mark.skipif(not FOUND, reason=f"no case files: set {VARIABLE}, or put them at {BESIDE}")
@pytest.mark.parametrize("case", FOUND, ids=lambda case: case.name)
def test_case(case: Case, service: Service, door: Door) -> None:
    rows = [as_document(record) for record in case.records]
    if case.steps[0]["do"] != "ingest":
        load(service, case)
    for step in case.steps:
        result = door.do(step, rows)
        texts = stored_texts(service, step.get("tenant", TENANT))
        alternatives = step.get("expect_any", [step["expect"]] if "expect" in step else [])
        holds(result, alternatives, texts, service, step)


def load(service: Service, case: Case) -> None:
    """Put the records of a case into their tenants."""
    for tenant in dict.fromkeys(record.get("tenant", TENANT) for record in case.records):
        rows = [as_document(record) for record in case.records if record.get("tenant", TENANT) == tenant]
        report = service.ingester.ingest(tenant_named(tenant), rows_of(rows))
        assert report.indexed == len(rows), report


def stored_texts(service: Service, tenant: str) -> Mapping[str, str]:
    """Text by id of everything the tenant has."""
    page = service.engine.documents(tenant_named(tenant), EVERYTHING, first=1000)
    return {document.doc_id: document.text for document in page.documents}


def holds(
    result: dict[str, Any], alternatives: list[dict[str, Any]], texts: Mapping[str, str], service: Service, step: Mapping[str, Any]
) -> None:
    """One of the alternatives must hold; the first failure is shown when none does."""
    failures = []
    for expected in alternatives:
        try:
            check(result, {name: value for name, value in expected.items() if name not in (*STORED, HTML)}, texts)
            stored(service, step.get("tenant", TENANT), expected.get("stored", ()))
        except AssertionError as failure:
            failures.append(failure)
        else:
            return
    if failures:
        raise failures[0]


HTML = "html_of_console_has_no_live_tag_from_records"
"""The console builds its page from text nodes; tests/doors looks at it in the page itself."""


def stored(service: Service, tenant: str, expected: Any) -> None:
    """Documents must be in the store as described."""
    for wanted in expected:
        document = service.engine.document(tenant_named(tenant), wanted["id"])
        assert document is not None, wanted
        if "text" in wanted:
            assert document.text == wanted["text"]
        for piece in wanted.get("text_contains", ()):
            assert piece in document.text
        if "occurred_at_date" in wanted:
            assert document.occurred_at.date().isoformat() == wanted["occurred_at_date"]
