from pathlib import Path

import pytest

from grounding.evaluation.diffing import Side, diff
from grounding.evaluation.gate import ScoreGate, judge
from grounding.evaluation.gate_files import gate_as_json, gate_of, read_gate
from grounding.evaluation.metrics.metric import Undefined
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import scores_of
from grounding.evaluation.sets import shipped_gate, shipped_set
from runtime.errors import InvalidRequest
from tests.grounding.evaluation.graded import REFUSAL, result, wrong

GOOD = (result("1"), result("2"), result("3"), result("4", REFUSAL, "refused"))
WORSE = (result("1"), result("2", problems=wrong("fact")), result("3"), result("4", REFUSAL, problems=wrong("outcome", invented=True)))


def side(report_id: str, results: tuple[CaseResult, ...], digest: str = "d") -> Side:
    return Side.of(report_id, digest, scores_of(results), results)


def test_a_gate_passes_at_its_bounds_and_fails_beyond_them() -> None:
    scores = scores_of(WORSE)
    assert judge(ScoreGate(thresholds={"exact_rate": 0.5, "hallucination_rate": 0.25}), scores, WORSE).passed
    verdict = judge(ScoreGate(thresholds={"exact_rate": 0.51, "hallucination_rate": 0.24}), scores, WORSE)
    assert [ruling.passed for ruling in verdict.rulings] == [False, False]
    assert verdict.rulings[0].message == "exact_rate is 0.5, allowed is exact_rate >= 0.51"
    assert verdict.rulings[1].demand == "hallucination_rate <= 0.24"


def test_failing_cases_are_named_with_what_is_wrong() -> None:
    verdict = judge(ScoreGate(known=("2", "3")), scores_of(WORSE), WORSE)
    assert [(case.case_id, case.problems, case.known) for case in verdict.failing] == [
        ("2", ("fact is wrong",), True),
        ("4", ("outcome is wrong",), False),
    ]
    assert verdict.fixed == ("3",)
    assert verdict.passed


def test_an_undefined_score_keeps_no_bound() -> None:
    refusals = (result("4", REFUSAL, "refused"),)
    verdict = judge(ScoreGate(thresholds={"over_refusal": 1.0}), scores_of(refusals), refusals)
    assert not verdict.passed
    assert verdict.rulings[0].found is None


def test_a_regression_beyond_what_is_allowed_fails_and_an_improvement_never_does() -> None:
    gate = ScoreGate(regression={"exact_rate": 0.4, "hallucination_rate": 0.1}, regressed_cases=1)
    worse = judge(gate, scores_of(WORSE), WORSE, diff(side("a", GOOD), side("b", WORSE)))
    assert [ruling.passed for ruling in worse.rulings] == [False, False, False]
    assert worse.rulings[2].message == "these held before: 2, 4"
    assert [case.case_id for case in worse.failing if case.regressed] == ["2", "4"]
    assert judge(gate, scores_of(GOOD), GOOD, diff(side("a", WORSE), side("b", GOOD))).passed


def test_without_a_baseline_a_regression_is_not_judged_and_says_so() -> None:
    verdict = judge(ScoreGate(regression={"exact_rate": 0.0}), scores_of(WORSE), WORSE)
    assert verdict.passed
    assert verdict.rulings[0].message == "no baseline, so nothing to compare with"


def test_a_score_that_is_lost_since_the_baseline_fails() -> None:
    refused = (result("4", REFUSAL, "refused"),)
    gate = ScoreGate(regression={"hallucination_rate": 1.0})
    assert not judge(gate, scores_of(refused), refused, diff(side("a", GOOD), side("b", refused))).passed
    assert judge(gate, scores_of(GOOD), GOOD, diff(side("a", refused), side("b", GOOD))).passed


def test_cases_that_must_hold_fail_when_they_do_not_or_were_not_asked() -> None:
    verdict = judge(ScoreGate(must_hold=("1", "2", "9")), scores_of(WORSE), WORSE)
    assert not verdict.passed
    assert verdict.rulings[0].message == "these must hold and do not: 2, 9"


def test_a_diff_names_metrics_and_cases_that_changed() -> None:
    found = diff(side("a", GOOD), side("b", (*WORSE[:3], result("5")), "other"))
    changes = {change.metric: change for change in found.changes}
    assert (found.regressed, found.fixed, found.only_before, found.only_after) == (("2",), (), ("4",), ("5",))
    assert not found.same_set
    assert changes["exact_rate"].delta == pytest.approx(-0.25)
    assert changes["exact_rate"].worsening == pytest.approx(0.25)
    assert changes["latency_p50"].worsening == 0.0
    assert isinstance(changes["refusal_recall"].after, Undefined)
    assert changes["refusal_recall"].delta is None


def test_a_gate_reads_from_toml_and_json_and_back(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text('[thresholds]\nexact_rate = 0.9\n[cases]\nmust_hold = ["a"]\nregressed = 0\n', "utf-8")
    (tmp_path / "gate.json").write_text('{"thresholds": {"exact_rate": 0.9}, "cases": {"must_hold": ["a"], "regressed": 0}}', "utf-8")
    gate = read_gate(tmp_path / "gate.toml")
    assert gate == read_gate(tmp_path / "gate.json") == gate_of(gate_as_json(gate))
    assert gate == ScoreGate({"exact_rate": 0.9}, {}, ("a",), (), 0)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[thresholds]\nexactness = 1", "thresholds.exactness is no metric"),
        ("[thresholds]\nexact_rate = true", "thresholds.exact_rate must be a number"),
        ("[thresholds]\nexact_rate = nan", "thresholds.exact_rate must be a number"),
        ("[regression]\nexact_rate = -1", "regression.exact_rate must be a number"),
        ("[limits]\n", "limits is not known"),
        ("[cases]\nmust_hold = 'a'", "cases.must_hold must be a list"),
        ("[cases]\nregressed = -1", "cases.regressed must be a whole number"),
        ("thresholds = 3", "thresholds must be a table"),
        ("thresholds", "is not TOML"),
    ],
)
def test_a_gate_that_cannot_be_used_says_what_is_wrong(text: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(text, "utf-8")
    with pytest.raises(InvalidRequest, match="gate") as error:
        read_gate(tmp_path / "gate.toml")
    assert named in error.value.reason


def test_a_gate_that_is_not_there_is_a_wrong_argument(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_gate(tmp_path / "nothing.toml")


def test_the_gate_of_the_sample_names_only_cases_of_its_set() -> None:
    gate, case_ids = shipped_gate("banking"), {case.case_id for case in shipped_set("banking").cases}
    assert {*gate.must_hold, *gate.known} <= case_ids
    assert not {*gate.must_hold} & {*gate.known}
