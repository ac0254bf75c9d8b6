"""Retention as every door calls it, counted and written to the audit log."""

from runtime.telemetry import audit_logger
from runtime.tenancy import Tenant
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


def rendered(plan: RetentionPlan, deleted: int | None = None) -> Json:
    """A plan, or with ``deleted`` what came of it."""
    months = [{"month": each.month, "documents": each.documents, "bytes": each.size} for each in plan.months]
    value: Json = {"tenant": plan.tenant, "before": plan.before, "months": months, "documents": plan.documents, "bytes": plan.size}
    value |= {"foreign": list(plan.foreign), "applied": deleted is not None}
    return value if deleted is None else value | {"deleted": deleted}
