"""Generations of documents in a cluster: made beside the one that is served, tried against it, served in its place, and back."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from api.reembedding import Trial, held_against
from grounding.evaluation.cases import EvalSet
from grounding.evaluation.gate import ScoreGate
from runtime.clock import Clock, Stopwatch, SystemClock
from runtime.errors import NotFound
from runtime.settings import Settings
from runtime.telemetry import Metrics, audit_logger
from runtime.tenancy import Tenant
from search.embedding.opening import open_embedder
from search.engines.opensearch_generations import Generation
from search.engines.opensearch_serving import Place, open_generation, open_place
from search.engines.store import Store
from search.moving.copying import Copied, Told
from search.moving.opensearch_archive import OpenSearchArchive
from search.moving.renewal import Renewal
from worker.opening import Opening, Service, open_service

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Renewed:
    """What was done. ``trial`` is of the new generation against the old one; ``differing`` are months that both do not hold alike."""

    old: Generation
    new: Generation
    copied: Copied
    served: bool
    seconds: float
    trial: Trial | None = None
    differing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A generation as it is: how many live documents it holds, and bytes."""

    generation: Generation
    documents: int
    size: int
    live: bool
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Trying:
    """What both generations are asked, and the bounds that the new one must keep."""

    tenant: Tenant
    eval_set: Callable[[Service], EvalSet]
    gate: ScoreGate | None


def renewed(settings: Settings, embedder: str, trying: Trying | None, *, serve: bool, told: Told | None = None) -> Renewed:
    """Every document with vectors of another model; served if that is wanted and the trial, if there is one, is passed.

    Raises:
        InvalidRequest: on ``embedder``: it is the one of what is served.
        Conflict: it could not be served in the end; nothing was changed.
    """
    clock = SystemClock()
    wanted = settings.model_copy(update={"embedder": embedder})
    with open_place(settings, clock) as place, open_embedder(wanted, clock) as opened:
        generations, live = place.generations, _live(place)
        new = generations.make(embedder, opened.model, opened.dimension)
        watch = Stopwatch.start(clock)
        renewal = Renewal(place, live, new, opened)
        copied = renewal.build(told)
        trial = None if trying is None or copied.refused else _tried(settings, live, new, trying)
        serve = serve and not copied.refused and (trial is None or trial.passed)
        if serve:
            copied.add(renewal.serve())
        differing = () if serve else tuple(renewal.differences())
        _audit("serve" if serve else "build", old=live.prefix, new=new.prefix, embedder=embedder, documents=copied.documents)
        return Renewed(live, new, copied, serve, watch.elapsed_s(), trial, differing)


def gone_back(settings: Settings, told: Told | None = None) -> Renewed:
    """The generation that was served before, with everything that was written since.

    Raises:
        NotFound: none was.
        Conflict: it could not be served in the end; nothing was changed.
    """
    clock = SystemClock()
    with open_place(settings, clock) as place:
        known = place.generations.known()
        if not known.before:
            raise NotFound("no other generation was served before this one; wisdom reembed --status lists them")
        before = known.named(known.before)
        with place.embedder(before) as embedder:
            watch = Stopwatch.start(clock)
            renewal = Renewal(place, known.live, before, embedder)
            copied = renewal.build(told)
            copied.add(renewal.serve())
        _audit("back", old=known.live.prefix, new=before.prefix, embedder=before.embedder, documents=copied.documents)
        return Renewed(known.live, before, copied, served=True, seconds=watch.elapsed_s())


def standings(settings: Settings) -> tuple[Standing, ...]:
    """Every generation."""
    with open_place(settings, SystemClock()) as place:
        known = place.generations.known()
        return tuple(_standing(place, each, known.live, closing=known.closing) for each in known.all)


def dropped(settings: Settings, prefix: str) -> None:
    """Remove a generation that is not served.

    Raises:
        NotFound: there is none of this name.
        InvalidRequest: it is served.
    """
    with open_place(settings, SystemClock()) as place:
        place.generations.drop(place.generations.known().named(prefix))
    _audit("drop", generation=prefix)


def abandoned(settings: Settings) -> Generation:
    """Have what is served take writes again, whoever stopped them; which that is."""
    with open_place(settings, SystemClock()) as place:
        live = place.generations.known().live
        place.generations.open(live)
    _audit("abandon", generation=live.prefix)
    return live


def _live(place: Place) -> Generation:
    known = place.generations.known()
    if not known.all:
        raise NotFound(f"nothing is stored under the prefix {place.settings.index_prefix} yet; WA_EMBEDDER is enough")
    return known.live


def _tried(settings: Settings, old: Generation, new: Generation, trying: Trying) -> Trial:
    """State is there once for both, so both reports are in it."""
    asked = settings.model_copy(update={"cache": "off"})

    def opening(generation: Generation) -> Opening:
        def opened(given: Settings, clock: Clock, metrics: Metrics) -> AbstractContextManager[Store]:
            return open_generation(given, generation.prefix, clock, metrics)

        return opened

    with open_service(asked, opening=opening(old)) as service:
        chosen = trying.eval_set(service)
        before = service.evaluations.run(trying.tenant, chosen)
    with open_service(asked, opening=opening(new)) as service:
        return held_against(before, service, trying.tenant, chosen, trying.gate)


def _standing(place: Place, generation: Generation, live: Generation, *, closing: bool) -> Standing:
    archive = OpenSearchArchive(place.cluster, generation.prefix, place.settings.index_prefix)
    documents = sum(archive.total(tenant) for tenant in archive.with_documents())
    is_live = generation.prefix == live.prefix
    return Standing(generation, documents, place.generations.size(generation), is_live, closing and is_live)


def _audit(did: str, **what: object) -> None:
    audit_logger().info("reembed", did=did, **what)
