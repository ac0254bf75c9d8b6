"""The role of who may look at a board, for the security plugin of OpenSearch: ``python -m scripts.dashboard_roles [--prefix PREFIX] [--tenant TENANT]``.

It prints the body of ``PUT _plugins/_security/api/roles/NAME``. A board hides and protects nothing by itself: who may search the state index may read
questions and quotations in the bodies of its entries, of every tenant. This role lets its holders count, and read no word that anybody wrote.
"""

import argparse
import json
from typing import Any

from runtime.tenancy import tenant_named
from scripts.dashboard_objects import Scope
from search.engines.opensearch_names import checked_prefix, every_pool_month
from search.state_facts import FACTS

DOCUMENT_FIELDS = ("tenant", "deleted", "number", "occurred_at", "source_kind", "theme_id")
STATE_FIELDS = ("tenant", "kind", "entry_id", *(f"facts.{name}" for name in FACTS))


def role_of(scope: Scope) -> dict[str, Any]:
    """What the reader of this board may search: which indices, which records in them, which fields of those."""
    whose = [] if scope.tenant is None else [{"term": {"tenant": scope.tenant}}]
    documents = scope.pattern("documents")
    months = [documents] if scope.tenant is None else [documents, f"{documents}-*-*", every_pool_month(scope.prefix)]
    counted = [*whose, {"exists": {"field": "facts.at"}}]
    return {
        "cluster_permissions": [],
        "index_permissions": [
            _readable(months, whose, DOCUMENT_FIELDS),
            _readable([scope.pattern("state")], counted, STATE_FIELDS),
        ],
        "tenant_permissions": [],
    }


def _readable(patterns: list[str], filters: list[dict[str, Any]], fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        "index_patterns": patterns,
        "dls": json.dumps({"bool": {"filter": filters}}) if filters else "",
        "fls": list(fields),
        "masked_fields": [],
        "allowed_actions": ["read"],
    }


def main() -> None:
    """Print the role."""
    parser = argparse.ArgumentParser(prog="python -m scripts.dashboard_roles", description="Print the role of who may look at a board.")
    parser.add_argument("--prefix", default="wa", help="first part of every index name")
    parser.add_argument("--generation", default="", help="the generation of documents that is served, after wisdom reembed: wa2")
    parser.add_argument("--tenant", help="of this tenant alone; otherwise of every tenant, which is for operators")
    wanted = parser.parse_args()
    scope = Scope(checked_prefix(wanted.prefix), tenant_named(wanted.tenant) if wanted.tenant else None, wanted.generation)
    print(json.dumps(role_of(scope), indent=2))


if __name__ == "__main__":
    main()
