import re
from importlib import import_module
from itertools import pairwise
from math import isfinite, log2
from pkgutil import iter_modules

import pytest

from grounding.evaluation import metrics as package
from grounding.evaluation.cases import Expected
from grounding.evaluation.metrics import BY_NAME, METRICS
from grounding.evaluation.metrics.metric import Measured, Metric, Score, Undefined
from grounding.evaluation.metrics.refusals import Cells, cells
from grounding.evaluation.results import CaseResult
from grounding.evaluation.scoring import scores_of, slices_of
from tests.grounding.evaluation.graded import ANSWER, REFUSAL, result, wrong

DOCS = Expected(answered=True, documents=("a", "b", "c", "d"))


def score(name: str, *results: CaseResult) -> Score:
    return BY_NAME[name].score(results)


def value(name: str, *results: CaseResult) -> float:
    found = score(name, *results)
    assert isinstance(found, Measured), found
    return found.value


def why(name: str, *results: CaseResult) -> str:
    found = score(name, *results)
    assert isinstance(found, Undefined), found
    return found.why


def test_exact_rate_is_the_share_of_cases_without_a_problem_errors_among_them() -> None:
    errored = result("3", ended="error", problems=wrong("error"))
    assert value("exact_rate", result("1"), result("2", problems=wrong()), errored, result("4")) == 0.5
    assert value("error_rate", result("1"), errored) == 0.5


def test_hallucination_counts_answers_only() -> None:
    refused = result("3", REFUSAL, "refused")
    assert value("hallucination_rate", result("1", problems=wrong("count", invented=True)), result("2"), refused) == 0.5
    assert value("hallucination_rate", result("1", problems=wrong("fact"))) == 0.0
    assert why("hallucination_rate", refused) == "nothing was answered"


FOUR = (
    result("a1", REFUSAL, "refused"),
    result("a2", REFUSAL, "refused"),
    result("b", REFUSAL, "answered", problems=wrong("outcome", invented=True)),
    result("c", ANSWER, "refused", problems=wrong("outcome")),
    result("d1"),
    result("d2"),
    result("d3"),
    result("e", ANSWER, "error", problems=wrong("error")),
)


def test_the_four_cells_leave_errors_out() -> None:
    assert cells(FOUR) == Cells(2, 1, 1, 3)


def test_refusal_precision_recall_and_over_refusal_are_those_of_the_cells() -> None:
    assert value("refusal_precision", *FOUR) == pytest.approx(2 / 3)
    assert value("refusal_recall", *FOUR) == pytest.approx(2 / 3)
    assert value("over_refusal", *FOUR) == pytest.approx(1 / 4)


def test_refusals_without_a_ground_say_why_there_is_no_number() -> None:
    assert why("refusal_precision", result("1")) == "nothing was refused"
    assert why("refusal_recall", result("1")) == "no case expects a refusal"
    assert why("over_refusal", result("1", REFUSAL, "refused")) == "no case expects an answer"


def test_reason_accuracy_is_over_expected_refusals_that_name_a_reason() -> None:
    off_topic = Expected(answered=False, reasons=frozenset({"OFF_TOPIC"}))  # type: ignore[arg-type]
    found = (
        result("1", off_topic, "refused", reason="OFF_TOPIC"),
        result("2", off_topic, "refused", reason="NOT_ANSWERED", problems=wrong("reason")),
        result("3", off_topic, "answered", problems=wrong("outcome")),
        result("4", REFUSAL, "refused", reason="OFF_TOPIC"),
    )
    assert value("reason_accuracy", *found) == 0.5
    assert "no refusal" in why("reason_accuracy", found[2], found[3])


def test_citation_precision_counts_every_citation_once_over_all_cases() -> None:
    good = result("1", DOCS, citations=("a", "b", "x"))
    poor = result("2", DOCS, citations=("y",))
    assert value("citation_precision", good, poor) == 0.5
    assert "cites anything" in why("citation_precision", result("3", DOCS, "refused"), result("4", citations=("a",)))


def test_citation_recall_is_a_mean_capped_at_ten_and_a_refusal_has_none() -> None:
    many = Expected(answered=True, documents=tuple(f"d{number}" for number in range(40)))
    full = result("1", many, citations=tuple(f"d{number}" for number in range(12)))
    half = result("2", DOCS, citations=("a", "b", "a"))
    refused = result("3", DOCS, "refused", problems=wrong("outcome"))
    assert value("citation_recall", full, half, refused) == pytest.approx((1 + 0.5 + 0) / 3)
    assert why("citation_recall", result("4")).startswith("no case names")


def test_groundedness_is_over_runs_that_drafted_and_support_over_claims() -> None:
    found = (result("1", groundedness=1.0, supports=(1.0, 0.5)), result("2", groundedness=0.5, supports=(0.9,)), result("3"))
    assert value("groundedness", *found) == 0.75
    assert value("claim_support", *found) == pytest.approx(0.8)
    assert why("groundedness", result("4")) == "nothing was drafted"
    assert why("claim_support", result("4")) == "no claim left"


