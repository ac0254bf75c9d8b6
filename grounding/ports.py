"""The ports of grounding. A learned verifier or a language model takes a place here without anything else changing."""

from collections.abc import Sequence
from typing import Protocol

from grounding.answerability import Judgement
from grounding.answers import Draft, Evidence, Verdict
from grounding.question_parts import Plan
from grounding.replanning import Wish
from grounding.talk import Talk
from grounding.verifying import Verified
from runtime.clock import Deadline
from runtime.tenancy import Tenant
from search.ranking import Retrieval


class Drafter(Protocol):
    """Proposes claims; never trusted."""

    @property
    def model(self) -> str:
        """``extractive``, or the model that writes."""
        ...

    def draft(
        self, tenant: Tenant, question: str, retrieval: Retrieval, *, judgement: Judgement, deadline: Deadline, talk: Talk
    ) -> tuple[Draft, ...]:
        """Sentences that might answer, each with the ids said to carry it; possibly none. ``judgement`` is what the gate before found: every sentence of the
        retrieval with how likely it answers. A drafter that asks a language model puts every attempt and every loss into ``talk`` and never raises because
        of it."""
        ...


class Verifier(Protocol):
    """Decides whether a claim stands on the evidence. Looks at nothing else: not at who wrote it, not at the question's wishes."""

    def verify(self, drafts: Sequence[Draft], evidence: Evidence) -> tuple[Verdict, ...]:
        """One verdict per draft, in order. Every citation of a supported verdict is a span of a document in the evidence that supports the claim by
        itself; cited ids that do not are dropped, and other documents of the evidence that do are taken in their place (repair). An id that is
        not in the evidence supports nothing. ``counter_evidence`` are spans that say the opposite. Proofs of numbers are not checked here.
        Deterministic."""
        ...


class Planner(Protocol):
    """Reads a question beside the rules. It sees the question and nothing of any document."""

    def wishes(self, plan: Plan, *, talk: Talk) -> tuple[Wish, ...]:
        """One wish for each part of ``plan``, in order, or none at all. :func:`grounding.replanning.revised` takes of them what is allowed. Never raises
        because of a language model; every attempt and every loss goes into ``talk``."""
        ...


class Judge(Protocol):
    """Doubts what a verifier let pass. It can take a claim away and never add one."""

    def doubts(self, verified: Verified, places: Sequence[int], *, talk: Talk) -> frozenset[int]:
        """Which of ``places``, drafts of ``verified`` that are supported, are not borne out by their citations. Whatever else it answers has no effect. Never
        raises because of a language model; without an answer it doubts nothing, and ``talk`` says so."""
        ...
