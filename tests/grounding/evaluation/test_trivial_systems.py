"""Systems that do not try must score badly: refusing everything, answering everything, and failing every time."""

from collections.abc import Callable, Sequence

import pytest

from grounding.evaluation.gate import ScoreGate, judge
from grounding.evaluation.metrics.metric import Measured, Undefined
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import Scores, scores_of
from grounding.evaluation.sets import shipped_gate, shipped_set
from tests.grounding.evaluation.graded import result, wrong

CASES = shipped_set("banking").cases


def refuse_everything() -> list[CaseResult]:
    return [
        result(case.case_id, case.expected, "refused", reason="OFF_TOPIC", problems=wrong("outcome") if case.expected.answered else ())
        for case in CASES
    ]


def answer_everything() -> list[CaseResult]:
    return [
        result(
            case.case_id,
            case.expected,
            "answered",
            citations=("somewhere",),
            problems=wrong("documents") if case.expected.answered else wrong("outcome", invented=True),
        )
        for case in CASES
    ]


def fail_every_time() -> list[CaseResult]:
    return [result(case.case_id, case.expected, "error", problems=wrong("error")) for case in CASES]


def number(scores: Scores, name: str) -> float:
    found = scores[name]
    assert isinstance(found, Measured), found
    return found.value


def test_refusing_everything_has_full_recall_and_loses_everywhere_else() -> None:
    scores = scores_of(refuse_everything())
    assert number(scores, "refusal_recall") == 1.0
    assert number(scores, "over_refusal") == 1.0
    assert number(scores, "refusal_precision") < 0.5
    assert number(scores, "exact_rate") < 0.5
    assert number(scores, "citation_recall") == 0.0
    assert isinstance(scores["hallucination_rate"], Undefined)


def test_answering_everything_invents_and_never_refuses() -> None:
    scores = scores_of(answer_everything())
    assert number(scores, "refusal_recall") == 0.0
    assert number(scores, "hallucination_rate") > 0.3
    assert number(scores, "exact_rate") == 0.0
    assert scores["refusal_precision"] == Undefined("nothing was refused")


@pytest.mark.parametrize("system", [refuse_everything, answer_everything, fail_every_time])
def test_no_trivial_system_passes_the_gate_of_the_sample(system: Callable[[], Sequence[CaseResult]]) -> None:
    results = system()
    verdict = judge(shipped_gate("banking"), scores_of(results), results)
    assert not verdict.passed
    assert verdict.failing


def test_a_bound_on_hallucination_alone_is_not_kept_by_refusing_everything() -> None:
    results = refuse_everything()
    verdict = judge(ScoreGate(thresholds={"hallucination_rate": 0.5}), scores_of(results), results)
    assert not verdict.passed
    assert verdict.rulings[0].message == "hallucination_rate is undefined: nothing was answered"
