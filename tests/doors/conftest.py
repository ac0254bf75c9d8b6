"""One real service on the embedded engine, behind one real web server, with a few documents of two tenants."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.app import create_app
from runtime.clock import SettableClock
from runtime.settings import read_settings
from runtime.telemetry import configure_logging
from runtime.tenancy import tenant_named
from search.ingest.rows import rows_of
from tests.doors.serving import running
from worker.opening import Service, open_service

ACME = "acme"
BIRCH = "birch"

COMPLAINTS = (
    "The billing page is slow and the payment method dropdown fails to load.",
    "I was charged twice for the same invoice in March.",
    "Billing support took nine days to answer my refund request.",
    "The invoice PDF shows the wrong VAT number for our company.",
    "Checkout rejects the discount code SAVE20 with error ERR_4012.",
    "When I apply a discount code at checkout the total goes up instead of down.",
    "The discount code field disappears on small screens, so I gave up and left.",
    "Login works again after the update, thank you.",
    "The mobile app crashes when I open the camera to scan a receipt.",
    "Shipping to Norway took three weeks.",
)
THEMES = ("billing", "billing", "billing", "billing", "checkout", "checkout", "checkout", "login", None, "shipping")


def documents() -> list[dict[str, Any]]:
    """Ten documents, one a week, of three accounts."""
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    return [
        {
            "docId": f"doc-{number:03d}",
            "source": "support_ticket",
            "text": text,
            "occurredAt": (start + timedelta(weeks=number)).isoformat(),
            "themeId": theme,
            "accountId": f"a-{number % 3}",
            "rating": 1 + number % 5,
            "attributes": {"plan": "pro" if number % 2 else "free"},
        }
        for number, (text, theme) in enumerate(zip(COMPLAINTS, THEMES, strict=True))
    ]


@pytest.fixture(scope="session", autouse=True)
def _logs() -> None:
    """Logs as a server writes them."""
    configure_logging(read_settings({}, log_level="WARNING", log_format="json"))


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on a store of its own, whose clock stands still at the present, so that recency is the same for every call."""
    store = tmp_path_factory.mktemp("store") / "wisdom.db"
    settings = read_settings({}, engine_url=f"sqlite:///{store}", embedder_threads=1)
    with open_service(settings, SettableClock(datetime.now(UTC))) as opened:
        opened.ingester.ingest(tenant_named(ACME), rows_of(documents()))
        birch = {"docId": "doc-000", "source": "review", "text": "Birch: the pilot was extended.", "occurredAt": "2026-02-01T00:00:00Z"}
        opened.ingester.ingest(tenant_named(BIRCH), rows_of([birch]))
        yield opened


@pytest.fixture(scope="session")
def web(service: Service) -> Iterator[str]:
    """The address of a server with every web door."""
    with running(create_app(service)) as url:
        yield url


@pytest.fixture
def http(web: str) -> Iterator[httpx.Client]:
    """A client of the tenant acme."""
    with httpx.Client(base_url=web, headers={"x-tenant-id": ACME}, timeout=30) as client:
        yield client
