"""What is served of the generations under a prefix, opened: embedder, engine, and the others for what has to go everywhere."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from runtime.clock import Clock
from runtime.settings import Settings
from runtime.telemetry import Metrics, logger
from runtime.tenancy import Tenant
from search.embedding.opening import open_embedder
from search.engines.following import Following, FollowingEmbedder, FollowingEngine, FollowingMonths, Served
from search.engines.limits import MAX_IDS
from search.engines.opensearch import OpenSearchEngine
from search.engines.opensearch_cluster import Cluster
from search.engines.opensearch_connection import connected
from search.engines.opensearch_errors import WritesBlocked
from search.engines.opensearch_generations import Generation, Generations
from search.engines.opensearch_names import checked_prefix
from search.engines.opensearch_state import OpenSearchState
from search.engines.store import Store
from search.engines.told import ToldEngine
from search.ports import Embedder


@dataclass(frozen=True, slots=True)
class Place:
    """One prefix of one cluster, and how what is there is opened."""

    cluster: Cluster
    settings: Settings
    clock: Clock

    @property
    def generations(self) -> Generations:
        """What is there."""
        return Generations(self.cluster, self.settings.index_prefix, self.settings.embedder)

    def live(self) -> Generation:
        """What is served."""
        return self.generations.known().live

    def closing(self) -> bool:
        """Whether another one is about to be."""
        return self.generations.known().closing

    def engine(self, generation: Generation) -> OpenSearchEngine:
        """The engine over one of them; nothing is looked at yet."""
        return OpenSearchEngine(
            self.cluster,
            generation.prefix,
            model=generation.model,
            dimension=generation.dimension,
            clock=self.clock,
            newcomers=self.settings.placement,
            state_prefix=self.settings.index_prefix,
        )

    @contextmanager
    def embedder(self, generation: Generation) -> Iterator[Embedder]:
        """The embedder that made it."""
        named: dict[str, object] = {"embedder": generation.embedder}
        if generation.dimension and generation.embedder != self.settings.embedder:
            named["embedder_dimension"] = generation.dimension
        with open_embedder(self.settings.model_copy(update=named), self.clock) as embedder:
            yield embedder

    def prepared(self, generation: Generation, embedder: Embedder) -> OpenSearchEngine:
        """The engine, made and checked for this embedder.

        Raises:
            Misconfigured: it was made with another model.
        """
        engine = self.engine(replace(generation, model=embedder.model, dimension=embedder.dimension))
        engine.prepare()
        return engine

    def opened(self, generation: object) -> Served:
        """Embedder and engine of a generation."""
        assert isinstance(generation, Generation)
        with ExitStack() as stack:
            embedder = stack.enter_context(self.embedder(generation))
            engine = self.prepared(generation, embedder)
            name = generation if generation.marker else self.generations.known().live  # it was made just now
            told = ToldEngine(engine, engine.state, self.clock)
            return Served(name, told, embedder, engine.months, stack.pop_all().close, self._notice(generation))

    def _notice(self, generation: Generation) -> str:
        if generation.embedder == self.settings.embedder:
            return ""
        logger(__name__).warning("another_embedder_is_served", served=generation.embedder, wa_embedder=self.settings.embedder)
        return f"WA_EMBEDDER={self.settings.embedder} is not used: what is served was made with {generation.embedder}"


class OtherGenerations:
    """Implements :class:`search.engines.following.Elsewhere`: generations that are being made, and those that are kept for going back."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def forget(self, tenant: Tenant, doc_ids: Sequence[str]) -> None:
        """See :class:`search.engines.following.Elsewhere`."""
        live, others = self._engines()
        for start in range(0, len(doc_ids) if others else 0, MAX_IDS):
            ids = doc_ids[start : start + MAX_IDS]
            deleted = {doc_id: each for doc_id, each in live.stored(tenant, ids).items() if each.deleted}
            for other in others:
                try:
                    other.bury(tenant, deleted)
                except WritesBlocked:  # what it knows of versions stays as it is, and is brought up to date on the way back
                    other.purge(tenant, ids)

    def erase(self, tenant: Tenant) -> None:
        """See :class:`search.engines.following.Elsewhere`."""
        for other in self._engines()[1]:
            other.erase(tenant)

    def expunge(self, tenant: Tenant) -> None:
        """See :class:`search.engines.following.Elsewhere`."""
        for other in self._engines()[1]:
            other.expunge(tenant)

    def drop(self, tenant: Tenant, month: str) -> None:
        """See :class:`search.engines.following.Elsewhere`. A document that is in this month there, and in another here, keeps its month there."""
        for other in self._engines()[1]:
            other.months.drop(tenant, month)

    def _engines(self) -> tuple[OpenSearchEngine, list[OpenSearchEngine]]:
        known = self._place.generations.known()
        others = [self._place.engine(each) for each in known.all if each.prefix != known.live.prefix]
        return self._place.engine(known.live), others


@contextmanager
def open_place(settings: Settings, clock: Clock, metrics: Metrics | None = None) -> Iterator[Place]:
    """The prefix of these settings on their cluster, closed at the end."""
    checked_prefix(settings.index_prefix)
    cluster = connected(settings, clock, lambda: metrics.count("wa_foreign_hits_total") if metrics else None)
    try:
        yield Place(cluster, settings, clock)
    finally:
        cluster.close()


@contextmanager
def open_served(settings: Settings, clock: Clock, metrics: Metrics | None = None) -> Iterator[Store]:
    """Whatever is served, as long as this is open.

    Raises:
        Misconfigured: the URL or its user is refused, or what is under the prefix was made for another model or by someone else.
        Unavailable: nothing answers there.
    """
    with open_place(settings, clock, metrics) as place:
        others = OtherGenerations(place)
        following = Following(place.live, place.opened, place.closing, clock)
        try:
            state = OpenSearchState(place.cluster, settings.index_prefix, clock)
            engine, months = FollowingEngine(following, others), FollowingMonths(following, others)
            yield Store(engine, state, months, FollowingEmbedder(following), following.held, (place.cluster.reads, place.cluster.writes))
        finally:
            following.close()


@contextmanager
def open_generation(settings: Settings, prefix: str, clock: Clock, metrics: Metrics | None = None) -> Iterator[Store]:
    """One generation, served or not, to be asked questions: what is deleted here is deleted nowhere else.

    Raises:
        NotFound: there is no such generation.
    """
    with open_place(settings, clock, metrics) as place:
        served = place.opened(place.generations.known().named(prefix))
        try:
            state = OpenSearchState(place.cluster, settings.index_prefix, clock)
            yield Store(served.engine, state, served.months, served.embedder, guards=(place.cluster.reads, place.cluster.writes))
        finally:
            served.close()
