"""The best k of many scored rows, ties settled by name, so that a ranking is the same on every machine."""

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Ranked = list[tuple[int, float]]
"""Rows with their scores, best first."""


def best(rows: NDArray[np.int64], scores: NDArray[np.float32], count: int, name: Callable[[int], str]) -> Ranked:
    """The ``count`` rows of highest score, by score descending then name ascending."""
    if len(rows) > count:
        threshold = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = scores > threshold
        tied = rows[scores == threshold]
        chosen = [(int(row), float(score)) for row, score in zip(rows[above], scores[above], strict=True)]
        places = count - len(chosen)
        chosen += [(row, float(threshold)) for row in heapq.nsmallest(places, tied.tolist(), key=name)]
    else:
        chosen = list(zip(rows.tolist(), scores.tolist(), strict=True))
    return sorted(chosen, key=lambda hit: (-hit[1], name(hit[0])))
