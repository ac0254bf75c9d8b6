"""An open store: everything of it that is built upon."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from runtime.resilience import Guard
from search.ports import Embedder, Engine, Months, StateStore


@dataclass(frozen=True, slots=True)
class Store:
    """An engine, the embedder of its vectors, and the state store that lives beside its documents; what its calls go through where it is elsewhere.

    What is done inside ``held()`` is done with one embedder and its engine, also when others take their place meanwhile.
    """

    engine: Engine
    state: StateStore
    months: Months
    embedder: Embedder
    held: Callable[[], AbstractContextManager[None]] = nullcontext
    guards: tuple[Guard, ...] = ()
