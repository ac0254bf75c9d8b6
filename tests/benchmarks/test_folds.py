from collections import defaultdict

import numpy as np
import pytest

from benchmarks.folds import auc, balanced_accuracy, best_threshold, calibration_error, folds, interval

GROUPS = [f"g{number % 37}" for number in range(400)]


def test_a_group_never_straddles_folds() -> None:
    found: dict[str, set[int]] = defaultdict(set)
    for group, fold in zip(GROUPS, folds(GROUPS), strict=True):
        found[group].add(int(fold))
    assert all(len(parts) == 1 for parts in found.values())
    assert max(np.bincount(folds(GROUPS))) - min(np.bincount(folds(GROUPS))) <= 11


def test_area_and_accuracy_of_known_scores() -> None:
    truth = np.array([True, True, False, False])
    assert auc(truth, np.array([0.9, 0.4, 0.6, 0.1])) == pytest.approx(0.75)
    assert auc(truth, np.array([0.5, 0.5, 0.5, 0.5])) == pytest.approx(0.5)
    assert balanced_accuracy(truth, np.array([True, False, False, False])) == pytest.approx(0.75)
    assert np.isnan(auc(np.array([True, True]), np.array([0.1, 0.2])))


def test_a_threshold_obeys_its_ceiling() -> None:
    generator = np.random.default_rng(0)
    truth = generator.random(1_000) < 0.5
    scores = truth * 0.5 + generator.random(1_000)
    never = ~truth & (generator.random(1_000) < 0.5)
    assert (scores >= best_threshold(truth, scores, never=never, ceiling=0.1))[never].mean() <= 0.1


def test_an_interval_holds_its_figure() -> None:
    truth = np.array([number % 2 == 0 for number in range(400)])
    found = interval(GROUPS, lambda at: float(truth[at].mean()))
    assert found.low <= found.value <= found.high


def test_perfect_probabilities_have_no_calibration_error() -> None:
    truth = np.array([True, False])
    assert calibration_error(truth, np.array([1.0, 0.0])) == 0.0
