"""One question, start to end: plan, retrieve, gates, draft, verify, repair, finalize. Every step is on record before it can fail."""

import contextlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from grounding.answer_cache import NO_LOOK, AnswerCache, Asked, Look, Made
from grounding.answers import Answer, Claim, Grounding, Outcome, Refusal, Unanswered
from grounding.budget import Budget, Spending, budget_of
from grounding.intents import Form, Intent
from grounding.models import NO_MODELS, Models
from grounding.naming import Vocabulary
from grounding.numbers import Numbers
from grounding.parts import Resolver
from grounding.planning import plan
from grounding.ports import Drafter, Verifier
from grounding.question_parts import Part, Plan
from grounding.readings import Readings
from grounding.recording import Recorder
from grounding.refusing import budget_exceeded, not_a_question
from grounding.replanning import revised
from grounding.run_span import told_of
from grounding.runs import PartResult, Run
from grounding.themes import Names
from grounding.traces import TraceStore
from grounding.vector_memory import RememberedVectors
from grounding.verifying import NO_DRAFT
from grounding.wording import text_of
from runtime.clock import Clock, within
from runtime.errors import BudgetExceeded, DeadlineExceeded, InvalidRequest, ServiceError
from runtime.settings import Settings
from runtime.tenancy import Tenant
from runtime.tracing import span
from search.documents import EVERYTHING, Filters
from search.filters import zone_named
from search.ingest.epochs import Epoch
from search.ingest.masking import Masking
from search.ports import Engine, StateStore
from search.ranking import Hit
from search.retrieval import Retriever

_CEILINGS = {"steps": "max_steps", "calls": "max_calls_per_tool", "tokens": "max_tokens", "seconds": "timeout_s"}

NOT_KEPT = "the run was not stored and cannot be looked up later: everything of the tenant was erased meanwhile, or it could not be told"


def _random_run_id() -> str:
    return uuid.uuid4().hex


