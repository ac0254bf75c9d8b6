"""Traces as plain JSON for the state store, and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from grounding.answers import Citation, Claim, ClaimKind, Nearest, Proof, Refusal, RefusalReason, Step, Trace
from search.listing import filters_as_json, filters_from_json

Json = dict[str, Any]


def trace_as_json(trace: Trace) -> Json:
    """Everything but what is computed at reading (the deleted documents)."""
    return {
        "question": trace.question,
        "plan": dict(trace.plan),
        "steps": [_step_as_json(step) for step in trace.steps],
        "budget": dict(trace.budget),
        "created_at": trace.created_at.isoformat(),
        "outcome": trace.outcome,
        "claims": [claim_as_json(claim) for claim in trace.claims],
        "refusal": None if trace.refusal is None else refusal_as_json(trace.refusal),
    }


def trace_from_json(run_id: str, body: Mapping[str, Any]) -> Trace:
    """The inverse of :func:`trace_as_json`."""
    return Trace(
        run_id=run_id,
        question=body["question"],
        plan=body["plan"],
        steps=tuple(Step(step["name"], step["started_ms"], step["ms"], step["outcome"], step["detail"]) for step in body["steps"]),
        budget=body["budget"],
        created_at=datetime.fromisoformat(body["created_at"]),
        outcome=body["outcome"],
        claims=tuple(claim_from_json(claim) for claim in body["claims"]),
        refusal=None if body["refusal"] is None else refusal_from_json(body["refusal"]),
    )


def _step_as_json(step: Step) -> Json:
    return {"name": step.name, "started_ms": step.started_ms, "ms": step.ms, "outcome": step.outcome, "detail": dict(step.detail)}


def claim_as_json(claim: Claim) -> Json:
    """A claim with its citations and its proof."""
    return {
        "text": claim.text,
        "kind": claim.kind.value,
        "support": claim.support,
        "citations": [_citation_as_json(citation) for citation in claim.citations],
        "counter_evidence": [_citation_as_json(citation) for citation in claim.counter_evidence],
        "document_count": claim.document_count,
        "proof": None if claim.proof is None else proof_as_json(claim.proof),
    }


def claim_from_json(body: Json) -> Claim:
    """The inverse of :func:`claim_as_json`."""
    return Claim(
        text=body["text"],
        kind=ClaimKind(body["kind"]),
        support=body["support"],
        citations=tuple(Citation(**citation) for citation in body["citations"]),
        counter_evidence=tuple(Citation(**citation) for citation in body["counter_evidence"]),
        document_count=body["document_count"],
        proof=None if body["proof"] is None else proof_from_json(body["proof"]),
    )


def _citation_as_json(citation: Citation) -> Json:
    return {
        "doc_id": citation.doc_id,
        "version": citation.version,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "support": citation.support,
    }


def proof_as_json(proof: Proof) -> Json:
    """A proof, complete enough to run it again."""
    return {
        "aggregation": proof.aggregation,
        "filters": filters_as_json(proof.filters),
        "match": proof.match,
        "time_zone": proof.time_zone,
        "value": proof.value,
        "denominator": proof.denominator,
        "doc_ids": list(proof.doc_ids),
        "cursor": proof.cursor,
        "generation": proof.generation,
        "bucket": proof.bucket,
        "counts": [list(pair) for pair in proof.counts],
        "against": None if proof.against is None else proof_as_json(proof.against),
    }


def proof_from_json(body: Json) -> Proof:
    """The inverse of :func:`proof_as_json`."""
    rest = {
        "filters": filters_from_json(body["filters"]),
        "doc_ids": tuple(body["doc_ids"]),
        "counts": tuple((key, count) for key, count in body["counts"]),
        "against": None if body["against"] is None else proof_from_json(body["against"]),
    }
    return Proof(**{**body, **rest})


def refusal_as_json(refusal: Refusal) -> Json:
    """A refusal with its numbers."""
    return {
        "reason": refusal.reason.value,
        "message": refusal.message,
        "gate": refusal.gate,
        "score": refusal.score,
        "threshold": refusal.threshold,
        "nearest": [{"doc_id": near.doc_id, "score": near.score, "snippet": near.snippet} for near in refusal.nearest],
        "hint": refusal.hint,
    }


def refusal_from_json(body: Json) -> Refusal:
    """The inverse of :func:`refusal_as_json`."""
    return Refusal(**{**body, "reason": RefusalReason(body["reason"]), "nearest": tuple(Nearest(**near) for near in body["nearest"])})
