"""Is the evidence about the question at all? The first gate; it says *about*, never *answers*."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grounding.matching import found
from grounding.question_kinds import Question, read_question
from grounding.reading import Meaning, read
from grounding.support import Logistic
from search.ports import Embedder
from search.ranking import Hit, Retrieval

LOOKED_AT = 10
"""Hits the gate looks at; what is not near the top does not make a corpus relevant."""

_MODEL = Logistic({"cosine": 6.0, "coverage": 5.0, "joint": 2.0}, -4.15)


def relevance_model() -> Logistic:
    """Over ``cosine`` and ``coverage`` in 0..1, and ``joint``, their product. Its floor was chosen by ``benchmarks/gates.py``."""
    return _MODEL


@dataclass(frozen=True, slots=True)
class Relevance:
    """``score`` in 0..1. ``passage_ids`` are the passages that are about the question, best first; ``parts`` the figures behind the score;
    ``missing_code`` the identifier of the question that no passage holds."""

    score: float
    passage_ids: tuple[str, ...]
    parts: Mapping[str, float] = field(default_factory=dict)
    missing_code: str = ""


def relevance(question: str, retrieval: Retrieval, embedder: Embedder) -> Relevance:
    """How far the best passages are about ``question``. Cosines of the vector leg are used where it found the passage; the others are embedded, in one call.

    A question that names no topic (*What problems do customers report?*) is about any text. An identifier of the question that no passage holds makes
    the score 0. No hits: 0.
    """
    asked = read_question(question)
    hits = retrieval.hits[:LOOKED_AT]
    if not hits:
        return Relevance(0.0, ())
    if missing := _missing_code(asked, hits):
        return Relevance(0.0, (), {"code": 0.0}, missing)
    if asked.generic:
        return Relevance(1.0, tuple(hit.candidate.passage.passage_id for hit in hits), {"generic": 1.0})
    cosines = passage_cosines(question, hits, embedder)
    scored = sorted(((_score(asked, hit, cosines), hit) for hit in hits), key=lambda pair: (-pair[0][0], pair[1].rank))
    best_score, best_parts = scored[0][0]
    ids = tuple(hit.candidate.passage.passage_id for (score, _), hit in scored if score >= best_score / 2)
    return Relevance(best_score, ids, best_parts)


def _missing_code(asked: Question, hits: Sequence[Hit]) -> str:
    held = {code.key for hit in hits for code in read(hit.candidate.passage.text).codes}
    held |= {word.lower for hit in hits for word in read(hit.candidate.passage.text).words}
    missing = next((code for code in asked.reading.codes if code.key not in held), None)
    return asked.reading.text[missing.start : missing.end] if missing else ""


def passage_cosines(question: str, hits: Sequence[Hit], embedder: Embedder) -> dict[str, float]:
    """Passage id → cosine with the question, from the vector leg where it has it."""
    known = {hit.candidate.passage.passage_id: hit.fused.vector_score for hit in hits if hit.fused.vector_score is not None}
    unknown = [hit.candidate.passage for hit in hits if hit.candidate.passage.passage_id not in known]
    if unknown:
        vectors = embedder.embed((question, *(passage.text for passage in unknown)))
        known |= {passage.passage_id: float(vectors[0] @ vector) for passage, vector in zip(unknown, vectors[1:], strict=True)}
    return {passage_id: round(float(cosine), 3) for passage_id, cosine in known.items()}


def _score(asked: Question, hit: Hit, cosines: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    passage = hit.candidate.passage
    cosine = max(0.0, cosines[passage.passage_id])
    covered = coverage(asked.topic, passage.text)
    parts = {"cosine": cosine, "coverage": round(covered, 3), "joint": round(cosine * covered, 3)}
    return round(_MODEL.probability(parts), 4), parts


def coverage(topic: Sequence[Meaning], text: str) -> float:
    """Share of the question's topic, by rarity, that ``text`` holds."""
    total = sum(meaning.weight for meaning in topic)
    if not total:
        return 0.0
    said = read(text).held
    return sum(found(meaning, said) * meaning.weight for meaning in topic) / total
