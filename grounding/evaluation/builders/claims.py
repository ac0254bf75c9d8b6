"""Sets of claims with evidence, asked as questions over their own evidence: supported ones must be answered, the others refused."""

from collections.abc import Iterable
from dataclasses import dataclass

from grounding.answers import RefusalReason
from grounding.evaluation.builders.built import BuiltSet, document
from grounding.evaluation.cases import Case, Expected
from search.documents import Filters

REASONS = frozenset({RefusalReason.NOT_ANSWERED, RefusalReason.UNSUPPORTED, RefusalReason.OFF_TOPIC, RefusalReason.CONFLICTING})


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim, the evidence it is judged on, and the published label."""

    case_id: str
    claim: str
    evidence: str
    label: str
    supported: bool


def claim_set(prefix: str, source: str, claims: Iterable[JudgedClaim]) -> BuiltSet:
    """One document per evidence, one case per claim. The question is ``Is it said that …?``, as a claim by itself asks nothing."""
    documents, cases, needs = {}, [], {}
    for claim in claims:
        if not claim.evidence.strip():
            continue
        doc_id = f"{prefix}-{claim.case_id}"
        documents[doc_id] = document(doc_id, claim.evidence, source)
        expected = Expected(answered=True, documents=(doc_id,)) if claim.supported else Expected(answered=False, reasons=REASONS)
        question = f"Is it said that {claim.claim.strip().rstrip('.')}?"
        cases.append(Case(claim.case_id, question, expected, Filters(doc_ids=(doc_id,)), kind=claim.label))
        needs[claim.case_id] = (doc_id,)
    return BuiltSet(documents, tuple(cases), needs)
