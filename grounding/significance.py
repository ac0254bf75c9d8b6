"""How far a share or a change over time can be trusted."""

from collections.abc import Sequence
from math import sqrt

Z95 = 1.959963984540054


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score; (0, 1) when there is nothing to share."""
    if whole == 0:
        return 0.0, 1.0
    share, spread = part / whole, Z95 * Z95 / whole
    centre = (share + spread / 2) / (1 + spread)
    half = Z95 * sqrt(share * (1 - share) / whole + spread / (4 * whole)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def slope(counts: Sequence[int], exposure: Sequence[float]) -> float:
    """How many standard deviations the counts rise (positive) or fall, against events that come evenly over the exposure (days of each interval).

    Given their sum, even counts are multinomial, so the mean position of an event has a known mean and variance. 0 without events or exposure.
    """
    total, length = sum(counts), sum(exposure)
    if total == 0 or length <= 0:
        return 0.0
    chances = [part / length for part in exposure]
    mean = sum(position * chance for position, chance in enumerate(chances))
    variance = sum(position * position * chance for position, chance in enumerate(chances)) - mean * mean
    if variance <= 0:
        return 0.0
    observed = sum(position * count for position, count in enumerate(counts)) / total
    return (observed - mean) / sqrt(variance / total)


def difference(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """How many standard deviations the first share lies above (positive) or below the other, were both samples of one. 0 without either."""
    if whole == 0 or other_whole == 0:
        return 0.0
    pooled = (part + other_part) / (whole + other_whole)
    spread = pooled * (1 - pooled) * (1 / whole + 1 / other_whole)
    return (part / whole - other_part / other_whole) / sqrt(spread) if spread > 0 else 0.0
