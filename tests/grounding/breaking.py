"""Parts that behave like the real ones until told otherwise."""

from collections.abc import Callable, Sequence
from typing import Any

from grounding.answers import ClaimKind, Draft
from runtime.clock import SettableClock
from runtime.errors import Unavailable
from search.ports import Engine, StateStore


class FailingEngine:
    """A real engine that is gone after so many calls; ``names`` are the calls it saw."""

    def __init__(self, engine: Engine, *, calls: int) -> None:
        self._engine = engine
        self._left = calls
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._engine, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.names.append(name)
            if self._left == 0:
                raise Unavailable("the engine is gone", dependency="engine")
            self._left -= 1
            return method(*args, **kwargs)

        return call


class ActingEngine:
    """A real engine beside which something happens before each call of one method."""

    def __init__(self, engine: Engine, method: str, act: Callable[[], None]) -> None:
        self._engine = engine
        self._method = method
        self._act = act

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self._act()
        return getattr(self._engine, name)


class FullState:
    """A state store whose disk is full."""

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def put(self, *_args: Any, **_kwargs: Any) -> Any:
        """Refuse to store."""
        raise Unavailable("the disk is full", dependency="state")


class StatedDrafter:
    """Drafts what it was told to, whatever the evidence says: a model that obeys anybody."""

    model = "stated"

    def __init__(self, *drafts: tuple[str, Sequence[str]]) -> None:
        self._drafts = tuple(Draft(text, ClaimKind.QUOTE, tuple(cites)) for text, cites in drafts)

    def add(self, *drafts: Draft) -> None:
        """Draft these as well."""
        self._drafts += drafts

    def draft(self, *_: object, **__: object) -> tuple[Draft, ...]:
        """See :class:`grounding.ports.Drafter`."""
        return self._drafts


class SlowDrafter(StatedDrafter):
    """Takes its time."""

    def __init__(self, clock: SettableClock, seconds: float, *drafts: tuple[str, Sequence[str]]) -> None:
        super().__init__(*drafts)
        self._clock = clock
        self._seconds = seconds

    def draft(self, *_: object, **__: object) -> tuple[Draft, ...]:
        """See :class:`grounding.ports.Drafter`."""
        self._clock.elapsed_s += self._seconds
        return super().draft()
