"""How often a piece of work is tried, how long it waits in between, and when it is given up. Pure."""

import random
import traceback
from dataclasses import dataclass

from runtime.errors import ServiceError, Unavailable
from runtime.settings import Settings

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
MOST_OUTAGES = 8
"""Times a piece waits for a dependency to come back before it becomes a dead letter: minutes, not seconds, as an outage is nobody's fault."""
MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt this is: ``number`` counts from 1, crashes included; ``outages`` is how often a dependency was down before."""

    number: int = 1
    outages: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """Try again after a wait; ``outage`` says that a dependency was down and the piece is not to blame."""

    wait_s: float
    outage: bool


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The piece becomes a dead letter. ``error`` holds no text of a document or question."""

    error: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Patience:
    """``most`` attempts, waits up to ``longest_wait_s``."""

    most: int
    longest_wait_s: float

    def after(self, error: Exception, attempt: Attempt, randomness: random.Random) -> Again | GivenUp:
        """What follows from this failure of this attempt. Repeating helps against outages and accidents, not against an error that was raised on
        purpose."""
        if isinstance(error, Unavailable):
            spent, most = attempt.outages + 1, MOST_OUTAGES
        elif isinstance(error, ServiceError):
            spent, most = attempt.number, 0
        else:
            spent, most = attempt.number, self.most
        if spent >= most:
            return GivenUp(told(error), attempt.number + attempt.outages)
        return Again(self._wait_s(error, spent, randomness), isinstance(error, Unavailable))

    def _wait_s(self, error: Exception, spent: int, randomness: random.Random) -> float:
        """Full jitter, at least what the dependency asked for."""
        jittered_s = randomness.uniform(0.0, FIRST_WAIT_S * 2.0**spent)
        asked_s = (error.retry_after_s or 0.0) if isinstance(error, Unavailable) else 0.0
        return min(max(jittered_s, asked_s), self.longest_wait_s)


def patience(settings: Settings) -> Patience:
    """Waiting longer than a tick is pointless, as the tick finds what is due."""
    return Patience(settings.worker_max_deliveries, longest_wait_s(settings))


def longest_wait_s(settings: Settings) -> float:
    """The longest countdown a piece of work may have."""
    return min(LONGEST_WAIT_S, settings.monitor_interval_s)


def told(error: Exception) -> str:
    """What a dead letter says: our own errors speak for themselves; of an accident only its kind and place, as its message may quote a document."""
    if isinstance(error, ServiceError):
        return f"{type(error).__name__}: {error}"[:MOST_CHARS]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
