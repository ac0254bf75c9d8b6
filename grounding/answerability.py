"""Is the question answered here, and by which sentences? Being about it is not enough."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grounding.addressing import speaks_to_the_machine
from grounding.asking import asks, replies
from grounding.matching import found, shared
from grounding.name_matching import share_of_names_missing
from grounding.question_kinds import CAUSE, OPEN, YES_NO, Question, offers, read_question
from grounding.reading import Meaning, Reading, read
from grounding.support import Logistic
from grounding.vetoes import opposing, wrong_kind
from grounding.windows import Window, windows_of
from search.ports import Embedder
from search.ranking import Candidate

ANSWERED_FROM = 0.5
"""Probability from which a sentence counts as an answer."""

EMBEDDED = 2
"""Sentences of longer passages that are embedded for one question: those that hold most of its words."""

FARTHER = 0.7
"""What a sentence that is not embedded is taken to have of its passage's cosine."""

SAME_QUESTION = 0.6
"""Share of the question's topic that a question in the text must hold for its reply to be one to the question."""

PREMISE = 0.5
"""What is left of a score where a question for a reason takes an event for granted that nobody tells of (*why was the driver fired?*)."""

_EVENT = re.compile(r"\b(?:why|how come)\s+(?:was|were|did|has|have|had)\b", re.IGNORECASE)

NEAR = 0.45
"""A fact that is asked for with a rare word nobody uses must be told by a sentence at least this near in meaning."""

_MODEL = Logistic(
    {
        "coverage": 3.2,
        "cosine": 3.0,
        "offers": 0.6,
        "lacking": -4.5,
        "missing": -0.6,
        "unmet": -0.8,
        "figures": -3.0,
        "names": -1.0,
        "contrary": -2.5,
        "denial": -0.4,
        "order": -5.0,
    },
    -2.2,
)


def answer_model() -> Logistic:
    """Over the features of :func:`features`."""
    return _MODEL


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """How likely one sentence answers, in 0..1; offsets in the document. ``reply_to`` is the question in front of it that it replies to, if it is one."""

    doc_id: str
    passage_id: str
    start: int
    end: int
    text: str
    score: float
    reply_to: str = ""

    @property
    def in_context(self) -> str:
        """The sentence behind what it replies to."""
        return f"{self.reply_to} {self.text}".strip()


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
    """One sentence of a candidate. ``orders`` says that its passage speaks to the machine somewhere; ``asked`` is the question in front of it."""

    candidate: Candidate
    window: Window
    orders: bool
    asked: str = ""

    @property
    def whole(self) -> bool:
        """Whether the sentence is all of its passage."""
        return self.window.text == self.candidate.passage.text.strip()


class Answerability:
    """The second gate."""

    def __init__(self, *, threshold: float = ANSWERED_FROM) -> None:
        """``threshold`` in 0..1: a sentence below it is no answer."""
        self._threshold = threshold

    def judge(
        self, question: str, candidates: Sequence[Candidate], embedder: Embedder, *, cosines: Mapping[str, float] | None = None
    ) -> Judgement:
        """Score every sentence of ``candidates``. ``cosines`` (passage id → cosine with the question, as from ``relevance.passage_cosines``) saves embedding
        passages that are one sentence. Of the other sentences the ``EMBEDDED`` most promising are embedded, in one call; the rest are taken to be
        somewhat farther than their passages."""
        asked = read_question(question)
        places = [place for candidate in candidates for place in _places(candidate)]
        evidence = tuple(read(place.window.text, place.candidate.occurred_at) for place in places)
        near = _cosines(asked, places, evidence, embedder, cosines or {})
        unmet = _unmet(asked, evidence)
        scored = [_scored(asked, place, reading, cosine, unmet) for place, reading, cosine in zip(places, evidence, near, strict=True)]
        scored = [
            _as_reply(asked, place, own, max(near[max(0, at - 1) : at + 1]), unmet)
            for at, (place, own) in enumerate(zip(places, scored, strict=True))
        ]
        ordered = tuple(sorted(scored, key=lambda sentence: (-sentence.score, sentence.doc_id, sentence.start)))
        best = ordered[0].score if ordered else 0.0
        return Judgement(best, self._threshold, _missing(asked, evidence), tuple(meaning.word.lower for meaning in unmet), ordered)


def _places(candidate: Candidate) -> tuple[_Place, ...]:
    singles = tuple(window for window in windows_of(candidate.passage) if len(window.sentences) == 1)
    orders = any(speaks_to_the_machine(window.text) for window in singles)
    before = ("", *(window.text if asks(window.text) else "" for window in singles))
    return tuple(
        _Place(candidate, window, orders, asked if asked and replies(window.text, asked) else "")
        for window, asked in zip(singles, before, strict=False)
    )