def test_a_count_is_exact_or_it_is_not() -> None:
    counted, monthly = Expected(answered=True, count=3), Expected(answered=True, series={"2026-06": 1})
    found = (
        result("1", counted, count=3),
        result("2", counted, count=4, problems=wrong("count")),
        result("3", monthly, problems=wrong("series")),
        result("4", counted, "refused", problems=wrong("outcome")),
        result("5", counted, count=3, problems=wrong("fact")),
        result("6"),
    )
    assert value("count_exactness", *found) == pytest.approx(2 / 5)
    assert why("count_exactness", found[5]) == "no case expects a number"


def test_ndcg_recall_and_reciprocal_rank_of_a_ranking_by_hand() -> None:
    found = result("1", DOCS, ranking=("x", "a", "y", "b"))
    ideal = 1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)
    assert value("ndcg_at_10", found) == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)
    assert value("recall_at_10", found) == 0.5
    assert value("mrr_at_10", found) == 0.5


@pytest.mark.parametrize("name", ["ndcg_at_10", "recall_at_10", "mrr_at_10"])
def test_rankings_perfect_empty_and_beyond_ten(name: str) -> None:
    assert value(name, result("1", DOCS, ranking=("d", "c", "b", "a"))) == 1.0
    assert value(name, result("1", DOCS, ranking=())) == 0.0
    assert value(name, result("1", DOCS, ranking=(*"0123456789", "a"))) == 0.0
    counted = Expected(answered=True, documents=("a",), count=1)
    assert why(name, result("1", counted, ranking=("a",)), result("2", DOCS, "error")).startswith("no case names")


def test_latency_is_by_nearest_rank_and_leaves_errors_out() -> None:
    found = [result(str(number), seconds=float(number)) for number in range(1, 101)]
    found.append(result("slow", ended="error", seconds=1000.0))
    assert [value(f"latency_p{percent}", *found) for percent in (50, 95, 99)] == [50.0, 95.0, 99.0]
    assert value("latency_p99", result("1", seconds=2.5)) == 2.5
    assert why("latency_p50", found[-1]) == "no run came to an end"


def test_tokens_and_cost_are_means_of_runs() -> None:
    found = (result("1", tokens=10, cost=0.5), result("2", tokens=30), result("3", ended="error", tokens=99))
    assert value("tokens", *found) == 20.0
    assert value("cost", *found) == 0.25


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_no_case_at_all_is_undefined_for_every_metric(metric: Metric) -> None:
    found = metric.score(())
    assert isinstance(found, Undefined)
    assert found.why


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_names_the_source_of_its_formula(metric: Metric) -> None:
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    home = next(module for module in modules if metric in _values(module))
    assert re.search(r"\b(?:19|20)\d\d\b|no source", home.__doc__ or ""), home.__doc__


def _values(module: object) -> list[object]:
    values = list(vars(module).values())
    return values + [item for each in values if isinstance(each, tuple) for item in each]


def test_intervals_hold_the_value_and_shrink_with_more_cases() -> None:
    few = [result(str(number), problems=wrong() if number % 4 == 0 else ()) for number in range(20)]
    many = [result(str(number), problems=wrong() if number % 4 == 0 else ()) for number in range(320)]
    short, long = score("exact_rate", *many), score("exact_rate", *few)
    assert isinstance(short, Measured)
    assert isinstance(long, Measured)
    for found in (short, long):
        assert found.low <= found.value <= found.high
    assert short.high - short.low < long.high - long.low
    assert score("exact_rate", *few) == long


def test_the_interval_of_a_known_share_is_close_to_the_binomial_one() -> None:
    found = score("exact_rate", *[result(str(number), problems=wrong() if number < 50 else ()) for number in range(100)])
    assert isinstance(found, Measured)
    assert found.low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)


def test_every_number_is_finite_whatever_the_cases() -> None:
    odd = (result("1", DOCS, "refused"), result("2", REFUSAL, "error"), result("3", REFUSAL, "answered", citations=("z",)))
    for subset in ((), odd[:1], odd[1:2], odd):
        for found in scores_of(subset).values():
            if isinstance(found, Measured):
                assert all(isfinite(number) for number in (found.value, found.low, found.high))


def test_slices_are_by_kind_language_and_difficulty_and_only_where_they_differ() -> None:
    found = slices_of((result("1", kind="count"), result("2", kind="fact"), result("3", kind="fact", difficulty="hard")))
    assert [(each.by, each.value, each.cases) for each in found] == [
        ("kind", "count", 1),
        ("kind", "fact", 2),
        ("difficulty", "hard", 1),
        ("difficulty", "medium", 2),
    ]


def test_quantiles_do_not_fall_as_they_rise() -> None:
    found = [result(str(number), seconds=number**1.5) for number in range(7)]
    values = [value(f"latency_p{percent}", *found) for percent in (50, 95, 99)]
    assert all(low <= high for low, high in pairwise(values))
