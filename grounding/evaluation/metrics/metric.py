"""What a metric is: a part for every case that bears on it, and how the parts make one number – or the reason why there is none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from grounding.evaluation.results import CaseResult

Floats = NDArray[np.float64]
Unit = Literal["ratio", "seconds", "tokens", "cost"]
Part = tuple[float, float]
"""Numerator and denominator that one case brings."""

RESAMPLES = 1_000
CHUNK = 2_000_000
"""Numbers drawn at once, which bounds memory for large sets."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number over ``n`` cases with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Undefined:
    """No number, and why."""

    why: str


Score = Measured | Undefined


@dataclass(frozen=True, slots=True)
class Metric:
    """A named measure. ``part`` is None for a case that does not bear on it; ``without`` says why there is no number when none does.

    Without ``quantile`` the number is the sum of numerators over the sum of denominators: a mean where every denominator is 1. With one it is that
    quantile of the numerators, by nearest rank.
    """

    name: str
    title: str
    part: Callable[[CaseResult], Part | None]
    without: str
    higher_is_better: bool = True
    unit: Unit = "ratio"
    quantile: float | None = None

    def score(self, results: Sequence[CaseResult], *, seed: int = 0) -> Score:
        """The number over these cases; the interval is the percentile bootstrap over cases (Efron & Tibshirani 1993, ch. 13)."""
        parts = [part for result in results if (part := self.part(result)) is not None]
        pairs = np.array(parts, dtype=np.float64).reshape(-1, 2)
        if not len(pairs) or not pairs[:, 1].sum():
            return Undefined(self.without)
        low, high = self._interval(pairs, seed)
        return Measured(float(self._values(pairs[None])[0]), low, high, len(pairs))

    def _values(self, drawn: NDArray[np.float64]) -> Floats:
        """One number per row of drawn cases; rows whose denominators sum to 0 are left out."""
        if self.quantile is not None:
            place = max(0, ceil(self.quantile * drawn.shape[1]) - 1)
            ranked: Floats = np.sort(drawn[:, :, 0], axis=1)[:, place]
            return ranked
        sums = drawn.sum(axis=1)
        kept = sums[sums[:, 1] > 0]
        ratios: Floats = kept[:, 0] / kept[:, 1]
        return ratios

    def _interval(self, pairs: Floats, seed: int) -> tuple[float, float]:
        generator = np.random.default_rng(seed)
        rows = max(1, CHUNK // len(pairs))
        values = []
        for start in range(0, RESAMPLES, rows):
            places = generator.integers(0, len(pairs), (min(rows, RESAMPLES - start), len(pairs)))
            values.append(self._values(pairs[places]))
        low, high = np.quantile(np.concatenate(values), [0.025, 0.975])
        return float(low), float(high)


def share(condition: bool) -> Part:  # noqa: FBT001 (a case either counts or does not)
    """The part of a case in a share of cases."""
    return (1.0 if condition else 0.0, 1.0)
