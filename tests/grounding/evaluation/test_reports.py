import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grounding.answers import RefusalReason
from grounding.evaluation.cases import Expected
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.report_json import report_as_json, report_from_json
from grounding.evaluation.report_store import Reports
from grounding.evaluation.reports import EvalReport, Subject, judged, report_of
from grounding.evaluation.results import CaseResult
from grounding.evaluation.set_files import parse_set
from grounding.evaluation.set_store import Sets
from grounding.evaluation.sheaves import SHEET_CHARS, put_sheaf, read_sheaf
from runtime.errors import InvalidRequest, NotFound
from runtime.tenancy import tenant_named
from tests.grounding.desk import ACME, Desk
from tests.grounding.evaluation.graded import REFUSAL, result, wrong

BIRCH = tenant_named("birch")
SUBJECT = Subject("mine", "0123456789abcdef", 10, 3, "sqlite 3", "minilm")
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
FULL = Expected(answered=True, documents=("a",), facts=("f",), absent=("n",), count=3, series={"2026-06": 1, "card_arrival": 2})
RESULTS = (
    result("1", FULL, citations=("a",), ranking=("b", "a"), count=3, groundedness=0.5, supports=(0.5, 1.0), run_id="r", model="extractive"),
    result("2", Expected(answered=False, reasons=frozenset({RefusalReason.TOO_FEW})), "refused", reason="TOO_FEW"),
    result("3", problems=wrong("quote", invented=True), kind="other"),
    result("4", REFUSAL, "error", problems=wrong("error")),
)


def report(report_id: str = "r-1", results: tuple[CaseResult, ...] = RESULTS) -> EvalReport:
    return report_of(report_id, SUBJECT, AT, 12.5, results)


GATED = judged(report("r-2"), ScoreGate(thresholds={"exact_rate": 0.9}, known=("3",), regressed_cases=0), report("r-1", RESULTS[:3]))


def test_a_report_counts_its_cases() -> None:
    found = report()
    assert (found.cases, found.exact, found.errors, found.outcome) == (4, 2, 1, "ungated")
    assert (GATED.outcome, GATED.verdict is not None and GATED.verdict.diff is not None) == ("failed", True)


@pytest.mark.parametrize("whole", [report(), GATED], ids=["plain", "gated"])
def test_a_report_survives_being_written_and_read(whole: EvalReport) -> None:
    assert report_from_json(json.loads(json.dumps(report_as_json(whole), allow_nan=False))) == whole


def test_reports_are_kept_listed_by_set_and_belong_to_one_tenant(desk: Desk) -> None:
    reports = Reports(desk.service.state)
    assert reports.save(ACME, report())
    assert reports.save(ACME, GATED)
    assert reports.save(ACME, replace(report("r-3"), subject=replace(SUBJECT, set_name="other")))
    assert reports.get(ACME, "r-2") == GATED
    listed = reports.list(ACME, set_name="mine").reports
    assert {each.report_id for each in listed} == {"r-1", "r-2"}
    assert all(each.results == () for each in listed)
    assert len(reports.list(ACME, first=2).reports) == 2
    assert reports.list(BIRCH).reports == ()
    with pytest.raises(NotFound):
        reports.get(BIRCH, "r-1")


def test_a_report_is_written_once_together_with_its_event(desk: Desk) -> None:
    reports = Reports(desk.service.state)
    assert reports.save(ACME, GATED)
    assert not reports.save(ACME, replace(GATED, seconds=99.0))
    assert reports.get(ACME, "r-2").seconds == 12.5
    events = [event for event in desk.service.state.outbox() if event.type == "eval.finished"]
    assert [(event.tenant, event.subject, event.body["passed"], event.body["exact"]) for event in events] == [(ACME, "r-2", False, 2)]
    assert "question" not in json.dumps(dict(events[0].body))


def test_a_deleted_report_is_gone_with_its_results(desk: Desk) -> None:
    reports = Reports(desk.service.state)
    reports.save(ACME, report())
    reports.delete(ACME, "r-1")
    assert reports.list(ACME).reports == ()
    assert desk.service.state.get(ACME, "eval_results", "r-1.00000") is None
    with pytest.raises(NotFound):
        reports.delete(ACME, "r-1")


def test_thousands_of_cases_are_kept_in_sheets_below_the_limit_of_the_store(desk: Desk) -> None:
    many = tuple(result(str(number), ranking=tuple(f"document-{place:020}" for place in range(60))) for number in range(600))
    whole = report("big", many)
    Reports(desk.service.state).save(ACME, whole)
    assert Reports(desk.service.state).get(ACME, "big").results == many


def test_a_sheaf_keeps_order_and_one_value_larger_than_a_sheet(desk: Desk) -> None:
    values = ["x" * (SHEET_CHARS + 10), *range(5)]
    sheets = put_sheaf(desk.service.state, ACME, "k", "s", values)
    assert sheets == 2
    assert read_sheaf(desk.service.state, ACME, "k", "s", sheets) == values
    assert put_sheaf(desk.service.state, ACME, "k", "none", []) == 0


def line(case_id: str) -> str:
    return json.dumps({"id": case_id, "question": "q?", "expected": {"answered": True}})


def test_sets_are_kept_by_name_and_replaced_whole(desk: Desk) -> None:
    sets = Sets(desk.service.state)
    first, second = parse_set(f"{line('a')}\n{line('b')}", "mine"), parse_set(line("c"), "mine")
    sets.save(ACME, first)
    assert sets.get(ACME, "mine") == first
    sets.save(ACME, second)
    assert sets.get(ACME, "mine") == second
    assert [(each.name, each.cases) for each in sets.list(ACME)] == [("banking", 180), ("mine", 1)]
    with pytest.raises(NotFound):
        sets.get(BIRCH, "mine")
    sets.delete(ACME, "mine")
    with pytest.raises(NotFound):
        sets.get(ACME, "mine")


@pytest.mark.parametrize("name", ["banking", " ", "x" * 101])
def test_a_set_cannot_take_a_name_of_the_product_or_none(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidRequest):
        Sets(desk.service.state).save(ACME, replace(parse_set(line("a"), "x"), name=name))


def test_the_shipped_set_is_there_for_everyone(desk: Desk, tmp_path: Path) -> None:
    assert len(Sets(desk.service.state).get(BIRCH, "banking").cases) == 180
