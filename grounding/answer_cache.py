"""Outcomes kept for a while. One is given again only to the same question under the same settings, on the same local day, over the same documents, and
only when the store still holds every word it shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any

from grounding.answers import Answer, Citation, Grounding, Outcome, Refusal, RefusalReason
from grounding.budget import Budget
from grounding.evidence import documents_named
from grounding.intents import Intent
from runtime.errors import ServiceError
from runtime.tenancy import Tenant
from search.caching.entries import Entries, Key
from search.caching.settled import Settled
from search.documents import Document, Filters
from search.filters import local_day, zone_named
from search.listing import filters_as_json
from search.ports import Engine
from search.ranking import Hit

PART = "cache"
"""What ``degraded`` names when the cache is lost."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything about a request that decides its outcome. ``at`` is when it was asked; of it, planning sees the local day of ``time_zone`` alone."""

    tenant: Tenant
    question: str
    filters: Filters
    top_k: int
    budget: Budget
    time_zone: str
    at: datetime

    def as_json(self) -> dict[str, Any]:
        """The request as plain JSON values."""
        return {
            "question": self.question,
            "filters": filters_as_json(self.filters),
            "top_k": self.top_k,
            "budget": list(astuple(self.budget)),
            "time_zone": self.time_zone,
            "day": local_day(self.at, zone_named(self.time_zone)).isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Made:
    """What a run came to, without what is its own: id, times and steps. ``run_id`` is that of the run that made it."""

    run_id: str
    plan: Mapping[str, Any]
    answer: Answer | None
    refusal: Refusal | None
    grounding: Grounding
    hits: tuple[Hit, ...]

    @property
    def outcome(self) -> str:
        """``answered``, or the reason of the refusal."""
        return "answered" if self.answer is not None else self.refusal.reason.value if self.refusal is not None else ""


@dataclass(frozen=True, slots=True)
class Look:
    """What a look into the cache brought. Without a key nothing may be kept; ``lost`` is for ``degraded``."""

    key: Key | None = None
    made: Made | None = None
    lost: Mapping[str, str] = field(default_factory=dict)


NO_LOOK = Look()


class AnswerCache:
    """The outcomes of one answerer."""

    def __init__(self, engine: Engine, entries: Entries, settled: Settled) -> None:
        self._engine = engine
        self._entries = entries
        self._settled = settled

    def look(self, asked: Asked) -> Look:
        """What is kept for this request.

        Raises:
            Unavailable: the engine cannot be reached; without it nothing that is kept can be borne out.
        """
        generation = self._settled.generation(asked.tenant)
        if generation is None:
            return NO_LOOK
        key = self._entries.key("answer", asked.tenant, generation, **asked.as_json())
        found = self._entries.recall(key, Made, asked.at, lambda made: self._sound(asked.tenant, made))
        if found.how == "error":
            return Look(lost={PART: f"{found.reason}; the answer was worked out anew, which took longer and changed nothing else"})
        return Look(key, found.value)

    def keep(self, asked: Asked, look: Look, outcome: Outcome) -> None:
        """Keep an outcome if it is whole, and would be the same at any time of that day."""
        if look.key is None or look.made is not None or outcome.degraded or _ran_out(outcome):
            return
        made = Made(outcome.run_id, outcome.trace.plan, outcome.answer, outcome.refusal, outcome.grounding, outcome.hits)
        try:
            stands = self._settled.stands(asked.tenant, look.key.generation) and not self._ends_now(asked, made)
        except ServiceError:
            return
        if stands:
            self._entries.keep(look.key, made, asked.at)

    def forget(self, tenant: Tenant) -> None:
        """Give up what is kept of this tenant.

        Raises:
            Unavailable: the cache does not serve us; what is left ends by itself.
        """
        self._entries.cache.forget(tenant)

    def _ends_now(self, asked: Asked, made: Made) -> bool:
        """A trend ends now where there are documents of the future, and so is another one a moment later."""
        if not any(part.get(name) == Intent.TREND.value for part in made.plan.get("parts", ()) for name in ("intent", "ruled")):
            return False
        last = self._engine.corpus(asked.tenant).last_occurred_at
        return last is not None and last > asked.at

    def _sound(self, tenant: Tenant, made: Made) -> bool:
        """Whether there is an answer or a refusal, of documents that are still there, in words that they still hold."""
        if (made.answer is None) == (made.refusal is None):
            return False
        citations, refusals = tuple(_citations(made)), tuple(_refusals(made))
        named = dict.fromkeys(citation.doc_id for citation in citations)
        named |= dict.fromkeys(hit.candidate.passage.doc_id for hit in made.hits)
        named |= dict.fromkeys(near.doc_id for refusal in refusals for near in refusal.nearest)
        documents = documents_named(self._engine, tenant, tuple(named))
        if documents.keys() != named.keys():
            return False
        return all(_quoted(citation, documents) for citation in citations) and all(_shown(hit, documents) for hit in made.hits)


def _ran_out(outcome: Outcome) -> bool:
    made = (outcome.refusal, *(each.refusal for each in (outcome.answer.unanswered if outcome.answer else ())))
    return any(refusal is not None and refusal.reason is RefusalReason.BUDGET_EXCEEDED for refusal in made)


def _citations(made: Made) -> Iterator[Citation]:
    for claim in made.answer.claims if made.answer else ():
        yield from (*claim.citations, *claim.counter_evidence)
    for verdict in made.grounding.verdicts:
        yield from (*verdict.citations, *verdict.counter_evidence)


def _refusals(made: Made) -> Sequence[Refusal]:
    unanswered = [each.refusal for each in made.answer.unanswered] if made.answer else []
    return [*([made.refusal] if made.refusal else []), *unanswered]


def _quoted(citation: Citation, documents: Mapping[str, Document]) -> bool:
    document = documents[citation.doc_id]
    return document.version == citation.version and document.text[citation.start : citation.end] == citation.quote


def _shown(hit: Hit, documents: Mapping[str, Document]) -> bool:
    candidate, passage = hit.candidate, hit.candidate.passage
    document = documents[passage.doc_id]
    return document.version == candidate.version and document.text[passage.start : passage.end] == passage.text
