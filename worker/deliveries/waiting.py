"""How long to wait before a delivery is attempted again, and when to stop."""

import random
from datetime import timedelta

FIRST_WAIT_S = 60.0
LONGEST_WAIT_S = 6 * 3600.0
GROWTH = 4.0
"""Each wait is about four times the one before, so that six attempts span an outage of an afternoon and not only a restart."""

GIVEN_UP_AFTER = timedelta(days=3)
"""A delivery that is not tried because its receiver's circuit is open costs no attempt; this bounds how long that may go on."""


def wait_s(attempts: int, randomness: random.Random, asked_s: float | None = None) -> float:
    """Seconds until the next attempt after ``attempts`` that failed: grown, jittered downwards by up to a half, and never sooner than the
    receiver asked (``Retry-After``), up to the longest wait."""
    grown_s = min(FIRST_WAIT_S * GROWTH ** (attempts - 1), LONGEST_WAIT_S)
    return max(grown_s * randomness.uniform(0.5, 1.0), min(asked_s or 0.0, LONGEST_WAIT_S))
