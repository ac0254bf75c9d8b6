"""What the span of a run says of its outcome: reasons, counts and the numbers of the gates, no words."""

from grounding.answers import Outcome
from runtime.tracing import Value


def told_of(outcome: Outcome) -> dict[str, Value]:
    """Attributes of :data:`runtime.tracing.ATTRIBUTES`."""
    answer, refusal, grounding = outcome.answer, outcome.refusal, outcome.grounding
    claims = answer.claims if answer is not None else ()
    told: dict[str, Value] = {
        "refused": refusal is not None,
        "outcome": "refused" if refusal else "answered",
        "claims": len(claims),
        "citations": sum(len(claim.citations) for claim in claims),
        "steps": len(outcome.trace.steps),
        "degraded": len(outcome.degraded),
        "groundedness": round(grounding.groundedness, 4),
        "citation_precision": round(grounding.citation_precision, 4),
        "coverage": round(grounding.coverage, 4),
    }
    if refusal is not None:
        told["reason"] = refusal.reason.value
    if intent := outcome.trace.plan.get("intent"):
        told["intent"] = str(intent)
    return told
