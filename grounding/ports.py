"""The ports of grounding. A learned verifier or a language model takes a place here without anything else changing."""

from collections.abc import Sequence
from typing import Protocol

from grounding.answerability import Judgement
from grounding.answers import Draft, Evidence, Verdict
from runtime.clock import Deadline
from runtime.tenancy import Tenant
from search.ranking import Retrieval


class Drafter(Protocol):
    """Proposes claims; never trusted."""

    @property
    def model(self) -> str:
        """``extractive``, or the model that writes."""
        ...

    def draft(self, tenant: Tenant, question: str, retrieval: Retrieval, *, judgement: Judgement, deadline: Deadline) -> tuple[Draft, ...]:
        """Sentences that might answer, each with the ids said to carry it; possibly none. ``judgement`` is what the gate before found: every sentence of the
        retrieval with how likely it answers."""
        ...


class Verifier(Protocol):
    """Decides whether a claim stands on the evidence. Looks at nothing else: not at who wrote it, not at the question's wishes."""

    def verify(self, drafts: Sequence[Draft], evidence: Evidence) -> tuple[Verdict, ...]:
        """One verdict per draft, in order. Every citation of a supported verdict is a span of a document in the evidence that supports the claim by
        itself; cited ids that do not are dropped, and other documents of the evidence that do are taken in their place (repair). An id that is
        not in the evidence supports nothing. ``counter_evidence`` are spans that say the opposite. Proofs of numbers are not checked here.
        Deterministic."""
        ...
