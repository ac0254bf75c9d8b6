"""Evidence as claims: retrieve, the gates in order, draft, verify, repair."""

from collections.abc import Sequence
from dataclasses import replace

from grounding.answerability import Answerability, Judgement
from grounding.answers import Claim, Draft, Evidence, Verdict
from grounding.drafting import answering
from grounding.evidence import copies, evidence_of, readable, telling_hits, without_orders
from grounding.intents import Form, wants_newest
from grounding.lowering import beside_the_point, kept_to_words, lowered, without, worded_anew
from grounding.models import NO_MODELS, Models
from grounding.overview import every_sentence, newest_hits
from grounding.ports import Drafter, Verifier
from grounding.proofs import NUMERIC, check
from grounding.question_parts import Part
from grounding.refusing import by_words_alone, conflicting, not_answered, off_topic, unsupported
from grounding.relevance import passage_cosines, relevance
from grounding.runs import PartResult, Run, final_claims, nothing_there
from grounding.spelling import respelled
from grounding.stances import statement_of, with_other_side
from grounding.vector_memory import RememberedVectors
from grounding.verifying import Verified, grounding_of, spoken_apart, with_opposites_only
from runtime.errors import BudgetExceeded, Unavailable
from runtime.settings import Settings
from search.ports import Engine
from search.ranking import Retrieval
from search.retrieval import Retriever

QUOTED = "sentences of the documents are quoted instead"
"""What a run does without a language model."""

VERBATIM = "what is meant could not be compared, so only what documents say word for word is told"
"""What a run does without the embedder."""

MEANING = frozenset(("vector_leg", "embedder"))
"""Parts without which documents are found and weighed by their words alone."""

BESIDE = 5
"""Hits of a planner's wording that are read behind those of the question's own."""

NEWEST = 20
"""Documents among which a question for the latest looks."""

TOPIC_PASSAGES = 25
"""Passages read for a question about a topic, where it matters how many say the same; copies of them are counted beside."""


