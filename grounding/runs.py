"""What one run of several parts shares, and what becomes of each part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grounding.answers import Citation, Claim, Grounding, Refusal
from grounding.emptiness import emptied_by
from grounding.evidence import reread
from grounding.naming import Vocabulary
from grounding.question_parts import Part
from grounding.recording import Recorder
from grounding.refusing import no_documents
from runtime.tenancy import Tenant
from search.documents import EVERYTHING
from search.ports import Engine
from search.ranking import Hit


@dataclass(frozen=True, slots=True)
class Run:
    """What the parts of one question have in common."""

    tenant: Tenant
    recorder: Recorder
    vocabulary: Vocabulary
    top_k: int


@dataclass(slots=True)
class PartResult:
    """What became of a part: claims, or a refusal, with what was looked at on the way. ``writer`` is who drafted the claims that were read, not counted;
    ``unmet`` are words of the question that nothing read mentions."""

    part: Part
    claims: tuple[Claim, ...] = ()
    refusal: Refusal | None = None
    grounding: Grounding | None = None
    hits: tuple[Hit, ...] = ()
    documents_read: int = 0
    unmet: tuple[str, ...] = ()
    writer: str = ""
    degraded: dict[str, str] = field(default_factory=dict)


def nothing_there(engine: Engine, run: Run, part: Part) -> Refusal:
    """The refusal for a part whose filters leave no document."""
    any_at_all = engine.documents(run.tenant, EVERYTHING, first=1).total > 0
    return no_documents(emptied_by(engine, run.tenant, part.filters) if any_at_all else (), any_at_all=any_at_all)


def final_claims(engine: Engine, run: Run, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims whose quotes the store bears out at this moment: the last step before they leave."""
    with run.recorder.step("finalize") as step:
        every = [citation for claim in claims for citation in (*claim.citations, *claim.counter_evidence)]
        kept = reread(engine, run.tenant, every)
        final = tuple(still for claim in claims if (still := _still(claim, kept)) is not None)
        step.detail.update(claims=len(final), citations=len(kept), withdrawn=len(set(every)) - len(kept))
    return final


def _still(claim: Claim, kept: Mapping[Citation, Citation]) -> Claim | None:
    """The claim with the citations that are left; None when a claim that needs one has none."""
    citations = tuple(kept[citation] for citation in claim.citations if citation in kept)
    if not citations and claim.proof is None:
        return None
    lost = len(claim.citations) - len(citations) if claim.proof is None else 0
    counter = tuple(kept[citation] for citation in claim.counter_evidence if citation in kept)
    return replace(claim, citations=citations, counter_evidence=counter, document_count=claim.document_count - lost)
