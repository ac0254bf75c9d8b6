"""Which engine a URL means, and opening it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from runtime.clock import Clock
from runtime.errors import Misconfigured
from runtime.resilience import Guard
from runtime.settings import Settings
from runtime.telemetry import Metrics
from search.engines.told import ToldEngine
from search.ports import Embedder, Engine, Months, StateStore


@dataclass(frozen=True, slots=True)
class Store:
    """An open engine and the state store that lives beside its documents; what its calls go through where it is elsewhere."""

    engine: Engine
    state: StateStore
    months: Months
    guards: tuple[Guard, ...] = ()


@contextmanager
def open_engine(settings: Settings, embedder: Embedder, clock: Clock, metrics: Metrics | None = None) -> Iterator[Store]:
    """The engine of ``settings.engine_url``, closed at the end. Its changes are told in the outbox of its state store.

    ``metrics`` counts what the engine refused to hand out.

    Raises:
        Misconfigured: the URL names no engine, or the store there was made with another model, or is not ours.
        Unavailable: nothing answers there.
    """
    scheme = urlsplit(settings.engine_url).scheme
    if scheme == "sqlite":
        from search.engines.embedded import open_embedded

        path = sqlite_path(settings.engine_url)
        with open_embedded(path, model=embedder.model, dimension=embedder.dimension, clock=clock) as embedded:
            yield Store(ToldEngine(embedded, embedded.state, clock), embedded.state, embedded.months)
    elif scheme in ("http", "https"):
        from search.engines.opensearch import open_opensearch

        with open_opensearch(settings, model=embedder.model, dimension=embedder.dimension, clock=clock, metrics=metrics) as cluster:
            yield Store(ToldEngine(cluster, cluster.state, clock), cluster.state, cluster.months, cluster.guards)
    else:
        raise Misconfigured(f"WA_ENGINE_URL must begin with sqlite:/// or http(s)://, not {scheme or 'nothing'}://")


def sqlite_path(url: str) -> Path:
    """The file of ``sqlite:///relative/path`` or ``sqlite:////absolute/path``.

    Raises:
        Misconfigured: no file is named.
    """
    path = unquote(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path:
        raise Misconfigured("WA_ENGINE_URL must be sqlite:///FILE (three slashes for a relative path, four for an absolute one)")
    return Path(path).expanduser()