class Readings:
    """Answers from what documents say; the first gate that fails names the refusal."""

    def __init__(
        self,
        engine: Engine,
        retriever: Retriever,
        drafter: Drafter,
        verifier: Verifier,
        reader: RememberedVectors,
        settings: Settings,
        models: Models = NO_MODELS,
    ) -> None:
        self._engine = engine
        self._retriever = retriever
        self._drafter = drafter
        self._verifier = verifier
        self._reader = reader
        self._settings = settings
        self._models = models
        self._answerability = Answerability()

    def resolve(self, run: Run, result: PartResult) -> None:
        """Fill ``result`` with claims or a refusal. Without the embedder every gate still stands, and nothing leaves but what documents say word for word."""
        with self._reader.dispensable(run.recorder.spending.deadline) as loss:
            try:
                self._read(run, result)
            finally:
                if loss.why:
                    result.degraded["embedder"] = f"{loss.why}; {VERBATIM}"
                if result.refusal and MEANING & result.degraded.keys():
                    result.refusal = by_words_alone(result.refusal)

    def _read(self, run: Run, result: PartResult) -> None:
        broad = result.part.form is Form.BROAD
        retrieval = self._retrieved(run, result)
        if result.refusal is None and not broad and self._respelled(run, result, retrieval):
            retrieval = self._retrieved(run, result)
        if result.refusal is None and not broad:
            self._relevance_gate(run, result, retrieval)
        if result.refusal is None:
            judgement = self._open(result.part, retrieval) if broad else self._answerability_gate(run, result, retrieval)
            if result.refusal is None:
                self._draft_and_verify(run, result, retrieval, judgement)

    def _retrieved(self, run: Run, result: PartResult) -> Retrieval:
        part, spending = result.part, run.recorder.spending
        depth = max(run.top_k, min(self._settings.evidence_limit, TOPIC_PASSAGES))
        with run.recorder.step("retrieve") as step:
            spending.call("search")
            found = self._retriever.retrieve(run.tenant, part.subject, part.filters, top_k=depth, deadline=spending.deadline)
            result.hits = found.hits[: run.top_k]
            result.degraded |= found.degraded
            step.detail.update(
                scope=found.scope, hits=[hit.candidate.passage.passage_id for hit in result.hits], degraded=dict(found.degraded)
            )
            self._reader.remember(found)
            if found.scope == 0:
                step.outcome = "refused"
                result.refusal = nothing_there(self._engine, run, part)
                return found
            if part.form in (Form.FACT, Form.YES_NO):
                found = replace(found, hits=telling_hits(found.hits, run.top_k))
            if part.search:
                found = self._beside(run, part, found)
            if part.form is Form.BROAD:
                found = self._overview(run, part, found)
            if part.theme is not None:
                found = self._beyond_theme(run, part, found)
            retrieval, left_out = readable(found, spending)
            result.documents_read = sum(hit.group_size for hit in retrieval.hits)
            step.detail.update(read=len(retrieval.hits), documents_read=result.documents_read)
        if left_out:
            result.degraded["evidence"] = f"{left_out} more passages were not read: the token budget is spent"
        return retrieval

    def _respelled(self, run: Run, result: PartResult, retrieval: Retrieval) -> bool:
        """Whether the question misspells words of the documents found; it is asked again as they write them."""
        part = result.part
        meant = respelled(part.subject, (hit.candidate.passage.text for hit in retrieval.hits))
        if meant == part.subject:
            return False
        with run.recorder.step("spelling") as step:
            step.detail.update(written=part.subject, meant=meant)
        result.part = replace(part, subject=meant)
        return True

    def _overview(self, run: Run, part: Part, found: Retrieval) -> Retrieval:
        """What was found, and the newest documents beside it; those alone when the question wants the latest."""
        kept = () if wants_newest(part.question) else found.hits
        limit = NEWEST if wants_newest(part.question) else min(self._settings.evidence_limit, TOPIC_PASSAGES) - len(kept)
        return replace(found, hits=(*kept, *newest_hits(self._engine, run.tenant, part.filters, max(1, limit), beside=kept)))

    def _beside(self, run: Run, part: Part, found: Retrieval) -> Retrieval:
        """Behind what the question found, the first that another wording of it finds under the same filters."""
        run.recorder.spending.call("search")
        more = self._retriever.retrieve(run.tenant, part.search, part.filters, top_k=run.top_k, deadline=run.recorder.spending.deadline)
        known = {hit.candidate.group_key for hit in found.hits}
        return replace(found, hits=(*found.hits, *[hit for hit in more.hits if hit.candidate.group_key not in known][:BESIDE]))

    def _beyond_theme(self, run: Run, part: Part, found: Retrieval) -> Retrieval:
        """Behind the documents of the theme those that carry another or none and may be about it all the same."""
        everywhere = replace(part.filters, theme_ids=None)
        run.recorder.spending.call("search")
        more = self._retriever.retrieve(run.tenant, part.subject, everywhere, top_k=run.top_k, deadline=run.recorder.spending.deadline)
        known = {hit.candidate.group_key for hit in found.hits}
        return replace(found, hits=(*found.hits, *(hit for hit in more.hits if hit.candidate.group_key not in known)))

    def _relevance_gate(self, run: Run, result: PartResult, retrieval: Retrieval) -> None:
        question, floor = result.part.subject, self._settings.min_evidence_relevance
        with run.recorder.step("relevance") as step:
            found = relevance(question, retrieval, self._reader)
            step.detail.update(score=found.score, floor=floor, parts=dict(found.parts))
            if found.score < floor:
                step.outcome = "refused"
                result.refusal = off_topic(question, retrieval, found.score, floor, missing_code=found.missing_code)

    def _answerability_gate(self, run: Run, result: PartResult, retrieval: Retrieval) -> Judgement:
        question = result.part.subject
        with run.recorder.step("answerability") as step:
            judgement = self._judged(question, retrieval)
            result.unmet = judgement.unmet
            step.detail.update(
                score=judgement.probability, threshold=judgement.threshold, missing=judgement.missing, unmet=list(judgement.unmet)
            )
            stating = answering(judgement, result.part.form, question)
            step.detail.update(answering=len(stating), asking=len(judgement.answers) - len(stating) if judgement.answered else 0)
            if not stating:
                step.outcome = "refused"
                result.refusal = not_answered(question, retrieval, judgement)
        return judgement

    def _open(self, part: Part, retrieval: Retrieval) -> Judgement:
        """Nothing is beside the point where no topic is asked for. Within a theme the sentences nearest to it go first; documents that do not carry it
        must answer by what they say."""
        if part.theme is None:
            return every_sentence(retrieval)
        judgement = self._judged(part.subject, retrieval)
        labelled = {hit.candidate.passage.passage_id for hit in retrieval.hits if hit.candidate.theme_id == part.theme}
        kept = tuple(
            sentence for sentence in judgement.sentences if sentence.passage_id in labelled or sentence.score >= judgement.threshold
        )
        return replace(judgement, threshold=0.0, sentences=kept)

    def _judged(self, question: str, retrieval: Retrieval) -> Judgement:
        cosines = passage_cosines(question, retrieval.hits, self._reader)
        return self._answerability.judge(question, [hit.candidate for hit in retrieval.hits], self._reader, cosines=cosines)

    def _draft_and_verify(self, run: Run, result: PartResult, retrieval: Retrieval, judgement: Judgement) -> None:
        """What a language model wrote, where one is asked and something of it stands; otherwise sentences of the documents."""
        if self._models.writer is not None and self._written(run, result, retrieval, judgement, self._models.writer):
            return
        result.claims, result.refusal, result.grounding = (), None, None
        drafts = self._drafted(run, result, retrieval, judgement, self._drafter)
        if not drafts:
            result.refusal = not_answered(result.part.question, retrieval, judgement)
            return
        self._checked(run, result, retrieval, judgement, drafts)

    def _written(self, run: Run, result: PartResult, retrieval: Retrieval, judgement: Judgement, writer: Drafter) -> bool:
        """Whether claims of a language model stand. Nothing that goes wrong here ends the run."""
        talk = run.recorder.talk
        try:
            drafts = self._drafted(run, result, retrieval, judgement, writer)
            if drafts:
                self._checked(run, result, retrieval, judgement, drafts)
        except (BudgetExceeded, Unavailable) as error:
            talk.lose("draft", f"what a language model wrote could not be checked ({error}); {QUOTED}")
            return False
        stands = bool(result.claims) and result.writer != self._drafter.model
        if drafts and not stands:
            talk.lose("draft", f"nothing that {drafts[0].writer or writer.model} wrote is borne out by the documents; {QUOTED}")
        return stands

    def _drafted(self, run: Run, result: PartResult, retrieval: Retrieval, judgement: Judgement, drafter: Drafter) -> tuple[Draft, ...]:
        spending, talk = run.recorder.spending, run.recorder.talk
        with run.recorder.step("draft") as step:
            if drafter is self._drafter:
                spending.call("draft")
            drafts = drafter.draft(run.tenant, result.part.subject, retrieval, judgement=judgement, deadline=spending.deadline, talk=talk)[
                : self._settings.max_claims
            ]
            writer = (drafts[0].writer if drafts else "") or drafter.model
            step.detail.update(model=writer, drafts=[draft.as_json() for draft in drafts], **talk.taken())
            if not drafts:
                step.outcome = "refused" if drafter is self._drafter else "fell_back"
        return drafts

    def _checked(self, run: Run, result: PartResult, retrieval: Retrieval, judgement: Judgement, drafts: tuple[Draft, ...]) -> None:
        evidence = evidence_of(retrieval, drafts, judgement, copies(self._engine, run.tenant, drafts, retrieval))
        if any(draft.writer for draft in drafts):
            evidence = without_orders(evidence)
        first = last = self._verified(run, result.part, drafts, evidence, judgement)
        apart = spoken_apart(first, judgement)
        for _ in range(self._settings.ask_max_repairs):
            if not (last.dropped or apart) or not last.supported:
                break
            with run.recorder.step("repair") as step:
                step.detail.update(dropped=last.dropped_as_json(), kept=len(last.supported), apart=[list(draft.cites) for draft in apart])
            last, apart = self._verified(run, result.part, (*last.supported, *apart), evidence, judgement), ()
        last = self._doubted(run, last)
        result.writer = next((draft.writer for draft in last.supported if draft.writer), self._drafter.model)
        self._accept(run, result, first, last)

    def _verified(self, run: Run, part: Part, drafts: Sequence[Draft], evidence: Evidence, judgement: Judgement) -> Verified:
        """The verifier's verdicts. What a language model wrote must answer as well, which sentences chosen as answers do anyway."""
        written = any(draft.writer for draft in drafts)
        with run.recorder.step("verify") as step:
            run.recorder.spending.call("verify_written" if written else "verify")
            verified = Verified(tuple(drafts), self._verdicts(run, drafts, evidence))
            if written:
                verified = kept_to_words(verified)
                verified = lowered(verified, beside_the_point(verified, judgement, part.form, part.subject), "question")
            step.detail.update(claims=len(drafts), supported=len(verified.supported), dropped=verified.dropped_as_json())
        return verified

    def _doubted(self, run: Run, verified: Verified) -> Verified:
        """Without the claims a judge doubts; it is asked only about sentences that no document says word for word."""
        judge, places = self._models.judge, worded_anew(verified)
        if judge is None or not places:
            return verified
        talk = run.recorder.talk
        with run.recorder.step("judge") as step:
            doubts = judge.doubts(verified, places, talk=talk) & frozenset(places)
            doubted = lowered(verified, doubts, "judge")
            step.detail.update(claims=len(places), dropped=doubted.dropped_as_json(), **talk.taken())
        return without(doubted, doubts) if len(doubts) < len(doubted.drafts) else doubted

    def _verdicts(self, run: Run, drafts: Sequence[Draft], evidence: Evidence) -> tuple[Verdict, ...]:
        """Whoever drafted: sentences are held against the evidence, numbers are counted again."""
        numbers = [draft for draft in drafts if draft.kind in NUMERIC]
        counted = iter(check(self._engine, run.tenant, numbers))
        said = iter(self._verifier.verify([draft for draft in drafts if draft.kind not in NUMERIC], evidence))
        return tuple(next(counted if draft.kind in NUMERIC else said) for draft in drafts)

    def _accept(self, run: Run, result: PartResult, first: Verified, last: Verified) -> None:
        """What leaves, or why nothing does. When no repair was allowed, a draft below the groundedness asked for is refused whole."""
        floor = self._settings.min_groundedness
        groundedness = len(last.supported) / len(last.drafts)
        claims = final_claims(self._engine, run, last.claims) if groundedness >= floor else ()
        result.grounding = grounding_of(first, last, accepted=bool(claims))
        decides = result.part.form is Form.YES_NO
        claims = claims if decides else tuple(with_opposites_only(claim) for claim in claims)
        if decides and claims:
            claims = with_other_side(claims, statement_of(result.part.subject))
        if decides and claims and all(_outvoted(claim) for claim in claims):
            result.refusal = conflicting(claims, result.hits)
        elif not claims:
            result.refusal = unsupported(first.reasons, result.hits, result.grounding.groundedness, floor)
        else:
            result.claims = claims


def _outvoted(claim: Claim) -> bool:
    return claim.proof is None and len({citation.doc_id for citation in claim.counter_evidence}) > claim.document_count
