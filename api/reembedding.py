"""A second generation of a store file, made beside the live one with another embedding model and held against it by an evaluation."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from api.moving_operations import open_migration
from grounding.evaluation.cases import EvalSet
from grounding.evaluation.gate import ScoreGate
from grounding.evaluation.reports import EvalReport
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.engines.opening import sqlite_path
from search.moving.copying import Told
from search.moving.migration import MigrationReport
from worker.opening import Service, open_service

PASSES = 5
"""How often it catches up with what was written to the live store meanwhile, at most."""

NO_STEP_BACK = ScoreGate(regression={"exact_rate": 0.03, "hallucination_rate": 0.03})
"""The gate when none is named: as good as the live store, but for a few cases in a hundred."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Both evaluations; ``after`` is of the new generation, held against ``before``."""

    before: EvalReport
    after: EvalReport

    @property
    def passed(self) -> bool:
        """Whether the gate says so."""
        return self.after.outcome != "failed"


def beside(settings: Settings, embedder: str) -> str:
    """URL of the new generation: another file in the same folder."""
    path = sqlite_path(settings.engine_url)
    name = re.sub(r"[^a-z0-9]+", "-", embedder.lower()).strip("-")
    return f"sqlite:///{path.with_name(f'{path.stem}.{name}{path.suffix}')}"


def embedded_anew(old: Settings, new: Settings, told: Told | None = None) -> MigrationReport:
    """Every document and all state, with new vectors; what is there already stays, so it can be run again.

    Raises:
        InvalidRequest: on ``embedder``: it is the one that made the live store.
    """
    with open_migration(old, new, None, merge=False) as migration:
        if migration.carries_vectors:
            raise InvalidRequest("is the model of the live store already", field="embedder")
        return migration.run(told, passes=PASSES)


def tried(old: Settings, new: Settings, tenant: Tenant, eval_set: Callable[[Service], EvalSet], gate: ScoreGate | None) -> Trial:
    """Ask both generations the same questions; the reports are kept in each."""
    with open_service(old) as service:
        chosen = eval_set(service)
        before = service.evaluations.run(tenant, chosen)
    with open_service(new) as service:
        return held_against(before, service, tenant, chosen, gate)


def held_against(before: EvalReport, service: Service, tenant: Tenant, chosen: EvalSet, gate: ScoreGate | None) -> Trial:
    """Ask the new generation what the old one was asked."""
    return Trial(before, service.evaluations.run(tenant, chosen, gate=gate or NO_STEP_BACK, baseline=before))


def switching(old: Settings, new: Settings) -> tuple[str, str, str, str]:
    """Variables of the new generation, how to fetch what was written last; variables of the old one, and how to take back what was written since."""
    there, back = _variables(new, old), _variables(old, new)
    return (
        " ".join(there),
        f"{' '.join(there)} wisdom migrate --merge {_ends(old, new)}",
        " ".join(back),
        f"{' '.join(back)} wisdom migrate --merge {_ends(new, old)}",
    )


def _variables(settings: Settings, other: Settings) -> list[str]:
    values = {"WA_EMBEDDER": settings.embedder, "WA_ENGINE_URL": settings.engine_url}
    others = {"WA_EMBEDDER": "", "WA_ENGINE_URL": other.engine_url}
    return [f"{name}={shlex.quote(value)}" for name, value in values.items() if value != others[name]]


def _ends(source: Settings, target: Settings) -> str:
    return shlex.join(["--from", source.engine_url, "--to", target.engine_url])
