from pathlib import Path
from typing import Any

import pytest

from grounding.answers import Outcome
from grounding.evaluation.cases import Expected
from grounding.evaluation.running import Runner
from runtime.errors import Unavailable
from runtime.tenancy import Tenant
from search.documents import Filters
from tests.grounding.desk import ACME, Desk, open_desk, record
from tests.grounding.evaluation.graded import REFUSAL, case

ROWS = [
    record("R-1", "The delivery took nine days.", theme_id="delivery"),
    record("R-2", "The courier left the parcel in the rain.", theme_id="delivery"),
    record("R-3", "My delivery was late again.", theme_id="delivery"),
]
CASES = (
    case("count", "How many documents are there?", Expected(answered=True, count=3)),
    case("quote", "How long did the delivery take?", Expected(answered=True, documents=("R-1",), facts=("nine days",))),
    case("off", "Which team won the football world cup?", REFUSAL),
    case("empty", "How many documents are there?", REFUSAL, filters=Filters(sources=("fax",))),
)


class Unreliable:
    """Fails at every second question, whatever it is."""

    def __init__(self, desk: Desk) -> None:
        self.answerer = desk.service.answerer
        self.asked = 0

    def ask(self, tenant: Tenant, question: str, **options: Any) -> Outcome:
        self.asked += 1
        if self.asked % 2 == 0:
            raise (Unavailable("down") if self.asked % 4 else RuntimeError("a defect"))
        return self.answerer.ask(tenant, question, **options)


def test_every_case_is_asked_with_its_filters_and_graded_in_order(desk: Desk) -> None:
    desk.load(ROWS)
    told: list[tuple[int, int, str]] = []
    runner = Runner(desk.service.answerer, desk.service.engine, desk.clock)
    results = runner.run(ACME, CASES, told=lambda done, total, result: told.append((done, total, result.case_id)))
    assert [(result.case_id, result.exact) for result in results] == [("count", True), ("quote", True), ("off", True), ("empty", True)]
    assert results[3].reason == "NO_DOCUMENTS"
    assert told == [(1, 4, "count"), (2, 4, "quote"), (3, 4, "off"), (4, 4, "empty")]


def test_every_run_leaves_its_trace(desk: Desk) -> None:
    desk.load(ROWS)
    result = Runner(desk.service.answerer, desk.service.engine, desk.clock).run(ACME, CASES[:1])[0]
    assert result.run_id is not None
    assert desk.service.traces.get(ACME, result.run_id).question == CASES[0].question


def test_a_case_that_raises_is_an_error_of_that_case_and_stops_nothing(desk: Desk) -> None:
    desk.load(ROWS)
    results = Runner(Unreliable(desk), desk.service.engine, desk.clock).run(ACME, CASES)
    assert [result.ended for result in results] == ["answered", "error", "refused", "error"]
    assert [result.problems[0].message for result in results if result.ended == "error"] == [
        "the run ended with Unavailable",
        "the run ended with RuntimeError",
    ]


@pytest.mark.parametrize("question", ["x" * 30_000, "\x00"])
def test_a_question_that_cannot_be_asked_is_no_crash(desk: Desk, question: str) -> None:
    results = Runner(desk.service.answerer, desk.service.engine, desk.clock).run(ACME, (case("odd", question, REFUSAL),))
    assert results[0].ended in ("error", "refused")


def test_the_same_store_and_set_give_the_same_results(tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with open_desk(tmp_path / name) as desk:
            desk.load(ROWS)
            results = Runner(desk.service.answerer, desk.service.engine, desk.clock).run(ACME, CASES)
            runs.append(
                [(result.case_id, result.ended, result.citations, result.ranking, result.problems, result.tokens) for result in results]
            )
    assert runs[0] == runs[1]
