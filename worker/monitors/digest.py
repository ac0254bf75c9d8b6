"""A digest: what fired and why, with the numbers that were proven, the documents that caused it, and the verified answer to the monitor's question."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from grounding.answers import Claim, Proof, Refusal, Trace
from grounding.trace_json import claim_as_json, claim_from_json, proof_as_json, proof_from_json, refusal_as_json, refusal_from_json
from grounding.traces import document_ids, without_words_of
from runtime.tenancy import Tenant
from worker.monitors.monitor import Severity


@dataclass(frozen=True, slots=True)
class Digest:
    """``n`` of ``denominator`` documents of the window match; ``observed`` was compared with ``threshold``, ``baseline`` is what the time before lets
    expect. ``doc_ids`` are the newest that caused it; the cursor of the first of ``proofs`` lists all. ``claims`` are those of the answer of run
    ``run_id``; without them ``refusal`` says why, or ``degraded`` what was lost. ``version`` counts from 1 what it told: late documents raise it.

    ``first_seen`` is the end of the window it fired for, ``last_seen`` of the latest one in which it still did. ``withdrawn_doc_ids`` were deleted
    since; their words are withheld.
    """

    digest_id: str
    monitor_id: str
    monitor_name: str
    severity: Severity
    question: str
    window_start: datetime
    window_end: datetime
    fired_because: str
    observed: float
    threshold: float
    unit: str
    baseline: float | None
    n: int
    denominator: int
    doc_ids: tuple[str, ...]
    fingerprint: str
    proofs: tuple[Proof, ...]
    claims: tuple[Claim, ...]
    refusal: Refusal | None
    run_id: str | None
    first_seen: datetime
    last_seen: datetime
    created_at: datetime
    updated_at: datetime
    degraded: Mapping[str, str] = field(default_factory=dict)
    version: int = 1
    breached: bool = True
    withdrawn_doc_ids: tuple[str, ...] = ()

    @property
    def cursor(self) -> str | None:
        """Lists every document that matched."""
        return self.proofs[0].cursor if self.proofs else None


def digest_id_of(tenant: Tenant, monitor_id: str, revision: str, window_end: datetime) -> str:
    """The same for the same firing, whoever evaluates it: one digest for a revision of a monitor and a window."""
    parts = json.dumps([tenant, monitor_id, revision, window_end.isoformat()])
    return "dig_" + hashlib.sha256(parts.encode()).hexdigest()[:24]


def digest_as_json(digest: Digest) -> dict[str, Any]:
    """For the state store."""
    body = {name: getattr(digest, name) for name in _PLAIN} | {name: getattr(digest, name).isoformat() for name in _INSTANTS}
    return {
        **body,
        "doc_ids": list(digest.doc_ids),
        "proofs": [proof_as_json(proof) for proof in digest.proofs],
        "claims": [claim_as_json(claim) for claim in digest.claims],
        "refusal": None if digest.refusal is None else refusal_as_json(digest.refusal),
        "degraded": dict(digest.degraded),
    }


def digest_from_json(digest_id: str, body: Mapping[str, Any]) -> Digest:
    """The inverse of :func:`digest_as_json`."""
    instants: dict[str, Any] = {name: datetime.fromisoformat(body[name]) for name in _INSTANTS}
    return Digest(
        digest_id=digest_id,
        **{name: body[name] for name in _PLAIN},
        **instants,
        doc_ids=tuple(body["doc_ids"]),
        proofs=tuple(proof_from_json(proof) for proof in body["proofs"]),
        claims=tuple(claim_from_json(claim) for claim in body["claims"]),
        refusal=None if body["refusal"] is None else refusal_from_json(body["refusal"]),
        degraded=body["degraded"],
    )


def spoken_of(digest: Digest) -> tuple[str, ...]:
    """Ids of every document the digest speaks of."""
    return tuple(dict.fromkeys((*digest.doc_ids, *document_ids(_as_run(digest)))))


def without(digest: Digest, deleted: Collection[str]) -> Digest:
    """The digest with the words of deleted documents withheld and their ids listed; its numbers stay as they were proven."""
    told = without_words_of(_as_run(digest), deleted)
    return replace(digest, claims=told.claims, refusal=told.refusal, withdrawn_doc_ids=tuple(sorted(deleted)))


def _as_run(digest: Digest) -> Trace:
    return Trace(digest.run_id or "", digest.question, {}, (), {}, digest.created_at, "", digest.claims, digest.refusal)


_PLAIN = (
    "monitor_id", "monitor_name", "severity", "question", "fired_because", "observed", "threshold", "unit", "baseline", "n", "denominator",
    "fingerprint", "run_id", "version", "breached",
)  # fmt: skip
_INSTANTS = ("window_start", "window_end", "first_seen", "last_seen", "created_at", "updated_at")
