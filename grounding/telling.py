"""The event of a run: its outcome in ids and numbers. The question stays in the trace, and is looked up there by the run's id."""

import hashlib

from grounding.answers import Grounding, Trace
from runtime.events import Event, EventType, event_id
from runtime.tenancy import Tenant
from search.identity import normalised

_MOST_IDS = 50


def event_of(tenant: Tenant, trace: Trace, grounding: Grounding) -> Event | None:
    """What is told of a run; nothing of one that failed, which was neither answered nor refused."""
    if trace.outcome == "failed":
        return None
    kind: EventType = "answer.refused" if trace.refusal is not None else "answer.given"
    cited = dict.fromkeys(citation.doc_id for claim in trace.claims for citation in claim.citations)
    body = {
        "run_id": trace.run_id,
        "outcome": trace.outcome,
        "reason": trace.refusal.reason.value if trace.refusal is not None else None,
        "drafted": bool(grounding.verdicts),
        "groundedness": grounding.groundedness,
        "citation_precision": grounding.citation_precision,
        "claims": len(trace.claims),
        "doc_ids": list(cited)[:_MOST_IDS],
        "seconds": trace.budget["used"]["seconds"],
        "question_hash": hashlib.sha256(normalised(trace.question).encode("utf-8", "replace")).hexdigest()[:16],
    }
    return Event(event_id(kind, tenant, trace.run_id), kind, tenant, trace.created_at, trace.run_id, body)
