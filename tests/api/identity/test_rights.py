"""The table of scopes is complete; rates and the audit log."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from api import rest, rest_jobs
from api.graphql_schema import executable_schema
from api.identity.audit import told
from api.identity.gate import Gate
from api.identity.principal import SCOPES, Principal
from api.identity.rates import MAX_BUCKETS, Rates
from api.identity.rights import ROUTES, SCOPE_OF, TOOLS, MissingScope
from api.mcp_tools import TOOLS as SERVED
from runtime.clock import SettableClock
from runtime.errors import RateLimited
from runtime.settings import read_settings
from runtime.telemetry import Metrics, configure_logging
from runtime.tenancy import tenant_named

ACME = tenant_named("acme")


def principal(name: str = "a", *scopes: str, **given: object) -> Principal:
    return Principal(ACME, name, frozenset(scopes or SCOPES), **given)  # type: ignore[arg-type]


def test_every_root_field_has_a_scope_and_nothing_else_has() -> None:
    schema = executable_schema()
    roots = (schema.query_type, schema.mutation_type, schema.subscription_type)
    assert {name for root in roots if root for name in root.fields} == SCOPE_OF.keys()


def test_every_write_takes_more_than_reading() -> None:
    written = executable_schema().mutation_type
    assert written is not None
    assert {SCOPE_OF[name] for name in written.fields} == {"write", "monitor", "admin"}


def test_every_tool_and_route_has_an_operation() -> None:
    assert TOOLS.keys() == SERVED.keys()
    served = {(method, route.path) for router in (rest.router, rest_jobs.router) for route in router.routes for method in route.methods}  # type: ignore[attr-defined]
    assert ROUTES.keys() == served
    assert {*TOOLS.values(), *ROUTES.values()} <= SCOPE_OF.keys()


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 3, 1, tzinfo=UTC))


def test_what_is_not_in_the_table_is_allowed_to_nobody(clock: SettableClock) -> None:
    with pytest.raises(MissingScope):
        Gate(read_settings({}), clock, Metrics()).admit(principal(), ["dropEverything"])


def test_a_bucket_empties_and_fills_again_at_its_rate(clock: SettableClock) -> None:
    rates = Rates(3, 0.5, clock)
    for _ in range(3):
        rates.take(principal(), "ask")
    with pytest.raises(RateLimited) as caught:
        rates.take(principal(), "ask")
    assert caught.value.retry_after_s == 2.0
    rates.take(principal("b"), "ask")
    rates.take(principal(), "search")
    clock.elapsed_s += 2.0
    rates.take(principal(), "ask")
    with pytest.raises(RateLimited):
        rates.take(principal(), "ask")


def test_waiting_as_long_as_is_said_is_enough_and_several_calls_are_taken_together(clock: SettableClock) -> None:
    rates = Rates(10, 3.0, clock)
    rates.take(principal(), "ask", 8)
    for _ in range(20):
        with pytest.raises(RateLimited) as caught:
            rates.take(principal(), "ask", 7)
        clock.elapsed_s += caught.value.retry_after_s
        rates.take(principal(), "ask", 7)


def test_rate_classes_have_their_share(clock: SettableClock) -> None:
    rates = Rates(10, 1.0, clock)
    for name, share in (("low", 2), ("standard", 10), ("high", 100)):
        rates.take(principal(name, rate_class=name), "ask", share)
        with pytest.raises(RateLimited):
            rates.take(principal(name, rate_class=name), "ask")


def test_buckets_are_bounded(clock: SettableClock) -> None:
    rates = Rates(1, 1.0, clock)
    for number in range(MAX_BUCKETS + 10):
        rates.take(principal(str(number)), "ask")
    assert len(rates._buckets) == MAX_BUCKETS


def test_refusals_are_counted_and_development_mode_is_not_limited(clock: SettableClock) -> None:
    metrics = Metrics()
    gate = Gate(read_settings({}, rate_capacity=1), clock, metrics)
    gate.admit(principal(limited=False), ["ask"] * 5)
    gate.admit(principal(), ["ask"])
    with pytest.raises(RateLimited):
        gate.admit(principal(), ["ask"])
    assert metrics.registry.get_sample_value("wa_rate_limited_total", {"operation": "ask"}) == 1


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    configure_logging(read_settings({}, log_level="WARNING", log_format="json"), stream)
    yield stream
    configure_logging(read_settings({}, log_level="WARNING", log_format="json"))


def test_the_audit_log_has_ids_and_no_text_and_survives_a_quiet_level(written: io.StringIO) -> None:
    given = {
        "documents": [{"docId": "d-1", "text": "secret words", "attributes": {"customerId": "own"}}, {"doc_id": "d-2"}],
        "question": "secret?",
        "filters": {"docIds": ["d-3"]},
    }
    told("write", principal(key_id="k1"), outcome="ok", given=given, operation="indexDocuments")
    line = json.loads(written.getvalue())
    assert line["ids"] == ["d-1", "d-2", "d-3"]
    assert (line["event"], line["tenant"], line["key_id"], line["operation"]) == ("write", "acme", "k1", "indexDocuments")
    assert "secret" not in written.getvalue()
    assert "own" not in written.getvalue()


def test_ids_are_bounded(written: io.StringIO) -> None:
    told("write", principal(), outcome="ok", given={"docIds": ["x" * 500] * 150})
    line = json.loads(written.getvalue())
    assert (len(line["ids"]), line["ids_left_out"], len(line["ids"][0])) == (100, 50, 200)
