"""One part of a question, from its tools to its verified claims or its refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from grounding.answerability import Answerability, Judgement
from grounding.answers import Citation, Claim, Draft, Evidence, Grounding, Refusal, RefusalReason
from grounding.counting import Counter, TooFew
from grounding.drafting import answering
from grounding.emptiness import emptied_by, nearest_documents
from grounding.evidence import copies, evidence_of, readable, reread
from grounding.intents import Form, Intent, wants_newest
from grounding.naming import Vocabulary
from grounding.overview import every_sentence, newest_hits
from grounding.ports import Drafter, Verifier
from grounding.proofs import check
from grounding.question_parts import Part
from grounding.recording import Recorder
from grounding.refusing import conflicting, no_documents, not_a_question, not_answered, off_topic, too_few, uncountable, unsupported
from grounding.relevance import passage_cosines, relevance
from grounding.themes import Names
from grounding.verifying import Verified, grounding_of, with_opposites_only
from runtime.clock import Clock
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import EVERYTHING
from search.ports import Embedder, Engine
from search.ranking import Hit, Retrieval
from search.retrieval import Retriever

NUMERIC = (Intent.COUNT, Intent.TOP, Intent.TREND, Intent.COMPARE)
NEWEST = 20
"""Documents among which a question for the latest looks."""

TOPIC_PASSAGES = 25
"""Passages read for a question about a topic, where it matters how many say the same; copies of them are counted beside."""

SINGLE_VOICES = 3
"""Quotes of one document each shown behind counted themes when nothing is said by several."""

THEMES_SHOWN = 3
"""Themes counted in front of the findings of a question without a topic."""


@dataclass(frozen=True, slots=True)
class Run:
    """What the parts of one question have in common."""

    tenant: Tenant
    recorder: Recorder
    vocabulary: Vocabulary
    top_k: int


@dataclass(slots=True)
class PartResult:
    """What became of a part: claims, or a refusal, with what was looked at on the way."""

    part: Part
    claims: tuple[Claim, ...] = ()
    refusal: Refusal | None = None
    grounding: Grounding | None = None
    hits: tuple[Hit, ...] = ()
    documents_read: int = 0
    degraded: dict[str, str] = field(default_factory=dict)


class Resolver:
    """Runs the tools of a part and its gates, in order; the first gate that fails names the refusal."""

    def __init__(
        self,
        engine: Engine,
        retriever: Retriever,
        drafter: Drafter,
        verifier: Verifier,
        embedder: Embedder,
        names: Names,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._engine = engine
        self._retriever = retriever
        self._drafter = drafter
        self._verifier = verifier
        self._embedder = embedder
        self._names = names
        self._clock = clock
        self._settings = settings
        self._answerability = Answerability()

    def resolve(self, run: Run, result: PartResult) -> None:
        """Fill ``result`` with claims or a refusal.

        Raises:
            BudgetExceeded: a ceiling was reached; ``result`` holds what was found before.
        """
        part = result.part
        if part.intent is Intent.SMALL_TALK:
            result.refusal = not_a_question()
            return
        if part.intent in NUMERIC and part.uncountable:
            result.refusal = uncountable()
            return
        if part.intent in NUMERIC and (self._count(run, result) or result.refusal):
            return
        counted: tuple[Claim, ...] = ()
        if part.intent is Intent.ACCOUNT or (part.intent is Intent.EVIDENCE and part.form is Form.BROAD):
            self._count(run, result)
            counted, result.claims = result.claims, ()
        if counted or result.refusal is None or result.refusal.reason is not RefusalReason.NO_DOCUMENTS:
            result.refusal = None
            self._read(run, result)
        if counted:
            result.refusal = None
            result.claims = (*counted, *_beside_counts(result.claims, part))

    def _count(self, run: Run, result: PartResult) -> bool:
        """Numeric claims, each proven by counting again; whether there are any. Documents that changed meanwhile are counted once more."""
        moved = False
        for _ in range(2):
            drafts = self._numbers(run, result)
            if not drafts:
                return False
            with run.recorder.step("prove") as step:
                run.recorder.spending.call("prove")
                verified = Verified(drafts, check(self._engine, run.tenant, drafts, moved=moved))
                step.detail.update(
                    claims=len(drafts), proven=len(verified.supported), generation=_generation(drafts), dropped=_dropped(verified)
                )
            if not verified.dropped:
                break
            moved = True
        result.grounding = grounding_of(verified, verified, accepted=bool(verified.supported))
        result.claims = self._final(run, verified.claims)
        if not result.claims:
            result.refusal = unsupported(verified.reasons, (), result.grounding.groundedness, self._settings.min_groundedness)
        return bool(result.claims)

    def _numbers(self, run: Run, result: PartResult) -> tuple[Draft, ...]:
        part, settings = result.part, self._settings
        counter = Counter(
            self._engine,
            run.tenant,
            settings.min_share_documents,
            self._clock.now(),
            run.vocabulary.themes,
            self._names.like(run.vocabulary.themes),
        )
        with run.recorder.step("count") as step:
            run.recorder.spending.call("aggregate")
            found = (
                counter.overview(part, THEMES_SHOWN) if part.form is Form.BROAD and part.intent is Intent.EVIDENCE else counter.drafts(part)
            )
            if isinstance(found, TooFew):
                nearest = nearest_documents(self._engine, run.tenant, found.doc_ids)
                result.refusal = too_few(found, settings.min_share_documents, nearest)
                step.outcome = "refused"
                step.detail.update(documents=found.documents, wanted=settings.min_share_documents)
                return ()
            if found and found[0].proof is not None and found[0].proof.denominator == 0:
                self._nothing_there(run, result)
                return ()
            step.detail.update(claims=len(found))
        return found

    def _read(self, run: Run, result: PartResult) -> None:
        """The gates of evidence, then draft and verification."""
        broad = result.part.form is Form.BROAD
        retrieval = self._retrieved(run, result)
        if result.refusal is None and not broad:
            self._relevance_gate(run, result, retrieval)
        if result.refusal is None:
            judgement = every_sentence(retrieval) if broad else self._answerability_gate(run, result, retrieval)
            if result.refusal is None:
                self._draft_and_verify(run, result, retrieval, judgement)

    def _retrieved(self, run: Run, result: PartResult) -> Retrieval:
        part, spending = result.part, run.recorder.spending
        depth = max(run.top_k, min(self._settings.evidence_limit, TOPIC_PASSAGES)) if part.form is Form.TOPIC else run.top_k
        with run.recorder.step("retrieve") as step:
            spending.call("search")
            found = self._retriever.retrieve(run.tenant, part.subject, part.filters, top_k=depth, deadline=spending.deadline)
            result.hits = found.hits[: run.top_k]
            result.degraded |= found.degraded
            step.detail.update(
                scope=found.scope, hits=[hit.candidate.passage.passage_id for hit in result.hits], degraded=dict(found.degraded)
            )
            if found.scope == 0:
                step.outcome = "refused"
                self._nothing_there(run, result)
                return found
            if part.form is Form.BROAD:
                found = self._overview(run, part, found)
            retrieval, left_out = readable(found, spending)
            result.documents_read = sum(hit.group_size for hit in retrieval.hits)
            step.detail.update(read=len(retrieval.hits), documents_read=result.documents_read)
        if left_out:
            result.degraded["evidence"] = f"{left_out} more passages were not read: the token budget is spent"
        return retrieval

    def _overview(self, run: Run, part: Part, found: Retrieval) -> Retrieval:
        """What was found, and the newest documents beside it; those alone when the question wants the latest."""
        kept = () if wants_newest(part.question) else found.hits
        limit = NEWEST if wants_newest(part.question) else min(self._settings.evidence_limit, TOPIC_PASSAGES) - len(kept)
        return replace(found, hits=(*kept, *newest_hits(self._engine, run.tenant, part.filters, max(1, limit), beside=kept)))

    def _nothing_there(self, run: Run, result: PartResult) -> None:
        any_at_all = self._engine.documents(run.tenant, EVERYTHING, first=1).total > 0
        emptied = emptied_by(self._engine, run.tenant, result.part.filters) if any_at_all else ()
        result.refusal = no_documents(emptied, any_at_all=any_at_all)

    def _relevance_gate(self, run: Run, result: PartResult, retrieval: Retrieval) -> None:
        question, floor = result.part.subject, self._settings.min_evidence_relevance
        with run.recorder.step("relevance") as step:
            found = relevance(question, retrieval, self._embedder)
            step.detail.update(score=found.score, floor=floor, parts=dict(found.parts))
            if found.score < floor:
                step.outcome = "refused"
                result.refusal = off_topic(question, retrieval, found.score, floor, missing_code=found.missing_code)

    def _answerability_gate(self, run: Run, result: PartResult, retrieval: Retrieval) -> Judgement:
        question, hits = result.part.subject, retrieval.hits
        with run.recorder.step("answerability") as step:
            cosines = passage_cosines(question, hits, self._embedder)
            judgement = self._answerability.judge(question, [hit.candidate for hit in hits], self._embedder, cosines=cosines)
            step.detail.update(
                score=judgement.probability, threshold=judgement.threshold, missing=judgement.missing, unmet=list(judgement.unmet)
            )
            stating = answering(judgement, result.part.form)
            step.detail.update(answering=len(stating), asking=len(judgement.answers) - len(stating) if judgement.answered else 0)
            if not stating:
                step.outcome = "refused"
                result.refusal = not_answered(question, retrieval, judgement)
        return judgement

    def _draft_and_verify(self, run: Run, result: PartResult, retrieval: Retrieval, judgement: Judgement) -> None:
        with run.recorder.step("draft") as step:
            run.recorder.spending.call("draft")
            drafts = self._drafter.draft(
                run.tenant, result.part.subject, retrieval, judgement=judgement, deadline=run.recorder.spending.deadline
            )[: self._settings.max_claims]
            step.detail.update(model=self._drafter.model, drafts=[{"text": draft.text, "cites": list(draft.cites)} for draft in drafts])
            if not drafts:
                step.outcome = "refused"
                result.refusal = not_answered(result.part.question, retrieval, judgement)
                return
        evidence = evidence_of(retrieval, drafts, judgement, copies(self._engine, run.tenant, drafts, retrieval))
        first = last = self._verified(run, drafts, evidence)
        for _ in range(self._settings.ask_max_repairs):
            if not last.dropped or not last.supported:
                break
            with run.recorder.step("repair") as step:
                step.detail.update(dropped=_dropped(last), kept=len(last.supported))
            last = self._verified(run, last.supported, evidence)
        self._accept(run, result, first, last)

    def _verified(self, run: Run, drafts: Sequence[Draft], evidence: Evidence) -> Verified:
        with run.recorder.step("verify") as step:
            run.recorder.spending.call("verify")
            verified = Verified(tuple(drafts), self._verifier.verify(drafts, evidence))
            step.detail.update(claims=len(drafts), supported=len(verified.supported), dropped=_dropped(verified))
        return verified

    def _accept(self, run: Run, result: PartResult, first: Verified, last: Verified) -> None:
        """What leaves, or why nothing does. When no repair was allowed, a draft below the groundedness asked for is refused whole."""
        floor = self._settings.min_groundedness
        groundedness = len(last.supported) / len(last.drafts)
        claims = self._final(run, last.claims) if groundedness >= floor else ()
        result.grounding = grounding_of(first, last, accepted=bool(claims))
        decides = result.part.form is Form.YES_NO
        claims = claims if decides else tuple(with_opposites_only(claim) for claim in claims)
        if decides and claims and all(_outvoted(claim) for claim in claims):
            result.refusal = conflicting(claims, result.hits)
        elif not claims:
            result.refusal = unsupported(first.reasons, result.hits, result.grounding.groundedness, floor)
        else:
            result.claims = claims

    def _final(self, run: Run, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """The claims whose quotes the store bears out at this moment."""
        with run.recorder.step("finalize") as step:
            every = [citation for claim in claims for citation in (*claim.citations, *claim.counter_evidence)]
            kept = reread(self._engine, run.tenant, every)
            final = tuple(still for claim in claims if (still := _still(claim, kept)) is not None)
            step.detail.update(claims=len(final), citations=len(kept), withdrawn=len(set(every)) - len(kept))
        return final


def _beside_counts(claims: Sequence[Claim], part: Part) -> Sequence[Claim]:
    """Findings to stand behind a count: all of an account's; elsewhere those of several documents, or a few single voices when there are none."""
    shared = tuple(claim for claim in claims if claim.document_count > 1)
    return claims if part.intent is Intent.ACCOUNT else shared or claims[:SINGLE_VOICES]


def _still(claim: Claim, kept: Mapping[Citation, Citation]) -> Claim | None:
    """The claim with the citations that are left; None when a claim that needs one has none."""
    citations = tuple(kept[citation] for citation in claim.citations if citation in kept)
    if not citations and claim.proof is None:
        return None
    lost = len(claim.citations) - len(citations) if claim.proof is None else 0
    counter = tuple(kept[citation] for citation in claim.counter_evidence if citation in kept)
    return replace(claim, citations=citations, counter_evidence=counter, document_count=claim.document_count - lost)


def _outvoted(claim: Claim) -> bool:
    return claim.proof is None and len({citation.doc_id for citation in claim.counter_evidence}) > claim.document_count


def _generation(drafts: Sequence[Draft]) -> int | None:
    return drafts[0].proof.generation if drafts[0].proof else None


def _dropped(verified: Verified) -> list[dict[str, object]]:
    return [
        {
            "text": draft.text,
            "cites": list(draft.cites),
            "because": verdict.because,
            "reason": verdict.reason,
            "contradicted": verdict.contradicted,
        }
        for draft, verdict in verified.dropped
    ]
