"""The facts of a run that boards count. The question and the words of documents stay in the trace, which only its run id leads to."""

from collections.abc import Collection

from grounding.answers import Grounding, Trace
from search.state_facts import MAX_WORDS, Fact

ANSWERED, REFUSED, FAILED = "answered", "refused", "failed"
RECALLED = "cache"
"""The step of a run that was given again what was worked out a moment ago."""


def facts_of_run(trace: Trace, grounding: Grounding | None, degraded: Collection[str] = ()) -> dict[str, Fact]:
    """When, how it ended, how long it took, why it was refused, how well it is grounded (where something was drafted), what was lost."""
    refused = trace.refusal is not None
    facts: dict[str, Fact] = {
        "at": trace.created_at,
        "outcome": REFUSED if refused else FAILED if trace.outcome == FAILED else ANSWERED,
        "refused": refused,
        "claims": len(trace.claims),
        "recalled": any(step.name == RECALLED for step in trace.steps),
    }
    if "seconds" in trace.budget.get("used", {}):
        facts["seconds"] = float(trace.budget["used"]["seconds"])
    if trace.refusal is not None:
        facts["reason"] = trace.refusal.reason.value
    if "intent" in trace.plan:
        facts["intent"] = str(trace.plan["intent"])
    if grounding is not None and grounding.verdicts:
        facts |= {"groundedness": grounding.groundedness, "citation_precision": grounding.citation_precision}
    if degraded:
        facts["degraded"] = tuple(sorted(degraded))[:MAX_WORDS]
    return facts
