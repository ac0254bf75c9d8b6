"""The one table of what may be asked for and the scope it takes, and how each door names it. What is not listed is allowed to nobody."""

from collections.abc import Mapping

from api.identity.principal import Principal, Scope
from runtime.errors import Forbidden

SCOPE_OF: Mapping[str, Scope] = {
    "ask": "ask",
    "search": "read",
    "document": "read",
    "documents": "read",
    "trace": "read",
    "traces": "read",
    "aggregateByTheme": "read",
    "trendOverTime": "read",
    "accountContext": "read",
    "corpus": "read",
    "erasureReceipts": "read",
    "erasureReceipt": "read",
    "insights": "read",
    "jobs": "read",
    "job": "read",
    "monitors": "read",
    "monitor": "read",
    "digests": "read",
    "digest": "read",
    "deliveries": "read",
    "digestPublished": "read",
    "evals": "read",
    "evalReport": "read",
    "evalDiff": "read",
    "evalSets": "read",
    "evalSchedules": "read",
    "indexDocuments": "write",
    "deleteDocuments": "write",
    "cancelJob": "write",
    "retryJob": "write",
    "saveMonitor": "monitor",
    "deleteMonitor": "monitor",
    "pauseMonitor": "monitor",
    "acknowledge": "monitor",
    "evaluateMonitor": "monitor",
    "redeliverDigest": "monitor",
    "runEval": "admin",
    "deleteEvalSchedule": "admin",
    "apiKeys": "admin",
    "createApiKey": "admin",
    "rotateApiKey": "admin",
    "revokeApiKey": "admin",
}
"""By operation. Operations are called as the root fields of GraphQL."""

ROUTES: Mapping[tuple[str, str], str] = {
    ("POST", "/ask"): "ask",
    ("POST", "/search"): "search",
    ("POST", "/ingest"): "indexDocuments",
    ("GET", "/documents/{doc_id:path}"): "document",
    ("DELETE", "/documents/{doc_id:path}"): "deleteDocuments",
    ("GET", "/jobs/{job_id}"): "job",
    ("GET", "/jobs/{job_id}/rejects"): "job",
}
"""The operation behind each route of REST, by method and template."""

TOOLS: Mapping[str, str] = {
    "search_feedback": "search",
    "aggregate_by_theme": "aggregateByTheme",
    "trend_over_time": "trendOverTime",
    "get_account_context": "accountContext",
    "ask": "ask",
    "list_monitors": "monitors",
    "get_digests": "digests",
}
"""The operation behind each MCP tool."""


class MissingScope(Forbidden):
    """The credential lacks ``scope``."""

    def __init__(self, operation: str, scope: str) -> None:
        self.scope = scope
        super().__init__(
            f"{operation} needs the scope {scope}, which this credential does not have" if scope else f"{operation} is not served"
        )


def require(principal: Principal, operation: str) -> None:
    """Nothing, when the principal may do this.

    Raises:
        MissingScope: it may not.
    """
    scope = SCOPE_OF.get(operation)
    if scope is None or scope not in principal.scopes:
        raise MissingScope(operation, scope or "")
