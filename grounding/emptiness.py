"""Which of several filters leaves nothing, in words."""

from collections.abc import Sequence
from dataclasses import fields

from grounding.answers import Nearest
from grounding.refusing import snippet
from runtime.tenancy import Tenant
from search.documents import EVERYTHING, Filters
from search.ports import Engine

_SHOWN = 3


def emptied_by(engine: Engine, tenant: Tenant, filters: Filters) -> tuple[str, ...]:
    """The limits that no document of the tenant meets even alone."""
    alone = [(name, Filters(**{name: getattr(filters, name)})) for name in _set(filters)]
    if filters.since is not None and filters.before is not None:
        alone.append(("between", Filters(since=filters.since, before=filters.before)))
    return tuple(_worded(name, filters) for name, single in alone if engine.documents(tenant, single, first=1).total == 0)


def nearest_documents(engine: Engine, tenant: Tenant, doc_ids: Sequence[str]) -> tuple[Nearest, ...]:
    """The first of these documents, to be shown beside a refusal."""
    shown = tuple(doc_ids[:_SHOWN])
    if not shown:
        return ()
    page = engine.documents(tenant, Filters(doc_ids=shown), first=len(shown))
    return tuple(Nearest(document.doc_id, 1.0, snippet(document.text)) for document in page.documents)


def _set(filters: Filters) -> list[str]:
    return [field.name for field in fields(Filters) if getattr(filters, field.name) != getattr(EVERYTHING, field.name)]


def _worded(name: str, filters: Filters) -> str:
    value = getattr(filters, name, None)
    if isinstance(value, tuple) and name != "attributes":
        kind = {"sources": "source", "theme_ids": "theme", "account_ids": "account", "doc_ids": "id"}[name]
        return f"{kind} {' or '.join(f'“{item}”' for item in value)}"
    if name == "attributes":
        return "attribute " + " and ".join(f"{key} = {item}" for key, item in filters.attributes)
    if name == "between":
        return f"a date from {filters.since:%Y-%m-%d %H:%M} to {filters.before:%Y-%m-%d %H:%M} UTC"
    dated = {"since": f"a date since {filters.since}", "before": f"a date before {filters.before}"}
    rated = {"rating_min": f"a rating of {filters.rating_min} or more", "rating_max": f"a rating of {filters.rating_max} or less"}
    return (dated | rated)[name]
