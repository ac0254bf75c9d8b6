"""Which engine a URL means, and opening it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from runtime.clock import Clock
from runtime.errors import Misconfigured
from runtime.settings import Settings
from runtime.telemetry import Metrics
from search.embedding.opening import open_embedder
from search.engines.store import Store
from search.engines.told import ToldEngine
from search.ports import Embedder


@contextmanager
def open_store(settings: Settings, clock: Clock, metrics: Metrics | None = None) -> Iterator[Store]:
    """What is served at ``settings.engine_url`` and the embedder that made it, closed at the end. A cluster may serve another generation than the one
    that ``settings.embedder`` made, and another one after a while; a file is of the settings' embedder.

    Raises:
        Misconfigured: as :func:`open_engine` and :func:`search.embedding.opening.open_embedder`.
        Unavailable: the engine or the embedder does not answer.
    """
    if is_cluster(settings):
        from search.engines.opensearch_serving import open_served

        with open_served(settings, clock, metrics) as served:
            yield served
    else:
        with open_embedder(settings, clock) as embedder, open_engine(settings, embedder, clock, metrics) as store:
            yield store


@contextmanager
def open_engine(settings: Settings, embedder: Embedder, clock: Clock, metrics: Metrics | None = None) -> Iterator[Store]:
    """The engine of ``settings.engine_url`` for vectors of this embedder, closed at the end; of a cluster, the first generation under the prefix. Its
    changes are told in the outbox of its state store. ``metrics`` counts what the engine refused to hand out.

    Raises:
        Misconfigured: the URL names no engine, or the store there was made with another model, or is not ours.
        Unavailable: nothing answers there.
    """
    if is_cluster(settings):
        from search.engines.opensearch import open_opensearch

        with open_opensearch(settings, model=embedder.model, dimension=embedder.dimension, clock=clock, metrics=metrics) as cluster:
            told = ToldEngine(cluster, cluster.state, clock)
            yield Store(told, cluster.state, cluster.months, embedder, guards=cluster.guards)
    else:
        from search.engines.embedded import open_embedded

        path = sqlite_path(settings.engine_url)
        with open_embedded(path, model=embedder.model, dimension=embedder.dimension, clock=clock) as embedded:
            yield Store(ToldEngine(embedded, embedded.state, clock), embedded.state, embedded.months, embedder)


def is_cluster(settings: Settings) -> bool:
    """Whether the store is in OpenSearch, or else a file.

    Raises:
        Misconfigured: the URL names no engine.
    """
    scheme = urlsplit(settings.engine_url).scheme
    if scheme not in ("sqlite", "http", "https"):
        raise Misconfigured(f"WA_ENGINE_URL must begin with sqlite:/// or http(s)://, not {scheme or 'nothing'}://")
    return scheme != "sqlite"


def sqlite_path(url: str) -> Path:
    """The file of ``sqlite:///relative/path`` or ``sqlite:////absolute/path``.

    Raises:
        Misconfigured: no file is named.
    """
    path = unquote(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path:
        raise Misconfigured("WA_ENGINE_URL must be sqlite:///FILE (three slashes for a relative path, four for an absolute one)")
    return Path(path).expanduser()