class Answerer:
    """Answers questions over one tenant's documents, claim by claim, or refuses."""

    def __init__(
        self,
        engine: Engine,
        state: StateStore,
        retriever: Retriever,
        drafter: Drafter,
        verifier: Verifier,
        reader: RememberedVectors,
        clock: Clock,
        settings: Settings,
        *,
        models: Models = NO_MODELS,
        cache: AnswerCache | None = None,
        new_run_id: Callable[[], str] = _random_run_id,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._masking = Masking.of(settings)
        self._drafter = drafter
        self._planner = models.planner
        self._cache = None if models != NO_MODELS else cache  # what a language model says is no function of what it is asked
        self._traces = TraceStore(state, engine)
        self._names = Names(engine, reader)
        numbers = Numbers(engine, self._names, clock, settings)
        self._resolver = Resolver(numbers, Readings(engine, retriever, drafter, verifier, reader, settings, models))
        self._new_run_id = new_run_id

    def ask(
        self,
        tenant: Tenant,
        question: str,
        *,
        filters: Filters = EVERYTHING,
        top_k: int | None = None,
        budget: Budget | None = None,
        time_zone: str | None = None,
        recall: bool = False,
    ) -> Outcome:
        """An answer or a refusal, with its trace, which is kept also when a step fails. With ``recall`` it may be one worked out a moment ago.

        Raises:
            InvalidRequest: on ``question``, ``top_k`` or ``time_zone``.
            Unavailable: a dependency is down; asking again later makes sense.
        """
        text = self._question(question)
        zone = zone_named(time_zone or self._settings.time_zone)
        wanted = self._top_k(top_k)
        spending = Spending.start(budget or budget_of(self._settings), self._clock)
        recorder = Recorder(self._new_run_id(), text, self._clock, spending, self._clock.now())
        begun = self._traces.begin(tenant)
        asked = Asked(tenant, text, filters, wanted, spending.budget, zone.key, recorder.created_at)
        with span("ask", run_id=recorder.run_id, tenant=tenant) as told:
            try:
                look = self._cache.look(asked) if recall and self._cache is not None else NO_LOOK
                made, degraded = self._recalled(recorder, look) or self._made(
                    recorder, self._results(tenant, recorder, filters, zone, wanted)
                )
            except BaseException:
                with contextlib.suppress(ServiceError):
                    self._traces.save(tenant, failed := recorder.trace("failed"))
                    self._traces.settle(tenant, failed, None, begun)
                raise
            outcome = self._outcome(tenant, recorder, made, {**degraded, **look.lost})
            told.set(**told_of(outcome))
            if self._cache is not None:
                self._cache.keep(asked, look, outcome)
        return self._settled(tenant, outcome, begun)

    def _settled(self, tenant: Tenant, outcome: Outcome, begun: Epoch | None) -> Outcome:
        """Nothing is kept of what was erased while it was being answered. A store that cannot tell leaves it to the worker, which goes through traces."""
        with contextlib.suppress(ServiceError):
            became = self._traces.settle(tenant, outcome.trace, outcome.grounding, begun)
            if became != "kept" and self._cache is not None:
                self._cache.forget(tenant)
            if became == "removed":
                return replace(outcome, degraded={**outcome.degraded, "trace": NOT_KEPT})
        return outcome

    def _results(self, tenant: Tenant, recorder: Recorder, filters: Filters, zone: ZoneInfo, top_k: int) -> list[PartResult]:
        """Plan, then answer part after part; none for small talk. A spent budget refuses the part it stopped and those behind it."""
        with within(recorder.spending.deadline):  # whatever is called, whoever calls it
            return self._resolved(tenant, recorder, filters, zone, top_k)

    def _resolved(self, tenant: Tenant, recorder: Recorder, filters: Filters, zone: ZoneInfo, top_k: int) -> list[PartResult]:
        vocabulary = self._names.vocabulary(tenant, recorder.spending)
        whole = Part(recorder.question, Intent.EVIDENCE, Form.FACT, filters)
        results = [PartResult(whole)]
        parts: tuple[Part, ...] = ()
        try:
            parts = self._planned(recorder, filters, vocabulary, zone).parts
            results = []
            for part in parts:
                results.append(PartResult(part))
                self._resolver.resolve(Run(tenant, recorder, vocabulary, top_k), results[-1])
                if part.ruled is not None and results[-1].refusal:
                    results[-1] = PartResult(part.ruled)
                    self._resolver.resolve(Run(tenant, recorder, vocabulary, top_k), results[-1])
        except (BudgetExceeded, DeadlineExceeded) as error:
            refusal = self._spent(error, recorder, results[-1].hits)
            results[-1].refusal, results[-1].claims = refusal, ()
            results += [PartResult(part, refusal=refusal) for part in parts[len(results) :]]
        return results

    def _planned(self, recorder: Recorder, filters: Filters, vocabulary: Vocabulary, zone: ZoneInfo) -> Plan:
        with recorder.step("plan") as step:
            made = plan(recorder.question, filters, vocabulary, now=recorder.created_at, zone=zone)
            recorder.plan = made.as_json()
            if self._planner is not None and not made.small_talk:
                made = revised(made, self._planner.wishes(made, talk=recorder.talk), vocabulary)
                recorder.plan = made.as_json()
            step.detail.update(intent=recorder.plan["intent"], parts=len(made.parts), **recorder.talk.taken())
        return made

    def _spent(self, error: BudgetExceeded | DeadlineExceeded, recorder: Recorder, hits: Sequence[Hit]) -> Refusal:
        """The refusal for a spent budget. A deadline that passed while the run still has time is a slow dependency, and stays an error."""
        if isinstance(error, DeadlineExceeded) and recorder.spending.deadline.remaining_s() > 0:
            raise error
        ceiling = error.ceiling if isinstance(error, BudgetExceeded) else "seconds"
        limit = getattr(recorder.spending.budget, _CEILINGS[ceiling])
        return budget_exceeded(ceiling, str(error), recorder.done(), float(limit), hits)

    def _recalled(self, recorder: Recorder, look: Look) -> tuple[Made, dict[str, str]] | None:
        """What was worked out a moment ago, on record as one step; None without it, or when the time is over."""
        if look.made is None or look.key is None or recorder.spending.deadline.remaining_s() <= 0:
            return None
        recorder.plan = look.made.plan
        with recorder.step("cache") as step:
            step.detail.update(generation=look.key.generation, run_id=look.made.run_id)
        return look.made, {}

    def _made(self, recorder: Recorder, results: Sequence[PartResult]) -> tuple[Made, dict[str, str]]:
        """What the parts come to together, and what was lost on the way."""
        degraded: dict[str, str] = {}
        for result in results:
            degraded |= result.degraded
        degraded |= recorder.talk.degraded
        claims = _limited(results, self._settings.max_claims)
        answer = self._answer(claims, results) if claims else None
        refusal = None if answer else _refusal_of(results)
        return Made(recorder.run_id, recorder.plan, answer, refusal, _grounding_of(results), _hits_of(results)), degraded

    def _outcome(self, tenant: Tenant, recorder: Recorder, made: Made, degraded: dict[str, str]) -> Outcome:
        trace = recorder.trace(made.outcome, made.answer.claims if made.answer else (), made.refusal)
        try:
            self._traces.save(tenant, trace, made.grounding, degraded)
        except ServiceError as error:
            degraded["trace"] = f"the run was not stored and cannot be looked up later: {error}"
        return Outcome(
            run_id=recorder.run_id,
            question=recorder.question,
            answer=made.answer,
            refusal=made.refusal,
            grounding=made.grounding,
            hits=made.hits,
            trace=trace,
            degraded=degraded,
            seconds=recorder.spending.seconds(),
        )

    def _answer(self, claims: tuple[Claim, ...], results: Sequence[PartResult]) -> Answer:
        unanswered = tuple(Unanswered(result.part.question, result.refusal) for result in results if result.refusal and not result.claims)
        text = "\n".join(text_of(result.claims, result.documents_read) for result in results if result.claims)
        writers = dict.fromkeys(result.writer for result in results if result.claims and result.writer)
        return Answer(text, claims, ", ".join(writers) or self._drafter.model, confidence=None, unanswered=unanswered)

    def _question(self, question: object) -> str:
        if not isinstance(question, str):
            raise InvalidRequest("must be a text", field="question")
        if len(question) > self._settings.max_question_chars:
            raise InvalidRequest(
                f"has {len(question)} characters; at most {self._settings.max_question_chars} are allowed", field="question"
            )
        return self._masking.text(question.encode("utf-8", "replace").decode().replace("\x00", " "))

    def _top_k(self, top_k: int | None) -> int:
        if top_k is None:
            return self._settings.default_top_k
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise InvalidRequest("must be a whole number of at least 1", field="top_k")
        return min(top_k, self._settings.max_top_k)


def _limited(results: Sequence[PartResult], most: int) -> tuple[Claim, ...]:
    """All claims of all parts, each part cut to what is left of the most that may leave."""
    left = most
    for result in results:
        result.claims = result.claims[:left]
        left -= len(result.claims)
    return tuple(claim for result in results for claim in result.claims)


def _refusal_of(results: Sequence[PartResult]) -> Refusal:
    """The refusal of the whole: of its only part, or of the first, with the others named."""
    refusals = [(result.part.question, result.refusal) for result in results if result.refusal]
    if not refusals:
        return not_a_question()
    first = refusals[0][1]
    if len(refusals) == 1:
        return first
    named = " ".join(f"“{question}”: {refusal.message}" for question, refusal in refusals)
    return replace(first, message=named)


def _grounding_of(results: Sequence[PartResult]) -> Grounding:
    """The report of the only part, or the parts' reports together, each weighted by its claims."""
    reports = [result.grounding for result in results if result.grounding]
    if not reports:
        return Grounding(0.0, 0.0, 0.0, accepted=False, failure_reason=NO_DRAFT)
    if len(reports) == 1:
        return reports[0]
    weights = [len(report.verdicts) or 1 for report in reports]
    total = sum(weights)

    def mean(values: Sequence[float]) -> float:
        return sum(value * weight for value, weight in zip(values, weights, strict=True)) / total

    accepted = any(report.accepted for report in reports)
    return Grounding(
        groundedness=mean([report.groundedness for report in reports]),
        citation_precision=mean([report.citation_precision for report in reports]),
        coverage=mean([report.coverage for report in reports]),
        accepted=accepted,
        failure_reason=None if accepted else reports[0].failure_reason,
        verdicts=tuple(verdict for report in reports for verdict in report.verdicts),
    )


def _hits_of(results: Sequence[PartResult]) -> tuple[Hit, ...]:
    """The ranking of the only part, or the parts' rankings one after the other without repeats."""
    if len(results) == 1:
        return results[0].hits
    found = {hit.candidate.passage.passage_id: hit for result in reversed(results) for hit in reversed(result.hits)}
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(reversed(tuple(found.values())), 1))