def _cosines(
    asked: Question, places: Sequence[_Place], evidence: Sequence[Reading], embedder: Embedder, known: Mapping[str, float]
) -> list[float]:
    """One per sentence, computed or taken from its passage."""
    passages = [known.get(place.candidate.passage.passage_id) for place in places]
    open_places = [at for at, (place, cosine) in enumerate(zip(places, passages, strict=True)) if cosine is None or not place.whole]
    if len(open_places) > EMBEDDED:
        open_places.sort(key=lambda at: (passages[at] is not None, -shared(asked.topic, evidence[at].held), -(passages[at] or 0.0), at))
    chosen = {at: places[at].window.text for at in open_places[:EMBEDDED]}
    near = [
        cosine if place.whole and cosine is not None else FARTHER * (cosine or 0.0) for place, cosine in zip(places, passages, strict=True)
    ]
    if chosen:
        vectors = embedder.embed((asked.reading.text, *chosen.values()))
        for at, vector in zip(chosen, vectors[1:], strict=True):
            near[at] = round(float(np.dot(vectors[0], vector)), 3)
    return near


def _unmet(asked: Question, evidence: Sequence[Reading]) -> tuple[Meaning, ...]:
    """Words of the question that nothing in the evidence says, rare ones only."""
    return tuple(
        meaning for meaning in asked.topic if meaning.weight > 0.5 and not any(found(meaning, reading.held) for reading in evidence)
    )


def _missing(asked: Question, evidence: Sequence[Reading]) -> str:
    return "" if any(offers(asked.kind, reading) for reading in evidence) else asked.kind.called


def _scored(asked: Question, place: _Place, reading: Reading, cosine: float, unmet: Sequence[Meaning]) -> SentenceScore:
    passage, window = place.candidate.passage, place.window
    told = features(asked, reading, cosine, unmet, orders=place.orders)
    score = 0.0 if wrong_kind(asked.reading, reading) else _MODEL.probability(told)
    if told["unmet"] and told["cosine"] < NEAR and asked.kind not in {OPEN, YES_NO}:
        score *= 1 - told["unmet"]
    elif told["unmet"] and asked.kind is CAUSE and _EVENT.search(asked.reading.text):
        score *= PREMISE
    return SentenceScore(passage.doc_id, passage.passage_id, window.start, window.end, window.text, round(score, 4))


def _as_reply(asked: Question, place: _Place, own: SentenceScore, cosine: float, unmet: Sequence[Meaning]) -> SentenceScore:
    """The sentence as a reply to a question in front of it that asks the same (*Do you deliver on Sundays? No, Monday to Saturday.*), names and figures
    included: the question gives it its topic, and only the reply has to offer what is asked for. ``cosine`` is that of the nearer of the two."""
    if not place.asked or shared(asked.topic, read(place.asked).held) < SAME_QUESTION:
        return own
    said, both = (
        read(place.window.text, place.candidate.occurred_at),
        read(f"{place.asked} {place.window.text}", place.candidate.occurred_at),
    )
    offered = offers(asked.kind, said)
    told = features(asked, both, cosine, unmet, orders=place.orders) | {
        "offers": float(offered and asked.kind not in {OPEN, YES_NO}),
        "lacking": float(asked.kind.needed and not offered),
        "contrary": 0.0,
        "denial": 0.0,
    }
    if told["names"] or told["figures"]:
        return own
    score = round(_MODEL.probability(told), 4)
    return replace(own, score=score, reply_to=place.asked) if score > own.score else own


def features(asked: Question, said: Reading, cosine: float, unmet: Sequence[Meaning], *, orders: bool = False) -> dict[str, float]:
    """What speaks for and against ``said`` as an answer; shares in 0..1, flags 0 or 1."""
    kind, total = asked.kind, sum(meaning.weight for meaning in asked.topic)
    absent = [meaning for meaning in asked.topic if not found(meaning, said.held)]
    offered = offers(kind, said)
    return {
        "coverage": shared(asked.topic, said.held) if total else float(asked.generic),
        "cosine": max(0.0, cosine),
        "missing": max((meaning.weight for meaning in absent), default=0.0),
        "unmet": sum(meaning.weight for meaning in unmet) / total if total else 0.0,
        "names": share_of_names_missing(asked.reading, said),
        "figures": float(_figures_missing(asked.reading, said)),
        "offers": float(offered and kind not in {OPEN, YES_NO}),
        "lacking": float(kind.needed and not offered),
        "contrary": float(kind is not YES_NO and bool(opposing(asked.reading, said))),
        "denial": float(kind is not YES_NO and _denies(asked.reading) != _denies(said)),
        "order": float(orders),
    }


def _denies(reading: Reading) -> bool:
    return any(tone.denied for tone in reading.tones)


def _figures_missing(asked: Reading, said: Reading) -> bool:
    """A figure, weekday, month or year the question names is not in the sentence."""
    return any(not any(date.borne_out_by(other) for other in said.dates) for date in asked.dates) or any(
        not any(figure.borne_out_by(other) for other in said.quantities) for figure in asked.quantities if figure.unit != "ordinal"
    )
