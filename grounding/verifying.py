"""Draft, verify, prune, verify again: what is left are claims; what was dropped is counted by class of reason."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grounding.addressing import speaks_to_the_machine
from grounding.answerability import Judgement
from grounding.answers import Citation, Claim, ClaimKind, Draft, Grounding, Verdict
from grounding.asking import asks
from grounding.reading import read
from grounding.vetoes import opposing
from search.identity import normalised

MAX_APART = 3
"""Documents that leave a finding and speak for themselves."""

NO_DRAFT = "nothing was drafted"
NONE_LEFT = "no drafted claim is supported"

Check = Callable[[Sequence[Draft]], tuple[Verdict, ...]]


@dataclass(frozen=True, slots=True)
class Verified:
    """Drafts beside their verdicts."""

    drafts: tuple[Draft, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def supported(self) -> tuple[Draft, ...]:
        """The drafts that stand."""
        return tuple(draft for draft, verdict in zip(self.drafts, self.verdicts, strict=True) if verdict.supported)

    @property
    def dropped(self) -> tuple[tuple[Draft, Verdict], ...]:
        """The drafts that do not, with their verdicts."""
        return tuple((draft, verdict) for draft, verdict in zip(self.drafts, self.verdicts, strict=True) if not verdict.supported)

    @property
    def reasons(self) -> dict[str, int]:
        """How many were dropped for each class of reason."""
        return dict(sorted(Counter(str(verdict.because) for _, verdict in self.dropped).items()))

    def dropped_as_json(self) -> list[dict[str, object]]:
        """What was dropped and why, for the trace."""
        return [
            {
                **draft.as_json(),
                "because": verdict.because,
                "reason": verdict.reason,
                "contradicted": verdict.contradicted,
            }
            for draft, verdict in self.dropped
        ]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The supported drafts as claims, with the citations the verifier found."""
        pairs = zip(self.drafts, self.verdicts, strict=True)
        return tuple(_claim(draft, verdict) for draft, verdict in pairs if verdict.supported)


def grounding_of(first: Verified, last: Verified, *, accepted: bool) -> Grounding:
    """The report: the share of the first draft that stands, and how many of its citations do; verdicts of the last draft."""
    drafted = len(first.drafts)
    if not drafted:
        return Grounding(0.0, 0.0, 0.0, accepted=False, failure_reason=NO_DRAFT)
    cited = sum(len(draft.cites) for draft in last.drafts)
    kept = sum(len(_kept(draft, verdict)) for draft, verdict in zip(last.drafts, last.verdicts, strict=True))
    claims = last.claims
    return Grounding(
        groundedness=len(first.supported) / drafted,
        citation_precision=1.0 if not cited else kept / cited,
        coverage=sum(bool(claim.citations or claim.proof) for claim in claims) / len(claims) if claims else 0.0,
        accepted=accepted,
        failure_reason=None if accepted else NONE_LEFT,
        verdicts=last.verdicts,
    )


def _kept(draft: Draft, verdict: Verdict) -> set[str]:
    """Cited ids that carry the claim; for a number all of them, since counting again gave the same."""
    if draft.proof is not None:
        return set(draft.cites) if verdict.supported else set()
    return {citation.doc_id for citation in verdict.citations} & set(draft.cites)


def _claim(draft: Draft, verdict: Verdict) -> Claim:
    documents = {citation.doc_id for citation in verdict.citations}
    if draft.proof is not None:
        return Claim(draft.text, draft.kind, verdict.score, verdict.citations, (), draft.document_count, draft.proof)
    count = max(draft.document_count - len(set(draft.cites) - documents), len(documents))
    return Claim(
        text=draft.text,
        kind=ClaimKind.QUOTE if count == 1 and not _worded_anew(draft, verdict) else _said_by_several(draft.kind),
        support=verdict.score,
        citations=verdict.citations,
        counter_evidence=() if asks(draft.text) else _stated(verdict.counter_evidence),
        document_count=count,
    )


def _said_by_several(kind: ClaimKind) -> ClaimKind:
    return ClaimKind.FINDING if kind is ClaimKind.QUOTE else kind


def _worded_anew(draft: Draft, verdict: Verdict) -> bool:
    """A language model wrote it, and no document says it in these words: it is nobody's quotation."""
    return bool(draft.writer) and not any(same_words(draft.text, citation.quote) for citation in verdict.citations)


def same_words(text: str, quote: str) -> bool:
    """Equal but for case, punctuation and space."""
    return normalised(text) == normalised(quote)


def _stated(citations: tuple[Citation, ...]) -> tuple[Citation, ...]:
    """Without quotes that ask; a question contradicts nothing, and nothing contradicts it."""
    return tuple(citation for citation in citations if not asks(citation.quote))


def with_opposites_only(claim: Claim) -> Claim:
    """Without counter-evidence that merely gives another figure: two deliveries may take two and nine days, and neither contradicts the other."""
    stated = read(claim.text)
    kept = tuple(citation for citation in claim.counter_evidence if opposing(stated, read(citation.quote)))
    return replace(claim, counter_evidence=kept)


def spoken_apart(verified: Verified, judgement: Judgement) -> tuple[Draft, ...]:
    """Drafts of their own for documents that were grouped under a finding and do not bear it out word by word: their best sentences."""
    pairs = zip(verified.drafts, verified.verdicts, strict=True)
    lost = [
        doc_id
        for draft, verdict in pairs
        if verdict.supported and draft.proof is None and len(draft.cites) > 1
        for doc_id in draft.cites
        if doc_id not in {citation.doc_id for citation in verdict.citations}
    ]
    best = {sentence.doc_id: sentence.text for sentence in reversed(judgement.answers) if not speaks_to_the_machine(sentence.text)}
    return tuple(Draft(best[doc_id], ClaimKind.QUOTE, (doc_id,)) for doc_id in dict.fromkeys(lost) if doc_id in best)[:MAX_APART]
