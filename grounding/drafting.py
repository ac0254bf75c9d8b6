"""The drafter without a language model: sentences of the evidence, word for word, those that say the same as one finding."""

from collections.abc import Mapping, Sequence

from grounding.addressing import speaks_to_the_machine
from grounding.answer_types import keeps_demands
from grounding.answerability import Judgement, SentenceScore
from grounding.answers import ClaimKind, Draft
from grounding.asking import asks
from grounding.findings import Finding, Voice, findings
from grounding.intents import Form, form_of, leaning_of, wants_newest
from grounding.leanings import leaning_first
from grounding.predicates import takes_stance
from grounding.reading import read
from grounding.stances import stance, statement_of
from grounding.talk import Talk
from runtime.clock import Deadline
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import Vector
from search.ports import Embedder
from search.ranking import Hit, Retrieval

MAX_CITED = 20
"""Documents cited by one draft; a finding of more keeps its exact count."""

FEW = 3
"""Fewer sentences that complain than this are filled up with neutral ones on the topic."""

MAX_VOICES = 25
"""Sentences that are embedded for grouping."""

CLAIMS = {Form.FACT: 4, Form.YES_NO: 6, Form.TOPIC: 6, Form.BROAD: 6}
NEAR_BEST = 0.6
"""Sentences below this share of the best score are left out, unless the question names no topic."""

PER_PASSAGE = {Form.FACT: 1, Form.YES_NO: 1, Form.TOPIC: 2, Form.BROAD: 1}


class ExtractiveDrafter:
    """Chooses sentences that answer and merges what says the same. Deterministic; proposes nothing that no document says."""

    def __init__(self, embedder: Embedder, settings: Settings) -> None:
        self._embedder = embedder
        self._max_claims = settings.max_claims

    @property
    def model(self) -> str:
        """See :class:`grounding.ports.Drafter`."""
        return "extractive"

    def draft(
        self,
        tenant: Tenant,  # noqa: ARG002 (a drafter that calls a model accounts for it by tenant)
        question: str,
        retrieval: Retrieval,
        *,
        judgement: Judgement,
        deadline: Deadline,
        talk: Talk | None = None,  # noqa: ARG002 (nobody is asked)
    ) -> tuple[Draft, ...]:
        """See :class:`grounding.ports.Drafter`."""
        form = form_of(question)
        ratings = {hit.candidate.passage.passage_id: hit.candidate.rating for hit in retrieval.hits}
        chosen = _chosen(question, form, judgement, ratings)
        voices = self._voices(chosen, retrieval.hits, deadline)
        ordered = _ordered(question, form, findings(voices))
        return tuple(_draft(finding) for finding in ordered[: min(CLAIMS[form], self._max_claims)])

    def _voices(self, chosen: Sequence[SentenceScore], hits: Sequence[Hit], deadline: Deadline) -> tuple[Voice, ...]:
        if not chosen:
            return ()
        by_passage = {hit.candidate.passage.passage_id: hit for hit in hits}
        vectors = self._embedder.embed([sentence.text for sentence in chosen], deadline=deadline)
        return tuple(_voice(sentence, by_passage[sentence.passage_id], vector) for sentence, vector in zip(chosen, vectors, strict=True))


def _chosen(question: str, form: Form, judgement: Judgement, ratings: Mapping[str, float | None]) -> tuple[SentenceScore, ...]:
    """The sentences worth drafting, best first: those that answer; for a question without a topic the most telling one of each passage."""
    ranked = answering(judgement, form, question) + (_opposed(question, judgement) if form is Form.YES_NO else ())
    plain = tuple(sentence for sentence in ranked if not speaks_to_the_machine(sentence.text))
    if form in (Form.FACT, Form.TOPIC) and plain and judgement.threshold > 0:
        plain = tuple(sentence for sentence in plain if sentence.score >= NEAR_BEST * plain[0].score)
    leaning = leaning_of(question)
    if leaning and form in (Form.BROAD, Form.TOPIC):
        plain = leaning_first(plain, ratings, leaning, FEW if leaning == "complaint" else 1)
    return _few_per_passage(plain, PER_PASSAGE[form] if judgement.threshold > 0 else 1)[:MAX_VOICES]


def _opposed(question: str, judgement: Judgement) -> tuple[SentenceScore, ...]:
    """Sentences that nearly answer and say the opposite of what is asked: the other side is looked for on purpose."""
    statement = read(statement_of(question))
    nearly = (sentence for sentence in judgement.sentences if judgement.threshold / 2 <= sentence.score < judgement.threshold)
    return tuple(sentence for sentence in nearly if not asks(sentence.text) and stance(statement, read(sentence.text)) < 0)


def answering(judgement: Judgement, form: Form, question: str) -> tuple[SentenceScore, ...]:
    """The sentences that may stand as an answer, best first. One that itself asks answers no question of fact, however alike the two are; nor does one that
    lacks what the question demands beyond its topic. Without what a yes-or-no question asks of its topic a sentence answers neither way."""
    if form is Form.BROAD:
        return judgement.sentences
    if form is Form.TOPIC:
        return judgement.answers
    stating = tuple(sentence for sentence in judgement.answers if not asks(sentence.text))
    if form is Form.YES_NO:
        return tuple(sentence for sentence in stating if takes_stance(question, sentence.in_context))
    return tuple(sentence for sentence in stating if keeps_demands(question, sentence.in_context, sentence.score))


def _few_per_passage(sentences: Sequence[SentenceScore], limit: int) -> tuple[SentenceScore, ...]:
    taken: dict[str, int] = {}
    kept = []
    for sentence in sentences:
        taken[sentence.passage_id] = taken.get(sentence.passage_id, 0) + 1
        if taken[sentence.passage_id] <= limit:
            kept.append(sentence)
    return tuple(kept)


def _voice(sentence: SentenceScore, hit: Hit, vector: Vector) -> Voice:
    ids = tuple(dict.fromkeys((sentence.doc_id, *hit.group_ids)))
    return Voice(sentence.text, hit.candidate, sentence.score, ids, max(hit.group_size, len(ids)), vector)


def _ordered(question: str, form: Form, found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings come by documents, then recency; for a fact the better answer goes first; for yes or no each side is heard before either repeats, and what
    takes no side goes last."""
    if form is Form.FACT:
        return tuple(sorted(found, key=lambda finding: -round(finding.score, 1)))
    if form is not Form.YES_NO:
        return tuple(sorted(found, key=lambda finding: -finding.latest.timestamp())) if wants_newest(question) else tuple(found)
    statement = read(statement_of(question))
    sides: dict[int, list[Finding]] = {1: [], -1: [], 0: []}
    for finding in found:
        sides[stance(statement, finding.voices[0].reading)].append(finding)
    larger, smaller = sorted((sides[1], sides[-1]), key=lambda side: -sum(finding.documents for finding in side))
    return (*larger[:1], *smaller[:1], *larger[1:], *smaller[1:], *sides[0])


def _draft(finding: Finding) -> Draft:
    kind = ClaimKind.FINDING if finding.documents > 1 else ClaimKind.QUOTE
    return Draft(finding.text, kind, finding.doc_ids[:MAX_CITED], document_count=finding.documents)
