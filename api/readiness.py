"""Whether the service can do its work right now. Answers are kept for two seconds, so that probes are no load."""

from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from api.errors import fault_of
from api.json_values import Json
from runtime.errors import ServiceError
from runtime.tenancy import Tenant
from worker.opening import Service

KEPT_S = 2.0
MAX_KEPT = 100
READY_WITHIN_S = 3.0


@dataclass(slots=True)
class Readiness:
    """Asks the engine at most once in :data:`KEPT_S` for each tenant."""

    service: Service
    _kept: dict[Tenant, tuple[float, int, Json]] = field(default_factory=dict)

    def of(self, tenant: Tenant) -> tuple[int, Json]:
        """HTTP status and body: 200 when questions can be answered (an empty corpus included), 503 when the engine is down."""
        now = self.service.clock.seconds()
        kept = self._kept.get(tenant)
        if kept is None or now - kept[0] > KEPT_S:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            kept = self._kept[tenant] = (now, *self._asked(tenant))
        return kept[1], kept[2]

    def _asked(self, tenant: Tenant) -> tuple[int, Json]:
        try:
            return 200, {"status": "ready", **self._corpus(tenant), **self._always(), "engine": dict(self.service.engine.describe())}
        except ServiceError as error:
            return 503, {"status": "unavailable", "corpus": "unknown", **self._always(), "engine": {"error": fault_of(error).message}}

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


def release() -> str:
    """The version of this program."""
    try:
        return version("wisdomagent")
    except PackageNotFoundError:
        return "0"
