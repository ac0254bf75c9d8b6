"""The two outcomes of ``ask``, and everything an outcome is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from search.documents import Filters
from search.ranking import Candidate, Hit, Retrieval


class ClaimKind(StrEnum):
    """What a claim asserts, which decides how it is verified."""

    QUOTE = "QUOTE"
    FINDING = "FINDING"
    COUNT = "COUNT"
    TREND = "TREND"
    COMPARISON = "COMPARISON"


class RefusalReason(StrEnum):
    """Why a question was not answered; the first gate that fails names it."""

    NOT_A_QUESTION = "NOT_A_QUESTION"
    NO_DOCUMENTS = "NO_DOCUMENTS"
    OFF_TOPIC = "OFF_TOPIC"
    NOT_ANSWERED = "NOT_ANSWERED"
    UNSUPPORTED = "UNSUPPORTED"
    CONFLICTING = "CONFLICTING"
    TOO_FEW = "TOO_FEW"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"


Because = Literal["", "overlap", "number", "date", "negation", "entity", "aggregate", "quantifier", "unknown_id", "question", "judge"]
"""The class of reason a claim was not accepted for; empty when it was. ``question``: it stands, and answers something else; ``judge``: a judge doubts
it."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a claim stands: ``document.text[start:end] == quote`` in code points, in that version. ``support`` in 0..1."""

    doc_id: str
    version: int
    start: int
    end: int
    quote: str
    support: float


@dataclass(frozen=True, slots=True)
class Proof:
    """The aggregation that a number rests on; running it again must give ``value`` and ``denominator``.

    ``aggregation`` is what is counted by: ``documents``, ``theme``, ``source``, ``account``, ``day``, ``week`` or ``month``. With a ``bucket`` the value is
    that bucket's and the denominator all matching documents; without one the value is all matching documents and the denominator all that pass the filters.
    ``counts`` holds the whole series of a trend; ``against`` is the other side of a comparison.
    """

    aggregation: str
    filters: Filters
    match: str | None
    time_zone: str
    value: int
    denominator: int
    doc_ids: tuple[str, ...]
    cursor: str | None
    generation: int
    bucket: str | None = None
    counts: tuple[tuple[str, int], ...] = ()
    against: "Proof | None" = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One sentence somebody proposes, with the ids that are said to carry it. Nobody trusts it yet. ``writer`` is the language model that wrote it, if
    one did, and ``seen`` the documents that it was shown: any of them may have lent it words."""

    text: str
    kind: ClaimKind
    cites: tuple[str, ...]
    proof: Proof | None = None
    document_count: int = 1
    writer: str = ""
    seen: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For the trace; with every document the words may come from, so that they can be withheld when one is deleted."""
        return {"text": self.text, "cites": list(self.cites)} | ({"doc_ids": list(self.seen)} if self.seen else {})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier found: supported, contradicted or neither, by which spans, and why not."""

    supported: bool
    contradicted: bool
    score: float
    citations: tuple[Citation, ...]
    counter_evidence: tuple[Citation, ...] = ()
    because: Because = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One verified sentence. ``document_count`` says how many matching documents say so; ``proof`` stands behind numbers."""

    text: str
    kind: ClaimKind
    support: float
    citations: tuple[Citation, ...]
    counter_evidence: tuple[Citation, ...] = ()
    document_count: int = 1
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class Nearest:
    """A document that came closest to a refused question."""

    doc_id: str
    score: float
    snippet: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer: the gate, its numbers, what was nearest and what would help."""

    reason: RefusalReason
    message: str
    gate: str
    score: float | None = None
    threshold: float | None = None
    nearest: tuple[Nearest, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """One part of a question of several parts that got no answer, and why."""

    question: str
    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Answer:
    """Verified claims only. ``text`` is made from the claims; ``confidence`` is calibrated or None; ``unanswered`` names parts of the question
    that the documents do not answer."""

    text: str
    claims: tuple[Claim, ...]
    model: str
    confidence: float | None = None
    unanswered: tuple[Unanswered, ...] = ()


@dataclass(frozen=True, slots=True)
class Grounding:
    """The verifier's report on the last draft. Ratios in 0..1; all 0 when nothing was drafted."""

    groundedness: float
    citation_precision: float
    coverage: float
    accepted: bool
    failure_reason: str | None
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run. ``outcome`` is ``started`` until it is known."""

    name: str
    started_ms: float
    ms: float
    outcome: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """Every step of one run, in order, kept even when the run fails."""

    run_id: str
    question: str
    plan: Mapping[str, Any]
    steps: tuple[Step, ...]
    budget: Mapping[str, Any]
    created_at: datetime
    outcome: str
    claims: tuple[Claim, ...] = ()
    refusal: Refusal | None = None
    deleted_doc_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ``ask`` returns: exactly one of ``answer`` and ``refusal``, with the report, the ranking and the trace."""

    run_id: str
    question: str
    answer: Answer | None
    refusal: Refusal | None
    grounding: Grounding
    hits: tuple[Hit, ...]
    trace: Trace
    degraded: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verifier may look at: the candidates retrieved for the question, by document."""

    candidates: tuple[Candidate, ...]

    @classmethod
    def of(cls, retrieval: Retrieval) -> "Evidence":
        """The evidence a retrieval brought back."""
        return cls(tuple(hit.candidate for hit in retrieval.hits))
