"""Stores whose process ends at a chosen call, before or after the call is carried out."""

from collections.abc import Callable
from typing import Any

CHANGING = ("put", "remove", "write")


class Ended(BaseException):
    """Stands for the end of the process: nothing of ours catches it."""


class Life:
    """Counts the calls that change something; at the chosen one the process ends."""

    def __init__(self, calls: int, *, after: bool, end: Callable[[], None]) -> None:
        self._left = calls
        self._after = after
        self._end = end

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Carry the call out, unless life is over."""
        self._left -= 1
        if self._left == 0 and not self._after:
            self._end()
        result = function(*arguments, **named)
        if self._left == 0 and self._after:
            self._end()
        return result


class Mortal:
    """A real store that lives as long as ``life``."""

    def __init__(self, store: Any, life: Life) -> None:
        self._store = store
        self._life = life

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return (lambda *arguments, **named: self._life.call(found, *arguments, **named)) if name in CHANGING else found
