"""Spans on their way to a real OTLP receiver: what they say, what they never say, and that a receiver that fails is nobody's problem."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from runtime import tracing
from runtime.clock import SystemClock
from runtime.errors import InvalidRequest, Unavailable
from runtime.resilience import Guard, RetryPolicy
from runtime.settings import read_settings
from runtime.span_export import MOST_WAITING, traces_url
from runtime.tracing import ROOT, asked_in, carrier, ids, note, open_tracing, span
from tests.collector import Collector, collecting

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as opened:
        yield opened


@contextmanager
def traced(url: str, **more: object) -> Iterator[Counter[str]]:
    told: Counter[str] = Counter()

    def tell(outcome: str, spans: int) -> None:
        told[outcome] += spans

    settings = read_settings({}, otlp_endpoint=url, breaker_open_s=600, **more)
    with open_tracing(settings, "test", SystemClock(), tell):
        yield told


def test_without_a_collector_nothing_is_recorded_and_the_library_is_not_loaded() -> None:
    program = (
        "import sys; from runtime import tracing; from runtime.clock import SystemClock; from runtime.settings import read_settings\n"
        "with tracing.open_tracing(read_settings({}), 'test', SystemClock(), print) as exporting, tracing.span('a', run_id='1') as told:\n"
        "    told.set(claims=1); told.numbers({'read': 1}); told.rename('b'); told.failed('X'); tracing.note(operation='x')\n"
        "    print(tracing.ids(), dict(tracing.carrier()), exporting.guards, [name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("None {} () []\n", "")


def test_spans_arrive_nested_with_their_attributes_and_the_resource(collector: Collector) -> None:
    with traced(collector.url, environment="prod-1") as told, span("outer", kind="server", http_method="POST") as outer:
        outer.rename("POST /ask")
        with span("inner", step="plan") as inner:
            inner.numbers({"read": 3, "score": 0.25, "drafts": [1, 2], "said": "a secret text", "Bad Name": 1})
    (outside,), (inside,) = collector.named("POST /ask"), collector.named("inner")
    assert inside.parent_id == outside.span_id
    assert outside.parent_id == ""
    assert inside.attributes == {"wa.step": "plan", "wa.step.read": 3, "wa.step.score": 0.25, "wa.step.drafts": 2}
    assert outside.attributes == {"http.request.method": "POST"}
    assert outside.resource["service.name"] == "wisdomagent-test"
    assert outside.resource["deployment.environment.name"] == "prod-1"
    assert outside.resource["service.version"]
    assert told == {"exported": 2}


def test_a_text_is_left_out_wherever_it_is_put(collector: Collector) -> None:
    with traced(collector.url), span("step", outcome="canary of a text", reason="canary\nline") as told:
        told.set(operation="Die Rechnung: canary", claims=2)
    assert b"canary" not in collector.everything()
    assert collector.spans[0].attributes == {"wa.claims": 2}


def test_an_error_is_told_by_its_class_and_what_the_caller_did_wrong_is_no_error_of_ours(collector: Collector) -> None:
    with traced(collector.url):
        for name, error in (("ours", RuntimeError("canary")), ("theirs", InvalidRequest("canary", field="question"))):
            with pytest.raises(type(error)), span(name):
                raise error
    told = {each.name: (each.failed, each.attributes["error.type"]) for each in collector.spans}
    assert told == {"ours": (True, "RuntimeError"), "theirs": (False, "InvalidRequest")}
    assert b"canary" not in collector.everything()


def test_a_caller_s_place_is_the_parent_and_nothing_else_of_theirs_is_taken(collector: Collector) -> None:
    headers = {"traceparent": CALLER, "tracestate": "vendor=canary", "baggage": "user=canary"}
    with traced(collector.url), span("door", parent=asked_in(headers)):
        assert ids() is not None
    (door,) = collector.spans
    assert (door.trace_id, door.parent_id) == (CALLER[3:35], CALLER[36:52])
    assert b"canary" not in collector.everything()


@pytest.mark.parametrize("given", ["", "00-0-0-01", CALLER.upper(), CALLER + "\n", f"00-{'0' * 32}-b7ad6b7169203331-01", "x" * 5000])
def test_a_place_that_is_none_begins_a_trace(given: str, collector: Collector) -> None:
    with traced(collector.url), span("door", parent=asked_in({"traceparent": given})):
        pass
    assert collector.spans[0].parent_id == ""
    assert asked_in(None) is ROOT


def test_a_caller_that_samples_itself_out_is_not_recorded(collector: Collector) -> None:
    with traced(collector.url) as told, span("door", parent={"traceparent": CALLER[:-1] + "0"}), span("inside"):
        pass
    assert (collector.requests, told) == (0, {})


def test_work_that_is_handed_on_stays_in_the_trace_for_a_few_hops_and_is_linked_after_that(collector: Collector) -> None:
    with traced(collector.url):
        with span("hop 0"):
            place = carrier()
        for hop in range(1, 8):
            with span(f"hop {hop}", parent=place):
                place = carrier()
    by_name = {each.name: each for each in collector.spans}
    assert len({by_name[f"hop {n}"].trace_id for n in range(6)}) == 1
    assert by_name["hop 6"].trace_id != by_name["hop 5"].trace_id
    assert by_name["hop 6"].links == ((by_name["hop 5"].trace_id, by_name["hop 5"].span_id),)
    assert by_name["hop 7"].trace_id == by_name["hop 6"].trace_id


def test_one_of_very_many_begins_its_own_trace_linked_to_where_it_came_from(collector: Collector) -> None:
    with traced(collector.url):
        with span("tick"):
            place = carrier(apart=True)
        with span("one of many", parent=place):
            pass
    (tick,), (one,) = collector.named("tick"), collector.named("one of many")
    assert one.trace_id != tick.trace_id
    assert one.links == ((tick.trace_id, tick.span_id),)


def test_tenants_are_told_only_when_asked_for_and_then_as_a_hash(collector: Collector) -> None:
    with traced(collector.url), span("plain", tenant="acme-canary"):
        pass
    with traced(collector.url, otlp_tenant="hash"), span("hashed", tenant="acme-canary"), span("other", tenant="birch"):
        pass
    told = {each.name: each.attributes.get("wa.tenant") for each in collector.spans}
    assert told["plain"] is None
    assert len(told["hashed"]) == 16
    assert told["hashed"] != told["other"]
    assert b"acme-canary" not in collector.everything()


def test_a_guarded_call_is_one_span_with_its_attempts_and_how_it_ended(collector: Collector) -> None:
    failures = iter([Unavailable("canary", dependency="engine"), None])

    def call(_timeout_s: float) -> str:
        note(operation="_search", system="opensearch")
        error = next(failures)
        if error is not None:
            raise error
        return "found"

    guard = Guard("engine", timeout_s=5, clock=SystemClock(), retry=RetryPolicy(2), sleep=lambda _: None)
    with traced(collector.url):
        assert guard.call(call, repeatable=True) == "found"
        failures = iter([Unavailable("canary", dependency="engine")])
        with pytest.raises(Unavailable):
            guard.call(call, repeatable=False)
    well, ill = collector.named("call engine")
    assert well.attributes == {"wa.dependency": "engine", "wa.attempts": 2, "wa.operation": "_search", "db.system.name": "opensearch"}
    assert (ill.failed, ill.attributes["error.type"], ill.attributes["wa.attempts"]) == (True, "Unavailable", 1)


def test_exports_are_not_traced_themselves(collector: Collector) -> None:
    with traced(collector.url):
        with span("first"):
            pass
        collector.awaited("first")
        with span("second"):
            pass
    assert {each.name for each in collector.spans} == {"first", "second"}


@pytest.mark.parametrize("mood", ["failing", "garbage"])
def test_a_collector_that_fails_costs_its_spans_which_are_counted(collector: Collector, mood: str) -> None:
    collector.mood = mood  # type: ignore[assignment]
    with traced(collector.url) as told:
        for _ in range(20):
            with span("lost"):
                pass
    assert told == {"failed": 20}
    assert collector.requests <= 2


def test_nobody_listening_opens_the_circuit_so_that_it_is_not_asked_for_ever() -> None:
    told: Counter[str] = Counter()
    done = threading.Event()

    def tell(outcome: str, spans: int) -> None:
        told[outcome] += spans
        if told["failed"] >= 4:
            done.set()

    settings = read_settings({}, otlp_endpoint="http://127.0.0.1:9", breaker_failures=1, breaker_open_s=600)
    with open_tracing(settings, "test", SystemClock(), tell) as exporting:
        while not done.is_set():
            with span("lost"):
                done.wait(0.2)
        assert [guard.breaker_state.name for guard in exporting.guards] == ["OPEN"]


def test_a_collector_that_never_answers_neither_holds_up_spans_nor_the_end_and_memory_stays_bounded(collector: Collector) -> None:
    collector.mood = "silent"
    with traced(collector.url) as told:
        with span("first"):
            pass
        for _ in range(MOST_WAITING + 1000):
            with span("beyond"):
                pass
        assert told["dropped"] >= 500
    assert told["exported"] == 0
    assert told["dropped"] + told["failed"] >= MOST_WAITING
    assert tracing.ids() is None


def test_where_spans_go() -> None:
    assert traces_url("http://c:4318") == traces_url("http://c:4318/") == "http://c:4318/v1/traces"
    assert traces_url("https://c/otlp") == "https://c/otlp/v1/traces"
    assert traces_url("https://c/otlp/v1/traces") == "https://c/otlp/v1/traces"


def test_every_attribute_has_a_name_of_its_own_and_a_meaning() -> None:
    exported = [name for name, _ in tracing.ATTRIBUTES.values()]
    assert len(set(exported)) == len(exported)
    assert all(meaning for _, meaning in tracing.ATTRIBUTES.values())
