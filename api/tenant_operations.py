"""Where tenants are, as the command line asks and as JSON."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runtime.clock import Clock, SystemClock
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from runtime.telemetry import audit_logger
from runtime.tenancy import HOUSE, Tenant
from search.engines.opensearch_moving import Told
from search.engines.opensearch_placement import Where
from search.engines.opensearch_serving import open_place
from search.engines.opensearch_tenancy import Home, Move, Tenancy
from search.moving.archive import Archive
from search.moving.opening import is_file, open_archive

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Tenants:
    """The tenants of one store in a cluster."""

    archive: Archive
    tenancy: Tenancy


@contextmanager
def open_tenants(settings: Settings, clock: Clock | None = None) -> Iterator[Tenants]:
    """The tenants of the cluster of ``settings``. No model is loaded.

    Raises:
        InvalidRequest: the store is a file, where all tenants are in one place.
    """
    if is_file(settings):
        raise InvalidRequest("the store is a file, which has no indices to place tenants in; name a cluster with WA_ENGINE_URL")
    clock = clock or SystemClock()
    with open_archive(settings, clock) as archive, open_place(settings, clock) as opened:
        engine = opened.engine(opened.live())
        engine.prepare()
        yield Tenants(archive, engine.tenancy)


def homes(tenants: Tenants) -> tuple[Home, ...]:
    """Every tenant that has a ledger."""
    found = (tenants.tenancy.home(tenant) for tenant in tenants.archive.tenants() if tenant != HOUSE)
    return tuple(home for home in found if home is not None)


def place(tenants: Tenants, tenant: Tenant, where: Where, told: Told) -> Move:
    """Move a tenant, with a line in the audit log."""
    moved = tenants.tenancy.place(tenant, where, told)
    audit_logger().info("place", tenant=tenant, where=where, records=moved.records, documents=moved.documents)
    return moved


def rendered_home(home: Home) -> Json:
    """Where a tenant is."""
    return {
        "tenant": home.tenant,
        "placement": home.where,
        "documents": home.documents,
        "shards": home.shards,
        "unfinished": home.unfinished,
    }


def rendered_move(moved: Move) -> Json:
    """What came of a move."""
    return {"tenant": moved.tenant, "placement": moved.where, "copied": moved.records, "documents": moved.documents}
