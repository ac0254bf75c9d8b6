"""Cost must grow as the docs claim: ``python -m benchmarks.complexity --check`` fails when a kernel's fitted exponent exceeds its limit.

Each kernel runs at four sizes; the exponent is the slope of log(time) over log(size) by least squares, on the best of several runs, which resists a noisy
machine. A kernel faster than 0.05 ms at its largest size is reported as NOISE: its exponent would measure the clock.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NOISE_MS = 0.05


@dataclass(frozen=True, slots=True)
class Kernel:
    """``prepare(size)`` returns the call to be timed."""

    name: str
    claim: str
    limit: float
    sizes: tuple[int, ...]
    prepare: Callable[[int], Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Fit:
    """What was measured: milliseconds at each size, the exponent, and PASS, FAIL or NOISE."""

    kernel: Kernel
    ms: tuple[float, ...]
    exponent: float
    verdict: str


def fit(kernel: Kernel, repeats: int = 5) -> Fit:
    """Time a kernel at its sizes and fit the exponent."""
    ms = tuple(_best_ms(kernel.prepare(size), repeats) for size in kernel.sizes)
    exponent = slope([math.log(size) for size in kernel.sizes], [math.log(value) for value in ms])
    if ms[-1] < NOISE_MS:
        return Fit(kernel, ms, exponent, "NOISE")
    return Fit(kernel, ms, exponent, "PASS" if exponent <= kernel.limit else "FAIL")


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Least-squares slope."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)


def _best_ms(call: Callable[[], object], repeats: int) -> float:
    best = math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return max(best * 1000, 1e-6)


def words(count: int) -> str:
    """Text of that many words, some of which end sentences, the same for every run."""
    rng = random.Random(count)
    return " ".join(rng.choice(("card", "payment", "refund", "late", "not", "arrived", "twice", "fees.")) for _ in range(count))


def main() -> None:
    """Print the table; with ``--check`` exit 1 on a FAIL."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    from benchmarks.kernels import KERNELS

    fits = [fit(kernel) for kernel in KERNELS]
    for result in fits:
        sizes = "  ".join(f"{value:9.3f}" for value in result.ms)
        print(
            f"{result.kernel.name:<22} {result.kernel.claim:<18} {sizes}   {result.exponent:5.2f} <= {result.kernel.limit:.2f}  {result.verdict}"
        )
    if arguments.check and any(result.verdict == "FAIL" for result in fits):
        sys.exit(1)


if __name__ == "__main__":
    main()
