"""The states of a monitor as a pure function: ``(standing, what was seen, now) -> (standing, transition, digest wanted?)``.

::

    ok ──breach──▶ pending ──enough in a row──▶ firing ──clear──▶ resolved ──next look, or acknowledged──▶ ok
         pending ──clear──▶ ok                       resolved ──breach──▶ pending

One breach is enough where ``consecutive_breaches`` is 1: pending is then passed at once. What could not be seen changes nothing.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

REMEMBERED_WINDOWS = 8
"""Newest windows that are still looked at again when documents arrive late."""

REMEMBERED_FINGERPRINTS = 200
CLOCK_SLACK = timedelta(hours=1)
"""How far the latest window may lie in the future before the clock is taken to have been wrong when it was looked at. Until then the monitor sees
nothing new, so it is short; it is longer than the clocks of workers are apart."""


class State(StrEnum):
    """Where a monitor stands."""

    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


ALLOWED = frozenset(
    {
        (State.OK, State.PENDING),
        (State.OK, State.FIRING),
        (State.PENDING, State.OK),
        (State.PENDING, State.FIRING),
        (State.FIRING, State.RESOLVED),
        (State.RESOLVED, State.OK),
        (State.RESOLVED, State.PENDING),
        (State.RESOLVED, State.FIRING),
    }
)
"""Every transition there is."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What of a monitor the machine needs."""

    consecutive_breaches: int = 1
    cooldown: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen of the window that ends at ``window_end``. ``fingerprint`` names monitor, condition and documents."""

    window_end: datetime
    breached: bool
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A state and how many breaches in a row led there."""

    state: State = State.OK
    breaches: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """A window that was looked at: what was seen, and where the monitor stood before. ``digest_id`` is the digest that was published for it."""

    seen: Sighting
    before: Place
    digest_id: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything the machine remembers. ``looks`` are the newest windows, oldest first; ``since`` is when the state was entered; ``digested_at`` and
    ``fingerprints`` are of the digests that were wanted."""

    place: Place = field(default_factory=Place)
    since: datetime | None = None
    looks: tuple[Look, ...] = ()
    digested_at: datetime | None = None
    fingerprints: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """Where the monitor stands."""
        return self.place.state

    @property
    def latest(self) -> datetime | None:
        """The end of the newest window that was looked at."""
        return self.looks[-1].seen.window_end if self.looks else None

    def look(self, window_end: datetime) -> Look | None:
        """What is remembered of a window."""
        return next((look for look in self.looks if look.seen.window_end == window_end), None)


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of state."""

    before: State
    after: State
    at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """What one sighting did. ``digest_for`` is the end of the window a digest is wanted for, None when none is."""

    standing: Standing
    transition: Transition | None = None
    digest_for: datetime | None = None


def step(standing: Standing, seen: Sighting | None, now: datetime, policy: Policy) -> Step:
    """Where the monitor stands after a sighting; None is no observation and changes nothing.

    A window that was seen before is seen again: the windows since are gone through once more, and neither a breach nor a digest counts twice. One that
    is older than all that are remembered changes nothing, so a clock that steps back does no harm.
    """
    if seen is None:
        return Step(standing)
    standing = rebased(standing, now)
    if standing.latest is None or seen.window_end > standing.latest:
        return _onwards(standing, seen, now, policy)
    return _again(standing, seen, now, policy)


def acknowledged(standing: Standing, now: datetime) -> Step:
    """Resolved becomes ok; everything else stays."""
    return _moved(standing, Place(), now) if standing.state is State.RESOLVED else Step(standing)


def rebased(standing: Standing, now: datetime) -> Standing:
    """The standing without what a clock that was far ahead has written. The cooldown begins again, so that nothing fires twice."""
    if standing.latest is None or standing.latest <= now + CLOCK_SLACK:
        return standing
    digested_at = None if standing.digested_at is None else min(standing.digested_at, now)
    return replace(standing, looks=(), digested_at=digested_at)


def advanced(place: Place, policy: Policy, *, breached: bool) -> Place:
    """One arrow of the diagram."""
    if place.state is State.FIRING:
        return place if breached else Place(State.RESOLVED)
    if not breached:
        return Place()
    breaches = place.breaches + 1 if place.state is State.PENDING else 1
    return Place(State.FIRING if breaches >= policy.consecutive_breaches else State.PENDING, breaches)


def _onwards(standing: Standing, seen: Sighting, now: datetime, policy: Policy) -> Step:
    looks = (*standing.looks, Look(seen, standing.place))[-REMEMBERED_WINDOWS:]
    moved = _moved(replace(standing, looks=looks), advanced(standing.place, policy, breached=seen.breached), now)
    return _announced(moved, seen, now, policy) if moved.standing.state is State.FIRING else moved


def _again(standing: Standing, seen: Sighting, now: datetime, policy: Policy) -> Step:
    known = standing.look(seen.window_end)
    if known is None or known.seen == seen:
        return Step(standing)
    looks = tuple(replace(look, seen=seen) if look is known else look for look in standing.looks)
    if known.digest_id is not None and seen.breached:
        standing = _told(standing, seen)
    if known.seen.breached == seen.breached:
        return Step(replace(standing, looks=looks))
    position = looks.index(replace(known, seen=seen))
    places = _places(looks, position, policy)
    earlier = _places(standing.looks, position, policy)
    relooked = (*looks[: position + 1], *(replace(look, before=place) for look, place in zip(looks[position + 1 :], places, strict=False)))
    moved = _moved(replace(standing, looks=relooked), _settled(standing.place, places[-1]), now)
    for look, place, was in zip(relooked[position:], places, earlier, strict=True):
        if place.state is State.FIRING and was.state is not State.FIRING and look.digest_id is None:
            return _announced(moved, look.seen, now, policy)
    return moved


def _places(looks: tuple[Look, ...], position: int, policy: Policy) -> list[Place]:
    """Where the monitor stands after each look from ``position`` on."""
    place, places = looks[position].before, []
    for look in looks[position:]:
        place = advanced(place, policy, breached=look.seen.breached)
        places.append(place)
    return places


def _settled(current: Place, found: Place) -> Place:
    """What was announced as firing ends as resolved, never in silence; what fired and ended before anybody saw it is not brought up as resolved."""
    if current.state is State.FIRING and found.state is not State.FIRING:
        return Place(State.RESOLVED)
    return Place() if found.state is State.RESOLVED and current.state is not State.RESOLVED else found


def _moved(standing: Standing, place: Place, now: datetime) -> Step:
    if place.state is standing.state:
        return Step(replace(standing, place=place))
    return Step(replace(standing, place=place, since=now), Transition(standing.state, place.state, now))


def _announced(moved: Step, seen: Sighting, now: datetime, policy: Policy) -> Step:
    """With a digest, unless the last one is too recent or said the same."""
    standing = moved.standing
    cooling = standing.digested_at is not None and now - standing.digested_at < policy.cooldown
    if cooling or seen.fingerprint in standing.fingerprints:
        return moved
    return replace(moved, standing=replace(_told(standing, seen), digested_at=now), digest_for=seen.window_end)


def _told(standing: Standing, seen: Sighting) -> Standing:
    """No other digest will tell of these documents."""
    known = tuple(fingerprint for fingerprint in standing.fingerprints if fingerprint != seen.fingerprint)
    return replace(standing, fingerprints=(*known, seen.fingerprint)[-REMEMBERED_FINGERPRINTS:])
