"""Retention as every door calls it, counted and written to the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from grounding.traces import KIND as TRACE
from runtime.telemetry import audit_logger
from runtime.tenancy import Tenant
from search.ingest.records import KIND as INGEST
from search.ingest.records import REJECTIONS
from search.moving.ageing import count_older, remove_older
from search.moving.retention import RetentionPlan, Told, applied, first_kept, planned
from worker.opening import Service

Json = dict[str, object]


def plan_retention(service: Service, tenant: Tenant, *, keep_months: int | None, before: str | None) -> RetentionPlan:
    """What would go; nothing is changed."""
    return planned(service.engine, service.months, tenant, first_kept(service.clock.now(), keep_months, before))


def apply_retention(service: Service, plan: RetentionPlan, told: Told | None = None) -> int:
    """Do it; how many documents were deleted."""
    deleted = applied(service.engine, service.state, service.months, plan, told)
    service.metrics.count("wa_documents_deleted_total", deleted)
    audit_logger().info("retention", tenant=plan.tenant, before=plan.before, months=[each.month for each in plan.months], deleted=deleted)
    return deleted


@dataclass(frozen=True, slots=True)
class OldRecords:
    """What was kept of runs and ingests before ``before``, by what it is called. Documents, and counts of events, are no part of it."""

    tenant: Tenant
    before: datetime
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of them together."""
        return sum(self.counts.values())


RECORDS: Mapping[str, tuple[str, ...]] = {"traces": (TRACE,), "ingests": (REJECTIONS, INGEST)}
"""What grows with every question and every ingest, and the kinds it is kept under."""


def old_records(service: Service, tenant: Tenant, keep_days: int) -> OldRecords:
    """What is older than so many days; nothing is changed."""
    before = service.clock.now() - timedelta(days=keep_days)
    counted = {name: sum(count_older(service.state, tenant, kind, before) for kind in kinds) for name, kinds in RECORDS.items()}
    return OldRecords(tenant, before, counted)


def remove_records(service: Service, found: OldRecords) -> OldRecords:
    """Remove it; what was removed."""
    before, tenant = found.before, found.tenant
    removed = {name: sum(remove_older(service.state, tenant, kind, before) for kind in kinds) for name, kinds in RECORDS.items()}
    audit_logger().info("retention_records", tenant=tenant, before=before.isoformat(), removed=removed)
    return OldRecords(tenant, before, removed)


def rendered_records(value: OldRecords, *, applied: bool) -> Json:
    """What would go, or what went."""
    return {"tenant": value.tenant, "before": value.before.isoformat(), **value.counts, "applied": applied}


def rendered(plan: RetentionPlan, deleted: int | None = None) -> Json:
    """A plan, or with ``deleted`` what came of it."""
    months = [{"month": each.month, "documents": each.documents, "bytes": each.size} for each in plan.months]
    value: Json = {"tenant": plan.tenant, "before": plan.before, "months": months, "documents": plan.documents, "bytes": plan.size}
    value |= {"foreign": list(plan.foreign), "applied": deleted is not None}
    return value if deleted is None else value | {"deleted": deleted}
