"""Which documents a question is about, for counting them again and again: the same that a question that counts would count."""

from dataclasses import dataclass, replace
from datetime import datetime

from grounding.answers import Proof
from grounding.budget import Spending, budget_of
from grounding.count_sentences import documents, says, scope_of
from grounding.countables import counting
from grounding.counting import Counter
from grounding.intents import Form, Intent
from grounding.naming import Vocabulary
from grounding.planning import plan
from grounding.question_parts import Part, Side
from grounding.themes import Names
from runtime.clock import Clock
from runtime.errors import InvalidRequest
from runtime.settings import Settings
from runtime.tenancy import Tenant
from search.documents import Filters
from search.filters import narrowed, zone_named
from search.ports import Embedder, Engine


@dataclass(frozen=True, slots=True)
class Topic:
    """What is counted: documents of ``side`` (None: all) under the filters of ``part``, which set no limit of time of the question's own."""

    part: Part
    side: Side | None

    def counted(self, proof: Proof) -> str:
        """*12 of 80 documents contain “crash”*, without a full stop."""
        if self.side is None:
            return f"there {'is' if proof.value == 1 else 'are'} {documents(proof.value)}{self._scope}"
        return f"{proof.value} of {documents(proof.denominator)}{self._scope} {says(self.side, proof.value)}"

    def described(self) -> str:
        """*documents that contain “crash”*."""
        return f"documents{self._scope}" + (f" that {says(self.side, 2)}" if self.side else "")

    @property
    def _scope(self) -> str:
        return scope_of(replace(self.part, period=None, filters=replace(self.part.filters, since=None, before=None)))


class Topics:
    """Finds the topic of a question and counts its documents, exactly."""

    def __init__(self, engine: Engine, embedder: Embedder, clock: Clock, settings: Settings) -> None:
        self._engine = engine
        self._names = Names(engine, embedder)
        self._clock = clock
        self._settings = settings

    def of(self, tenant: Tenant, question: str, filters: Filters, match: str | None = None) -> Topic:
        """The topic of one question; ``match`` are words to count by, whatever the question says.

        Raises:
            InvalidRequest: on ``question``, which asks several things, or nothing.
        """
        if match is not None:
            return Topic(Part(question, Intent.COUNT, Form.FACT, filters), Side(None, match, match))
        vocabulary = self._names.vocabulary(tenant, Spending.start(budget_of(self._settings), self._clock))
        part = self._part(question, filters, vocabulary)
        if part.theme is not None:
            return Topic(replace(part, filters=replace(part.filters, theme_ids=filters.theme_ids)), part.sides[0])
        return Topic(part, self._counter(tenant, vocabulary).side_of(part))

    def count(self, tenant: Tenant, topic: Topic, since: datetime, before: datetime) -> Proof:
        """How many documents of that time are of the topic, among all that pass the filters."""
        limited = replace(topic.part, filters=narrowed(topic.part.filters, since, before))
        return self._counter(tenant, None).proof_of(topic.side, limited)

    def _part(self, question: str, filters: Filters, vocabulary: Vocabulary) -> Part:
        parts = plan(question, filters, vocabulary, now=self._clock.now(), zone=zone_named("UTC")).parts
        if len(parts) > 1:
            raise InvalidRequest("asks several things; watch each with a monitor of its own", field="question")
        part = replace(parts[0], filters=replace(parts[0].filters, since=filters.since, before=filters.before), period=None)
        if part.intent is Intent.SMALL_TALK:
            raise InvalidRequest("is not a question about documents", field="question")
        if part.theme is None and part.intent in (Intent.EVIDENCE, Intent.ACCOUNT):
            part = counting(replace(part, intent=Intent.COUNT), part.subject, vocabulary)
        if len(part.sides) > 1 or part.places:
            raise InvalidRequest("names several things to count; watch each with a monitor of its own", field="question")
        return part

    def _counter(self, tenant: Tenant, vocabulary: Vocabulary | None) -> Counter:
        themes = vocabulary.themes if vocabulary else tuple
        least, now = self._settings.min_share_documents, self._clock.now()
        return Counter(self._engine, tenant, least, now, themes, self._names.like(themes))
