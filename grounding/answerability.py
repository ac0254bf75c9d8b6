"""Is the question answered here, and by which sentences? Being about it is not enough."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grounding.addressing import speaks_to_the_machine
from grounding.matching import found
from grounding.question_kinds import OPEN, YES_NO, Question, offers, read_question
from grounding.reading import Meaning, Reading, read
from grounding.sentences import sentences
from grounding.support import Logistic
from grounding.vetoes import opposing, wrong_kind
from grounding.windows import Window, windows_of
from search.documents import Vector
from search.ports import Embedder
from search.ranking import Candidate

ANSWERED_FROM = 0.5
"""Probability from which a sentence counts as an answer."""

_MODEL = Logistic(
    {"coverage": 3.2, "cosine": 3.0, "offers": 0.6, "lacking": -3.0, "unmet": -0.8, "figures": -3.0, "contrary": -2.5, "order": -5.0},
    -2.6,
)


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """How likely one sentence answers, in 0..1; offsets in the document."""

    doc_id: str
    passage_id: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """``probability`` in 0..1 that the question is answered; ``sentences`` best first, at most one per passage above the threshold first.

    ``missing`` names the kind of fact nothing offers (*an amount of money*), ``unmet`` the words of the question found nowhere; both may be empty.
    """

    probability: float
    threshold: float
    missing: str
    unmet: tuple[str, ...]
    sentences: tuple[SentenceScore, ...]

    @property
    def answered(self) -> bool:
        """Whether some sentence answers."""
        return self.probability >= self.threshold

    @property
    def answers(self) -> tuple[SentenceScore, ...]:
        """The sentences that answer, best first."""
        return tuple(sentence for sentence in self.sentences if sentence.score >= self.threshold)


@dataclass(frozen=True, slots=True)
class _Place:
    candidate: Candidate
    window: Window


class Answerability:
    """The second gate."""

    def __init__(self, *, threshold: float = ANSWERED_FROM) -> None:
        """``threshold`` in 0..1: a sentence below it is no answer."""
        self._threshold = threshold

    def judge(
        self, question: str, candidates: Sequence[Candidate], embedder: Embedder, *, cosines: Mapping[str, float] | None = None
    ) -> Judgement:
        """Score every sentence of ``candidates``. ``cosines`` (passage id → cosine with the question, as from ``relevance.passage_cosines``) saves embedding
        passages that are one sentence; the other sentences are embedded in one call."""
        asked = read_question(question)
        places = [_Place(candidate, window) for candidate in candidates for window in _singles(candidate)]
        near = _cosines(question, places, embedder, cosines or {})
        evidence = tuple(read(place.window.text, place.candidate.occurred_at) for place in places)
        unmet = _unmet(asked, evidence)
        scored = [_scored(asked, place, reading, cosine, unmet) for place, reading, cosine in zip(places, evidence, near, strict=True)]
        ordered = tuple(sorted(scored, key=lambda sentence: (-sentence.score, sentence.doc_id, sentence.start)))
        best = ordered[0].score if ordered else 0.0
        return Judgement(best, self._threshold, _missing(asked, evidence), tuple(meaning.word.lower for meaning in unmet), ordered)


def _singles(candidate: Candidate) -> tuple[Window, ...]:
    return tuple(window for window in windows_of(candidate.passage) if len(window.sentences) == 1)


def _cosines(question: str, places: Sequence[_Place], embedder: Embedder, known: Mapping[str, float]) -> list[float]:
    whole = [known.get(place.candidate.passage.passage_id) if _is_whole(place) else None for place in places]
    texts = tuple(dict.fromkeys(place.window.text for place, cosine in zip(places, whole, strict=True) if cosine is None))
    vectors: dict[str, Vector] = {}
    if texts:
        embedded = embedder.embed((question, *texts))
        vectors = dict(zip((question, *texts), embedded, strict=True))
    return [
        cosine if cosine is not None else round(float(np.dot(vectors[question], vectors[place.window.text])), 3)
        for place, cosine in zip(places, whole, strict=True)
    ]


def _is_whole(place: _Place) -> bool:
    return place.window.text == place.candidate.passage.text.strip()


def _unmet(asked: Question, evidence: Sequence[Reading]) -> tuple[Meaning, ...]:
    """Words of the question that nothing in the evidence says, rare ones only."""
    return tuple(
        meaning for meaning in asked.topic if meaning.weight > 0.5 and not any(found(meaning, reading.meanings) for reading in evidence)
    )


def _missing(asked: Question, evidence: Sequence[Reading]) -> str:
    return "" if any(offers(asked.kind, reading) for reading in evidence) else asked.kind.called


def _scored(asked: Question, place: _Place, reading: Reading, cosine: float, unmet: Sequence[Meaning]) -> SentenceScore:
    passage, window = place.candidate.passage, place.window
    orders = any(speaks_to_the_machine(passage.text[span.start : span.end]) for span in sentences(passage.text))
    score = 0.0 if wrong_kind(asked.reading, reading) else _MODEL.probability(features(asked, reading, cosine, unmet, orders=orders))
    return SentenceScore(passage.doc_id, passage.passage_id, window.start, window.end, window.text, round(score, 4))


def features(asked: Question, said: Reading, cosine: float, unmet: Sequence[Meaning], *, orders: bool = False) -> dict[str, float]:
    """What speaks for and against ``said`` as an answer; shares in 0..1, flags 0 or 1."""
    kind, total = asked.kind, sum(meaning.weight for meaning in asked.topic)
    held = sum(found(meaning, said.meanings) * meaning.weight for meaning in asked.topic) / total if total else float(asked.generic)
    offered = offers(kind, said)
    return {
        "coverage": held,
        "cosine": max(0.0, cosine),
        "offers": float(offered and kind not in {OPEN, YES_NO}),
        "lacking": float(kind.needed and not offered),
        "unmet": sum(meaning.weight for meaning in unmet) / total if total else 0.0,
        "figures": float(_figures_missing(asked.reading, said)),
        "contrary": float(kind is not YES_NO and bool(opposing(asked.reading, said))),
        "order": float(orders),
    }


def _figures_missing(asked: Reading, said: Reading) -> bool:
    """A figure, weekday, month or year the question names is not in the sentence."""
    return any(not any(date.borne_out_by(other) for other in said.dates) for date in asked.dates) or any(
        not any(figure.borne_out_by(other) for other in said.quantities) for figure in asked.quantities if figure.unit != "ordinal"
    )
