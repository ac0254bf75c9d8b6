"""Folds that never straddle a group, thresholds from training folds, and intervals over groups: the protocol every quality figure here follows."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FOLDS = 5
BOOTSTRAPS = 1_000


def folds(groups: Sequence[str], count: int = FOLDS, seed: int = 0) -> NDArray[np.int_]:
    """The fold of every row; rows of one group share it, and folds are of nearly equal size."""
    sizes = Counter(groups)
    names = sorted(sizes)
    random.Random(seed).shuffle(names)
    load = [0] * count
    assigned: dict[str, int] = {}
    for name in sorted(names, key=lambda name: -sizes[name]):
        lightest = load.index(min(load))
        assigned[name] = lightest
        load[lightest] += sizes[name]
    return np.array([assigned[group] for group in groups])


def balanced_accuracy(truth: Bools, decided: Bools) -> float:
    """Mean of the shares of positives and of negatives decided right; nan without both."""
    if truth.all() or not truth.any():
        return float("nan")
    return float((decided[truth].mean() + 1.0 - decided[~truth].mean()) / 2)


def auc(truth: Bools, scores: Floats) -> float:
    """Area under the ROC curve, ties counted half; nan without both classes."""
    if truth.all() or not truth.any():
        return float("nan")
    order = np.argsort(scores, kind="stable")
    _, inverse, counts = np.unique(scores[order], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2.0)[inverse]
    positives = int(truth.sum())
    return float((ranks[truth[order]].sum() - positives * (positives + 1) / 2) / (positives * (len(truth) - positives)))


def best_threshold(truth: Bools, scores: Floats, *, never: Bools | None = None, ceiling: float = 1.0) -> float:
    """The threshold of best balanced accuracy among those that let through at most ``ceiling`` of the rows in ``never``."""
    best, at = -1.0, float(scores.max())
    for threshold in np.unique(np.quantile(scores, np.linspace(0.005, 0.995, 199))):
        decided = scores >= threshold
        if never is not None and never.any() and decided[never].mean() > ceiling:
            continue
        value = balanced_accuracy(truth, decided)
        if value > best:
            best, at = value, float(threshold)
    return at


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(groups: Sequence[str], measure: Callable[[NDArray[np.int_]], float], seed: int = 0) -> Interval:
    """``measure`` of all rows (given as indices), with a bootstrap over groups."""
    names = np.array(groups)
    members = [np.flatnonzero(names == name) for name in sorted(set(groups))]
    generator = np.random.default_rng(seed)
    drawn = [np.concatenate([members[at] for at in generator.integers(0, len(members), len(members))]) for _ in range(BOOTSTRAPS)]
    values = [value for value in map(measure, drawn) if not np.isnan(value)]
    low, high = np.quantile(values, [0.025, 0.975]) if values else (float("nan"), float("nan"))
    return Interval(measure(np.arange(len(groups))), float(low), float(high))


def calibration_error(truth: Bools, probabilities: Floats, bins: int = 10) -> float:
    """Expected calibration error over bins of equal width."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = [
        abs(truth[place == at].mean() - probabilities[place == at].mean()) * (place == at).mean()
        for at in range(bins)
        if (place == at).any()
    ]
    return float(sum(gaps))
