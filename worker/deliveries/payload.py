"""A digest as webhooks carry it: the member names and values every door uses, without the proofs behind numbers, which are looked up by id."""

from datetime import UTC, datetime
from typing import Any

from grounding.answers import Citation, Claim, Refusal
from worker.monitors.digest import Digest

Json = dict[str, Any]
DECIMALS = 6


def digest_payload(digest: Digest, link: str) -> Json:
    """The ``data`` member of a webhook."""
    return {
        "digestId": digest.digest_id,
        "monitorId": digest.monitor_id,
        "monitorName": digest.monitor_name,
        "severity": digest.severity,
        "question": digest.question,
        "version": digest.version,
        "windowStart": _moment(digest.window_start),
        "windowEnd": _moment(digest.window_end),
        "firedBecause": digest.fired_because,
        "breached": digest.breached,
        "observed": _number(digest.observed),
        "threshold": _number(digest.threshold),
        "unit": digest.unit,
        "baseline": _number(digest.baseline),
        "n": digest.n,
        "denominator": digest.denominator,
        "docIds": list(digest.doc_ids),
        "cursor": digest.cursor,
        "claims": [_claim(claim) for claim in digest.claims],
        "refusal": None if digest.refusal is None else _refusal(digest.refusal),
        "degraded": [{"part": part, "effect": effect} for part, effect in sorted(digest.degraded.items())],
        "withdrawnDocIds": list(digest.withdrawn_doc_ids),
        "runId": digest.run_id,
        "firstSeen": _moment(digest.first_seen),
        "lastSeen": _moment(digest.last_seen),
        "createdAt": _moment(digest.created_at),
        "updatedAt": _moment(digest.updated_at),
        "url": link or None,
    }


def _claim(claim: Claim) -> Json:
    return {
        "text": claim.text,
        "kind": claim.kind.value,
        "support": _number(claim.support),
        "citations": [_citation(citation) for citation in claim.citations],
        "documentCount": claim.document_count,
    }


def _citation(citation: Citation) -> Json:
    return {
        "docId": citation.doc_id,
        "version": citation.version,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
        "support": _number(citation.support),
    }


def _refusal(refusal: Refusal) -> Json:
    return {"reason": refusal.reason.value, "message": refusal.message, "gate": refusal.gate}


def _number(value: float | None) -> float | None:
    return None if value is None else round(float(value), DECIMALS) + 0.0


def _moment(value: datetime) -> str:
    precision = "milliseconds" if value.microsecond else "seconds"
    return value.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")
