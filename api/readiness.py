"""Whether the service can do its work right now, and whether its workers do theirs. Answers are kept for two seconds, so that probes are no load."""

from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version

from api.errors import fault_of
from api.json_values import Json
from runtime.errors import ServiceError
from runtime.tenancy import Tenant, tenant_named
from worker.duties import WorkerHealth
from worker.opening import Service

KEPT_S = 2.0
MAX_KEPT = 100
READY_WITHIN_S = 3.0


@dataclass(slots=True)
class Readiness:
    """Asks the engine at most once in :data:`KEPT_S` for each tenant."""

    service: Service
    _kept: dict[Tenant, tuple[float, int, Json]] = field(default_factory=dict)
    _kept_worker: tuple[float, WorkerHealth] | None = None

    def of(self, tenant: Tenant) -> tuple[int, Json]:
        """HTTP status and body: 200 when questions can be answered (an empty corpus included, and workers that are late), 503 when the engine is
        down."""
        now = self.service.clock.seconds()
        kept = self._kept.get(tenant)
        if kept is None or now - kept[0] > KEPT_S:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            kept = self._kept[tenant] = (now, *self._asked(tenant))
        return kept[1], kept[2]

    def measure(self) -> None:
        """Have the metrics tell how things are now: whether questions can be answered, how large the default tenant is, how old the heartbeat."""
        status, body = self.of(tenant_named(self.service.settings.default_tenant))
        self.service.metrics.set("wa_ready", float(status == HTTPStatus.OK))
        for part in ("documents", "passages"):
            if part in body:
                self.service.metrics.set(f"wa_corpus_{part}", body[part])
        self.worker()

    def _asked(self, tenant: Tenant) -> tuple[int, Json]:
        worker = self.worker()
        told = {**self._always(), "worker": _told(worker)}
        try:
            corpus, engine = self._corpus(tenant), dict(self.service.engine.describe())
        except ServiceError as error:
            return 503, {"status": "unavailable", "corpus": "unknown", **told, "engine": {"error": fault_of(error).message}}
        fine = worker.status in ("ok", "not configured") and "problem" not in engine
        return 200, {"status": "ready" if fine else "degraded", **corpus, **told, "engine": engine}

    def worker(self) -> WorkerHealth:
        """Whether workers work; also told by the metric of the heartbeat's age."""
        now_s = self.service.clock.seconds()
        if self._kept_worker is None or now_s - self._kept_worker[0] > KEPT_S:
            self._kept_worker = (now_s, self.service.queue.health(self.service.clock.now()))
        found = self._kept_worker[1]
        if found.age_s is not None:
            self.service.metrics.set("wa_worker_heartbeat_age_seconds", found.age_s)
        return found

    def _corpus(self, tenant: Tenant) -> Json:
        corpus = self.service.engine.corpus(tenant)
        return {
            "corpus": "ready" if corpus.documents else "empty",
            "documents": corpus.documents,
            "passages": corpus.passages,
            "vectors": corpus.passages,
        }

    def _always(self) -> Json:
        settings, embedder = self.service.settings, self.service.embedder
        return {
            "fusion_strategy": settings.fusion,
            "embedder": {"model": embedder.model, "dimension": embedder.dimension},
            "mode": "development" if settings.auth == "none" else "authenticated",
            "version": release(),
        }


def _told(worker: WorkerHealth) -> Json:
    age = {} if worker.age_s is None else {"heartbeat_age_s": round(worker.age_s, 3)}
    return {"status": worker.status, **age, **({"message": worker.message} if worker.message else {})}


def release() -> str:
    """The version of this program."""
    try:
        return version("wisdomagent")
    except PackageNotFoundError:
        return "0"
