"""Opening both ends of a move: a place is a URL, and in OpenSearch a prefix."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from runtime.clock import Clock
from runtime.errors import InvalidRequest, Misconfigured
from runtime.settings import Settings
from search.embedding.opening import open_embedder
from search.engines.opening import sqlite_path
from search.moving.archive import Archive, Receiver, StateReceiver
from search.ports import Embedder


@dataclass(frozen=True, slots=True)
class End:
    """A store that is written to: its engine, its state, and itself for reading back."""

    engine: Receiver
    state: StateReceiver
    archive: Archive


@contextmanager
def open_archive(settings: Settings, clock: Clock) -> Iterator[Archive]:
    """The store of ``settings.engine_url``, read only.

    Raises:
        NotFound: nothing is there.
        Misconfigured: it is none of ours.
    """
    archive = _archive(settings, clock)
    try:
        yield archive
    finally:
        archive.close()


@contextmanager
def open_end(settings: Settings, embedder: Embedder, clock: Clock) -> Iterator[End]:
    """The store of ``settings.engine_url``, made when missing. Nothing is told of what is written here: it was told where it comes from."""
    if is_file(settings):
        from search.engines.embedded import open_embedded

        path = sqlite_path(settings.engine_url)
        with (
            open_embedded(path, model=embedder.model, dimension=embedder.dimension, clock=clock) as embedded,
            open_archive(settings, clock) as archive,
        ):
            yield End(embedded, embedded.state, archive)
    else:
        from search.engines.opensearch_serving import open_place

        with open_place(settings, clock) as place:
            engine = place.prepared(place.generations.known().live, embedder)
            with open_archive(settings, clock) as archive:
                yield End(engine, engine.state, archive)


@contextmanager
def open_embedder_of(settings: Settings, clock: Clock) -> Iterator[Embedder]:
    """The embedder that the store of ``settings.engine_url`` is made with: that of the settings, unless the cluster serves another generation."""
    if is_file(settings):
        with open_embedder(settings, clock) as embedder:
            yield embedder
    else:
        from search.engines.opensearch_serving import open_place

        with open_place(settings, clock) as place, place.embedder(place.generations.known().live) as embedder:
            yield embedder


def is_file(settings: Settings) -> bool:
    """Whether the store is a file.

    Raises:
        Misconfigured: the URL names no engine.
    """
    scheme = urlsplit(settings.engine_url).scheme
    if scheme not in ("sqlite", "http", "https"):
        raise Misconfigured(f"a store is sqlite:///FILE or http(s)://host:9200, not {settings.engine_url!r}")
    return scheme == "sqlite"


def refuse_same(source: Settings, target: Settings) -> None:
    """Refuse to move a store into itself.

    Raises:
        InvalidRequest: on ``to``.
    """
    if is_file(source) and is_file(target):
        same = sqlite_path(source.engine_url).resolve() == sqlite_path(target.engine_url).resolve()
    else:
        same = _host(source) == _host(target) and source.index_prefix == target.index_prefix
    if same:
        raise InvalidRequest("is the store that is moved from", field="to")


def _host(settings: Settings) -> tuple[str, str, int | None, str]:
    url = urlsplit(settings.engine_url)
    return url.scheme, url.hostname or "", url.port, url.path.rstrip("/")


def _archive(settings: Settings, clock: Clock) -> Archive:
    if is_file(settings):
        from search.moving.sqlite_archive import SqliteArchive

        return SqliteArchive(sqlite_path(settings.engine_url))
    from search.engines.opensearch_connection import connected
    from search.engines.opensearch_generations import Generations
    from search.engines.opensearch_names import checked_prefix
    from search.moving.opensearch_archive import OpenSearchArchive

    cluster = connected(settings, clock)
    try:
        prefix = checked_prefix(settings.index_prefix)
        return OpenSearchArchive(cluster, Generations(cluster, prefix, settings.embedder).known().live.prefix, prefix)
    except BaseException:
        cluster.close()
        raise
