"""What one run spent, read off its trace."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from grounding.answers import Trace


def tokens_of(trace: Trace) -> int:
    """Tokens of evidence that were read, and those sent to and received from language models."""
    used = trace.budget.get("used", {})
    return int(used.get("tokens", 0)) + int(sum(_numbers(trace, ("input_tokens", "output_tokens"))))


def cost_of(trace: Trace) -> float:
    """What the calls of language models cost, by the prices in the settings; 0 without one."""
    return float(sum(_numbers(trace, ("cost",))))


def _numbers(trace: Trace, names: tuple[str, ...]) -> Iterator[float]:
    for step in trace.steps:
        yield from _found(step.detail, names)


def _found(detail: Any, names: tuple[str, ...]) -> Iterator[float]:
    """Numbers under these names at any depth of a step's detail."""
    if isinstance(detail, Mapping):
        for name, value in detail.items():
            if name in names and isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
                yield value
            else:
                yield from _found(value, names)
    elif isinstance(detail, list | tuple):
        for item in detail:
            yield from _found(item, names)
