"""What is known of a monitor between two evaluations, kept beside it: the machine's standing, the latest numbers, and a digest that is still to be
published."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worker.monitors.machine import Look, Place, Sighting, Standing, State
from worker.monitors.observing import Observation, observation_as_json, observation_from_json


@dataclass(frozen=True, slots=True)
class Wanted:
    """A digest that was decided and not published yet. Whoever comes next publishes it."""

    digest_id: str
    window_end: datetime
    decided_at: datetime
    observation: Observation


@dataclass(frozen=True, slots=True)
class Numbers:
    """The latest observation in short."""

    observed: float
    threshold: float
    unit: str
    n: int
    denominator: int
    baseline: float | None = None
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """Everything about one monitor that evaluations change. ``version`` is that of the stored entry, 0 when there is none.

    ``generation`` is the engine's when the remembered windows were last known to be right; ``checked_at`` is when that was. ``problem`` says why nothing
    was seen at ``problem_at``; ``digest_id`` is the digest of the present or latest firing.
    """

    revision: str
    standing: Standing = field(default_factory=Standing)
    version: int = 0
    generation: int | None = None
    checked_at: datetime | None = None
    numbers: Numbers | None = None
    digest_id: str | None = None
    wanted: Wanted | None = None
    problem: str = ""
    problem_at: datetime | None = None


def numbers_of(seen: Observation) -> Numbers:
    """What of an observation is kept for showing."""
    return Numbers(seen.observed, seen.threshold, seen.unit, seen.n, seen.denominator, seen.baseline, seen.caveat)


def held_as_json(held: Held) -> dict[str, Any]:
    """For the state store."""
    return {
        "revision": held.revision,
        "standing": _standing_as_json(held.standing),
        "generation": held.generation,
        "checked_at": _told(held.checked_at),
        "numbers": None if held.numbers is None else {name: getattr(held.numbers, name) for name in Numbers.__slots__},
        "digest_id": held.digest_id,
        "wanted": None if held.wanted is None else _wanted_as_json(held.wanted),
        "problem": held.problem,
        "problem_at": _told(held.problem_at),
    }


def held_from_json(version: int, body: Mapping[str, Any]) -> Held:
    """The inverse of :func:`held_as_json`."""
    return Held(
        revision=body["revision"],
        standing=_standing(body["standing"]),
        version=version,
        generation=body["generation"],
        checked_at=_moment(body["checked_at"]),
        numbers=None if body["numbers"] is None else Numbers(**body["numbers"]),
        digest_id=body["digest_id"],
        wanted=None if body["wanted"] is None else _wanted(body["wanted"]),
        problem=body["problem"],
        problem_at=_moment(body["problem_at"]),
    )


def _standing_as_json(standing: Standing) -> dict[str, Any]:
    return {
        "state": standing.state.value,
        "breaches": standing.place.breaches,
        "since": _told(standing.since),
        "looks": [_look_as_json(look) for look in standing.looks],
        "digested_at": _told(standing.digested_at),
        "fingerprints": list(standing.fingerprints),
    }


def _standing(body: Mapping[str, Any]) -> Standing:
    return Standing(
        place=Place(State(body["state"]), body["breaches"]),
        since=_moment(body["since"]),
        looks=tuple(_look(look) for look in body["looks"]),
        digested_at=_moment(body["digested_at"]),
        fingerprints=tuple(body["fingerprints"]),
    )


def _look_as_json(look: Look) -> dict[str, Any]:
    return {
        "end": look.seen.window_end.isoformat(),
        "breached": look.seen.breached,
        "fingerprint": look.seen.fingerprint,
        "before": [look.before.state.value, look.before.breaches],
        "digest_id": look.digest_id,
    }


def _look(body: Mapping[str, Any]) -> Look:
    state, breaches = body["before"]
    seen = Sighting(datetime.fromisoformat(body["end"]), body["breached"], body["fingerprint"])
    return Look(seen, Place(State(state), breaches), body["digest_id"])


def _wanted_as_json(wanted: Wanted) -> dict[str, Any]:
    return {
        "digest_id": wanted.digest_id,
        "window_end": wanted.window_end.isoformat(),
        "decided_at": wanted.decided_at.isoformat(),
        "observation": observation_as_json(wanted.observation),
    }


def _wanted(body: Mapping[str, Any]) -> Wanted:
    return Wanted(
        body["digest_id"],
        datetime.fromisoformat(body["window_end"]),
        datetime.fromisoformat(body["decided_at"]),
        observation_from_json(body["observation"]),
    )


def _told(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
