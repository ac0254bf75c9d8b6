"""The text of an answer, made from its claims and nothing else."""

from collections.abc import Sequence

from grounding.answers import Claim
from grounding.asking import asks


def text_of(claims: Sequence[Claim], documents_read: int) -> str:
    """One line per claim; a finding with how many of the documents read say so, a contested one with how many say the opposite."""
    return "\n".join(_line(claim, documents_read) for claim in claims)


def _line(claim: Claim, documents_read: int) -> str:
    if claim.proof is not None:
        return claim.text
    against = len({citation.doc_id for citation in claim.counter_evidence})
    notes = []
    if claim.document_count > 1:
        notes.append(f"{'asked' if asks(claim.text) else 'said'} in {claim.document_count} of {documents_read} documents read")
    elif against:
        notes.append("said in 1 document")
    if against:
        notes.append(f"{against} say{'s' * (against == 1)} the opposite")
    return f"{claim.text} ({'; '.join(notes)})" if notes else claim.text
