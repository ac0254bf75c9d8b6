"""Two tenants with everything a tenant can have: the caller, and the one whose words must never be seen."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from api import delivery_operations
from api.graphql_schema import executable_schema
from api.identity.keys import Keys, pepper_of
from api.identity.principal import SCOPES
from api.mcp_tools import TOOLS
from grounding.evaluation.set_files import set_of
from runtime.tenancy import Tenant, tenant_named
from search.ingest.rows import rows_of
from tests.doors.walking import KINDS, PLAIN, Known, calls, json_calls, query_text
from worker.opening import Service

CALLER, OTHER = tenant_named("amber"), tenant_named("basil")
CANARY = "zqxcanaryofbasil"
"""In every text of the other tenant, and in nothing that is ever sent."""

SCHEMA = executable_schema()
HEAVY = frozenset({"runEval", "createApiKey", "rotateApiKey", "evaluateMonitor"})
"""Operations that are tried less often, or the run would be about nothing else."""

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What shots are made of. ``secret`` is the caller's key; ``foreign`` are ids of the other tenant; the calls are valid ones, with ids of both."""

    secret: str
    foreign: tuple[str, ...]
    operations: tuple[Body, ...]
    tools: tuple[Body, ...]
    subscriptions: tuple[Body, ...]


def filled(service: Service) -> Knowledge:
    """Fill a fresh store, and say what is in it."""
    secrets = {tenant: _key(service, tenant) for tenant in (CALLER, OTHER)}
    for tenant, word in ((CALLER, "amberword"), (OTHER, CANARY)):
        _fill(service, tenant, word)
    both = [_known(service, tenant, secrets[tenant][0]) for tenant in (CALLER, OTHER)]
    foreign = tuple(sorted(each for each in both[1].all() - both[0].all() if len(each) > 3))
    operations = tuple(body for known in both for body in _operations(known))
    tools = tuple(
        {"name": name, "arguments": given}
        for known in both
        for name, spec in TOOLS.items()
        for given in json_calls(spec.arguments.model_json_schema(), known)
    )
    text = "subscription($after: ID) { digestPublished(after: $after) { digestId version claims { text } } }"
    after = ["", *both[0].some("digestId"), *both[1].some("digestId")]
    return Knowledge(secrets[CALLER][1], foreign, operations, tools, tuple({"query": text, "variables": {"after": each}} for each in after))


def documents(tenant: Tenant, word: str, version: int = 1) -> list[Body]:
    """The documents of a tenant, all of the last hours; a newer version brings back those that were deleted."""
    start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return [
        {
            "docId": f"{tenant}-doc-{number}",
            "source": f"{tenant}-source",
            "text": f"My card was declined at the till, says {word} {number}.",
            "occurredAt": (start - timedelta(minutes=number + 1)).isoformat(),
            "title": f"{word} title",
            "themeId": f"{tenant}-theme",
            "accountId": f"{tenant}-account",
            "rating": 2,
            "version": version,
            "attributes": {"team": word},
        }
        for number in range(20)
    ]


def _key(service: Service, tenant: Tenant) -> tuple[str, str]:
    """The id of a key that may be revoked, and the secret of another, whose id nobody is told."""
    keys = Keys(service.state, service.clock, pepper_of(service.settings))
    return keys.create(tenant, name="spare", scopes=SCOPES)[0].key_id, keys.create(tenant, name="caller", scopes=SCOPES)[1]


def _fill(service: Service, tenant: Tenant, word: str) -> None:
    service.ingester.ingest(tenant, rows_of(documents(tenant, word)))
    service.answerer.ask(tenant, str(PLAIN["question"]))
    service.handing_in.hand_in(tenant, rows_of(documents(tenant, word)[:2]), source=f"{tenant}-file")
    monitor = {
        "monitorId": f"{tenant}-monitor",
        "name": f"{word} watch",
        "question": PLAIN["question"],
        "condition": {"countAtLeast": 2},
        "receivers": [{"channel": "stream"}],
    }
    service.saving.save(tenant, monitor)
    service.evaluator.evaluate_latest(tenant, f"{tenant}-monitor")
    delivery_operations.deliver_due(service, tenant)
    cases = [{"id": "c", "question": PLAIN["question"], "kind": "count", "expected": {"answered": True, "count": 20}}]
    service.evaluations.sets.save(tenant, set_of(f"{tenant}-set", enumerate(cases, 1)))


def _known(service: Service, tenant: Tenant, key_id: str) -> Known:
    known = Known()
    known.learn({"keyId": key_id, "setName": f"{tenant}-set", "batchId": f"{tenant}-batch", "source": f"{tenant}-source"})
    known.learn({"monitorId": f"{tenant}-monitor", "themeId": f"{tenant}-theme", "accountId": f"{tenant}-account"})
    known.learn({"docId": [item["docId"] for item in documents(tenant, "")[:2]]})
    known.learn({"runId": [item.run_id for item in service.traces.list(tenant).traces]})
    known.learn({"jobId": [item.job_id for item in service.jobs.list(tenant).jobs]})
    known.learn({"digestId": [item.digest_id for item in service.digests.list(tenant).digests]})
    for kind in sorted(
        set(KINDS.values()) - known.of_kind.keys()
    ):  # kinds of which the store has none, or that came after this was written
        known.learn({kind: f"{tenant}-{kind.lower()}"})
    return known


def _operations(known: Known) -> Iterator[Body]:
    for kind, root in (("query", SCHEMA.query_type), ("mutation", SCHEMA.mutation_type)):
        for name, item in (root.fields if root else {}).items():
            for given in calls(item, known):
                yield {"query": query_text(kind, name, item, given), "variables": given, "name": name}


def canaries(text: bytes) -> bool:
    """Whether the other tenant's words are in an answer, however they are escaped."""
    return CANARY.encode() in text or json.dumps(CANARY)[1:-1].encode() in text
